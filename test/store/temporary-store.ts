/** A real store in a temporary folder, which can be closed and opened again, and goes with the block that awaits it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClaimRequest, claimJobs } from '../../src/commands/claim-jobs.ts';
import { commitContent } from '../../src/commands/commit-content.ts';
import { ingestPage, type PageSubmission } from '../../src/commands/ingest-page.ts';
import { type Attempt, completeJob } from '../../src/commands/move-job.ts';

import type { Job } from '../../src/domain/job.ts';
import { type Changes, noChanges } from '../../src/store/commit.ts';
import { type Command, Store } from '../../src/store/store.ts';
import { submission } from '../commands/submissions.ts';

const places = { suspect: 1, index: 9, fetch: 9, poll: 9, purge: 9, background: 9, backfill: 9, entities: 9 };

/** Claims what is due in all lanes. */
export const claimDue = (at: number, changes: Partial<ClaimRequest> = {}) =>
  claimJobs({ at, incarnation: 'life 1', leaseMs: 600, free: places, running: 0, ...changes });

export class TemporaryStore implements AsyncDisposable {
  readonly path: string;
  store: Store;
  /** What the commits so far changed, in order. */
  readonly changes: Changes = noChanges();

  private constructor(path: string, store: Store) {
    this.path = path;
    this.store = store;
  }

  static async open(): Promise<TemporaryStore> {
    const path = await mkdtemp(join(tmpdir(), 'readback-store-'));
    return new TemporaryStore(path, await Store.open(path, () => 'store 1'));
  }

  /** Run one command in a commit of its own; throws what the command threw. */
  async commit<Reply>(command: Command<Reply>): Promise<Reply> {
    const { results, steps, flushed } = await this.store.transact([command]);
    await flushed;
    for (const { changes } of steps) {
      this.changes.jobs.push(...changes.jobs);
      this.changes.pages.push(...changes.pages);
      this.changes.removedPages.push(...changes.removedPages);
      this.changes.rules.push(...changes.rules);
      this.changes.tombstones.push(...changes.tombstones);
    }
    const [result] = results;
    if (!result.ok) throw result.error;
    return result.reply as Reply;
  }

  /** Take pages in, each at `https://example.com/` and its name. */
  async ingest(names: Iterable<string | number>, changes: Partial<PageSubmission> = {}): Promise<void> {
    for (const name of names)
      await this.commit(ingestPage(submission({ canonical_url: `https://example.com/${name}`, ...changes })));
  }

  /** Begin an attempt at every job that is due. */
  async claim(at = 0, changes: Partial<ClaimRequest> = {}): Promise<{ job: Job; attempt: Attempt }[]> {
    const { jobs } = await this.commit(claimDue(at, changes));
    return jobs.map((job) => ({ job, attempt: { job_no: job.no, claim: job.claim } }));
  }

  /** The first job that is due, of a page, ends well with this content; gives the page's first label. */
  async index(content: Parameters<typeof commitContent>[1]): Promise<number> {
    const [{ attempt }] = await this.claim(0, { leaseMs: 1, free: { ...places, index: 1 } });
    const committed = await this.commit(commitContent(attempt, content));
    await this.commit(completeJob(attempt, 0));
    assert.ok(committed !== null);
    return committed.labels.first;
  }

  get reader(): Store['reader'] {
    return this.store.reader;
  }

  async reopen(): Promise<void> {
    await this.store.close();
    this.store = await Store.open(this.path, () => 'another identity');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await rm(this.path, { recursive: true, force: true });
  }
}
