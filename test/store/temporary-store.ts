/** A real store in a temporary folder, which can be closed and opened again, and goes with the block that awaits it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Changes, noChanges } from '../../src/store/commit.ts';
import { type Command, Store } from '../../src/store/store.ts';

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

  async reopen(): Promise<void> {
    await this.store.close();
    this.store = await Store.open(this.path, () => 'another identity');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await rm(this.path, { recursive: true, force: true });
  }
}
