/** Audits watches: lookups against rows, and the items they brought in. Only reads. */

import { BlacklistReader, settingsKey, TombstoneReader } from './blacklist.ts';
import type { JobReader } from './jobs.ts';
import type { PageReader } from './pages.ts';
import { QueryLogReader } from './query-log.ts';
import { urlKey } from './records.ts';
import { isItem, WatchReader } from './watches.ts';

export class WatchAuditor extends WatchReader {
  audit(nextNo: number): string[] {
    const watches = this.list();
    const findings = watches
      .filter(({ no }) => no >= nextNo)
      .map(({ no }) => `watch ${no} has a number that was not given yet`);
    for (const { key, value } of this.items.getRange()) {
      const [no] = key;
      if (!this.rows.doesExist(no)) findings.push(`item of no watch: ${no}`);
      else if (!isItem(value)) findings.push(`watch ${no}: an item leads to no address`);
    }
    const pairs = (entries: Iterable<{ key: Buffer | number; value: number }>) =>
      Array.from(entries, ({ key, value }) => [typeof key === 'number' ? key : key.toString('hex'), value]);
    return [
      ...findings,
      ...auditIndex(
        'watches by URL',
        watches.map(({ identity, no }) => [urlKey(identity).toString('hex'), no]),
        pairs(this.byUrl.getRange()),
      ),
      ...auditIndex(
        'watches by poll',
        watches.flatMap(({ poll_job, no }) => (poll_job === 0 ? [] : [[poll_job, no]])),
        pairs(this.byJob.getRange()),
      ),
      ...auditIndex(
        'due watches',
        watches.flatMap(({ enabled, next_run_at, no }) => (enabled ? [[next_run_at, no]] : [])),
        this.due.getKeys(),
      ),
    ];
  }
}

export class BlacklistAuditor extends BlacklistReader {
  /** Every rule is found by its pattern, and no page matches a finished rule. */
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
  /** Every tombstone belongs to a deleted page; a pending one has a job. */
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

  verifiedLabels(): Set<number> {
    const labels = new Set<number>();
    for (const { state, first_label, chunk_count } of this.all()) {
      if (state !== 'verified') continue;
      for (let label = first_label; label < first_label + chunk_count; label++) labels.add(label);
    }
    return labels;
  }
}

export class QueryLogAuditor extends QueryLogReader {
  audit(nextRun: number, nextPage: number): string[] {
    const findings: string[] = [];
    const byTime: unknown[][] = [];
    const byId: unknown[][] = [];
    for (const { key: no, value } of this.rows.getRange()) {
      byTime.push([value.kind, value.ts, no]);
      for (const id of [value.query_id, value.compare_id]) if (id !== null) byId.push([id, no]);
      if (no >= nextRun) findings.push(`query ${no} has a number that was not given yet`);
      if (!this.isReadable(no)) {
        findings.push(`query ${no}: its hits cannot be read`);
        continue;
      }
      const run = this.get(no);
      const pages =
        run === undefined ? [] : [run.candidate_set, run.dense_hits, run.sparse_hits].map((hits) => hits.page_nos);
      if (pages.some((nos) => nos.some((page) => page < 1 || page >= nextPage))) {
        findings.push(`query ${no} found a page whose number was not given yet`);
      }
    }
    findings.push(...auditIndex('queries by time', byTime, this.byTime.getKeys()));
    findings.push(...auditIndex('queries by id', byId, this.byId.getKeys()));
    const judged = new Set([...this.marks.getKeys()].map(([no]) => no));
    for (const no of judged) if (!this.rows.doesExist(no)) findings.push(`feedback on no query: ${no}`);
    return findings;
  }
}

export function auditIndex(name: string, expected: Iterable<unknown[]>, stored: Iterable<unknown[]>): string[] {
  const missing = new Set(Array.from(expected, (key) => JSON.stringify(key)));
  const findings: string[] = [];
  for (const key of stored) {
    if (!missing.delete(JSON.stringify(key))) findings.push(`${name}: ${JSON.stringify(key)} is of no row`);
  }
  return [...findings, ...[...missing].map((key) => `${name}: ${key} is missing`)];
}
