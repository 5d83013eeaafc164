/**
 * The handler of `canonicalize_entities` jobs: all names are compared on the entity thread, and the pairs that are one entity are merged,
 * best first, a few in each transaction. Whatever has changed meanwhile is asked again there.
 */
import { mergeEntities } from '../commands/merge-entities.ts';
import type { MergeThresholds, NamedEntity } from '../compute/entities/find-merges.ts';
import { JobError } from '../domain/errors.ts';
import type { StoreReader } from '../store/store.ts';
import type { EntityPool } from './extract-entities.ts';
import type { JobHandler } from './job-actor.ts';
import type { CommitCommand } from './system-messages.ts';

export interface CanonicalizeDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  pool: EntityPool;
  thresholds: MergeThresholds;
  now: () => number;
}

/** Rows read, and merges made, before others get their turn: a millisecond or two. */
const rowsAtOnce = 500;
const mergesAtOnce = 20;

export function canonicalizeEntitiesHandler(dependencies: CanonicalizeDependencies): JobHandler {
  const { reader, commit, pool, thresholds, now } = dependencies;

  return async (_job, { attempt, signal }) => {
    const entities: NamedEntity[] = [];
    for (let after = 0; ; ) {
      const some = reader.entities.listAfter(after, rowsAtOnce);
      for (const { no, type, key, parent } of some) if (parent === 0) entities.push({ no, type, key });
      if (some.length < rowsAtOnce) break;
      after = some[some.length - 1].no;
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    const pairs = await pool.run('findMerges', { entities, thresholds }, { signal });
    for (let at = 0; at < pairs.length; at += mergesAtOnce) {
      signal.throwIfAborted();
      const owned = await commit((transaction) => {
        const job = transaction.jobs.get(attempt.job_no);
        if (job?.status !== 'running' || job.claim !== attempt.claim) return false;
        for (const { a, b } of pairs.slice(at, at + mergesAtOnce)) mergeEntities(a, b, now())(transaction);
        return true;
      });
      if (!owned) throw new JobError('another attempt has taken over');
    }
    return undefined;
  };
}
