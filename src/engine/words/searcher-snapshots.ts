/**
 * Which segments each searcher thread holds, so that a publication sends it those only that it lacks. A thread that was replaced holds
 * none, says so, and is sent them in a second message.
 */
import type { SharedPool } from '../../threads/thread-pool.ts';
import type { SegmentMember } from './segment-members.ts';

/** The task of the searchers that the index needs; the pools may have others. */
export type PublishTask = Pick<typeof import('../../threads/search-thread.ts'), 'publish'>;

export class SearcherSnapshots {
  readonly #searchers: readonly SharedPool<PublishTask>[];
  readonly #namespace: string;
  /** Ids as of the last publication. */
  readonly #held = new Map<SharedPool<PublishTask>, ReadonlySet<number>>();

  /** `searchers`: pools of one pinned thread each. */
  constructor(searchers: readonly SharedPool<PublishTask>[], namespace: string) {
    this.#searchers = searchers;
    this.#namespace = namespace;
  }

  /** Bring every searcher to these members and no others. One publication at a time. Errors: those of the threads. */
  async publish(members: readonly SegmentMember[]): Promise<void> {
    await Promise.all(this.#searchers.map((searcher) => this.#publishTo(searcher, members)));
  }

  async #publishTo(searcher: SharedPool<PublishTask>, members: readonly SegmentMember[]): Promise<void> {
    const ids = members.map(({ id }) => id);
    const send = (chosen: readonly SegmentMember[]) =>
      searcher.run('publish', {
        namespace: this.#namespace,
        ids,
        added: chosen.map(({ id, segment, deletions }) => ({
          id,
          segment: segment.buffer,
          deletions: deletions.buffer,
        })),
      });
    const held = this.#held.get(searcher);
    const lacking = await send(members.filter(({ id }) => !held?.has(id)));
    if (lacking.length > 0) await send(members.filter(({ id }) => lacking.includes(id)));
    this.#held.set(searcher, new Set(ids));
  }
}
