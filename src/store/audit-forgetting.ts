/** The audit of what was forgotten: rules and tombstones against their indexes, the pages and the jobs. Only reads. */
import { auditIndex } from './audit-index.ts';
import { BlacklistReader, settingsKey } from './blacklist.ts';
import type { JobReader } from './jobs.ts';
import type { PageReader } from './pages.ts';
import { TombstoneReader } from './tombstones.ts';

export class BlacklistAuditor extends BlacklistReader {
  /** Every rule is found by its pattern, and no page is there that a finished one forbids. `nextNo`: one past the highest given. */
  audit(nextNo: number, pages: PageReader): string[] {
    const findings: string[] = [];
    const rules = this.list();
    for (const { no, kind, pattern, canonicalized_by = [] } of rules) {
      if (no >= nextNo) findings.push(`rule ${no} has a number that was not given yet`);
      if (this.find(kind, pattern)?.no !== no) findings.push(`rule ${no}: its pattern does not lead to it`);
      const isAsked = canonicalized_by.every((settings) => this.settings.doesExist(settingsKey(settings)));
      if (!isAsked) findings.push(`rule ${no}: no address is compared in the form that its settings make`);
    }
    const patterns = this.byPattern.getKeysCount();
    if (patterns !== rules.length) findings.push(`${patterns} patterns for ${rules.length} rules`);
    if (rules.length === 0) return findings;
    for (const { no, ...address } of pages.all()) {
      const rule = this.matchExactly(address);
      if (rule !== undefined && !rule.purging)
        findings.push(`page ${no} is there, and rule ${rule.no} has forgotten it`);
    }
    return findings;
  }
}

export class TombstoneAuditor extends TombstoneReader {
  /** Every tombstone is of a page that is gone, and of one that waits a job knows. */
  audit(pages: PageReader, jobs: JobReader): string[] {
    const findings: string[] = [];
    const byState: unknown[][] = [];
    for (const { page_no, state, job_no } of this.all()) {
      byState.push([state, job_no, page_no]);
      if (pages.has(page_no)) findings.push(`page ${page_no} is there and forgotten`);
      if (state === 'pending' && job_no !== 0 && jobs.get(job_no) === undefined) {
        findings.push(`forgotten page ${page_no} waits for job ${job_no}, which is not there`);
      }
    }
    return [...findings, ...auditIndex('tombstones by state', byState, this.byState.getKeys())];
  }

  /** Labels that no index file may hold any more. */
  verifiedLabels(): Set<number> {
    const labels = new Set<number>();
    for (const { state, first_label, chunk_count } of this.all()) {
      if (state !== 'verified') continue;
      for (let label = first_label; label < first_label + chunk_count; label++) labels.add(label);
    }
    return labels;
  }
}
