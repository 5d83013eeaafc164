/** The audit of watches: their lookups against their rows, and the items that they have brought in. Only reads. */
import { auditIndex } from './audit-index.ts';
import { urlKey } from './keys.ts';
import { isItem, WatchReader } from './watches.ts';

export class WatchAuditor extends WatchReader {
  /** `nextNo`: one past the highest number given. */
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
