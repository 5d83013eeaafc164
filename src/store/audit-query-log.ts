/** The audit of the query log: its indexes, what was said about its results, and its hits, each against the rows. Only reads. */
import { auditIndex } from './audit-index.ts';
import { QueryLogReader } from './query-log.ts';

export class QueryLogAuditor extends QueryLogReader {
  /** `nextRun` and `nextPage` are one past the highest number given. */
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
