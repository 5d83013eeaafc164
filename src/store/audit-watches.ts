/** Audits watches: compares look-ups with rows, and checks the items that were added. Only reads. */

import { BlacklistReader, settingsKey, TombstoneReader } from './blacklist.ts';
import type { JobReader } from './jobs.ts';
import type { PageReader } from './pages.ts';
import { QueryLogReader } from './query-log.ts';
import { urlKey } from './records.ts';
import { isItem, WatchReader } from './watches.ts';

export class WatchAuditor extends WatchReader {
  *audit(nextNo: number): Generator<string> {
    const watches = this.list();
    for (const { no } of watches) if (no >= nextNo) yield `watch ${no} has a number that is not assigned yet`;
    for (const { key, value } of this.items.getRange()) {
      const [no] = key;
      if (!this.rows.doesExist(no)) yield `item of a missing watch: ${no}`;
      else if (!isItem(value)) yield `watch ${no}: an item leads to no address`;
    }
    const pairs = (entries: Iterable<{ key: Buffer | number; value: number }>) =>
      Array.from(entries, ({ key, value }) => [typeof key === 'number' ? key : key.toString('hex'), value]);
    const byUrl = watches.map(({ identity, no }) => [urlKey(identity).toString('hex'), no]);
    const byJob = watches.flatMap(({ poll_job, no }) => (poll_job === 0 ? [] : [[poll_job, no]]));
    const due = watches.flatMap(({ enabled, next_run_at, no }) => (enabled ? [[next_run_at, no]] : []));
    yield* auditIndex('watches by URL', byUrl, pairs(this.byUrl.getRange()));
    yield* auditIndex('watches by poll', byJob, pairs(this.byJob.getRange()));
    yield* auditIndex('due watches', due, this.due.getKeys());
  }
}

export class BlacklistAuditor extends BlacklistReader {
  /** Every rule is found by its pattern, and no page matches a finished rule. */
  *audit(nextNo: number, pages: PageReader): Generator<string> {
    const rules = this.list();
    for (const { no, kind, pattern, canonicalized_by = [] } of rules) {
      if (no >= nextNo) yield `rule ${no} has a number that is not assigned yet`;
      if (this.find(kind, pattern)?.no !== no) yield `rule ${no}: its pattern does not lead to it`;
      const isAsked = canonicalized_by.every((settings) => this.settings.doesExist(settingsKey(settings)));
      if (!isAsked) yield `rule ${no}: its pattern is not canonical under its settings`;
    }
    const patterns = this.byPattern.getKeysCount();
    if (patterns !== rules.length) yield `${patterns} patterns for ${rules.length} rules`;
    if (rules.length === 0) return;
    for (const { no, ...address } of pages.all()) {
      const rule = this.matchExactly(address);
      if (rule !== undefined && !rule.purging) yield `page ${no} exists, although rule ${rule.no} has forgotten it`;
    }
  }
}

export class TombstoneAuditor extends TombstoneReader {
  /** Every tombstone belongs to a deleted page; a pending one has a job. */
  *audit(pages: PageReader, jobs: JobReader): Generator<string> {
    const byState: unknown[][] = [];
    for (const { page_no, state, job_no } of this.all()) {
      byState.push([state, job_no, page_no]);
      if (pages.has(page_no)) yield `page ${page_no} exists, although it is forgotten`;
      if (state === 'pending' && job_no !== 0 && jobs.get(job_no) === undefined) {
        yield `forgotten page ${page_no} waits for job ${job_no}, which is missing`;
      }
    }
    yield* auditIndex('tombstones by state', byState, this.byState.getKeys());
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
  *audit(nextRun: number, nextPage: number): Generator<string> {
    const byTime: unknown[][] = [];
    const byId: unknown[][] = [];
    for (const { key: no, value } of this.rows.getRange()) {
      byTime.push([value.kind, value.ts, no]);
      for (const id of [value.query_id, value.compare_id]) if (id !== null) byId.push([id, no]);
      if (no >= nextRun) yield `query ${no} has a number that is not assigned yet`;
      if (!this.isReadable(no)) {
        yield `query ${no}: its hits cannot be read`;
        continue;
      }
      const run = this.get(no);
      const pages =
        run === undefined ? [] : [run.candidate_set, run.dense_hits, run.sparse_hits].map((hits) => hits.page_nos);
      if (pages.some((nos) => nos.some((page) => page < 1 || page >= nextPage))) {
        yield `query ${no} found a page whose number is not assigned yet`;
      }
    }
    yield* auditIndex('queries by time', byTime, this.byTime.getKeys());
    yield* auditIndex('queries by id', byId, this.byId.getKeys());
    const judged = new Set([...this.marks.getKeys()].map(([no]) => no));
    for (const no of judged) if (!this.rows.doesExist(no)) yield `feedback on a missing query: ${no}`;
  }
}

/** Compares the keys of an index with the keys derived from its rows. */
export function* auditIndex(
  name: string,
  expected: Iterable<unknown[]>,
  stored: Iterable<unknown[]>,
): Generator<string> {
  const missing = new Set(Array.from(expected, (key) => JSON.stringify(key)));
  for (const key of stored) {
    if (!missing.delete(JSON.stringify(key))) yield `${name}: ${JSON.stringify(key)} belongs to no row`;
  }
  for (const key of missing) yield `${name}: ${key} is missing`;
}
