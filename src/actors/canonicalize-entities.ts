/**
 * The handler of `canonicalize_entities` jobs: all names are compared on the entity thread, and the pairs that are one entity are merged,
 * best first, a few in each transaction. Whatever has changed meanwhile is asked again there.
 */
import { pageCountOf, rootOf } from '../commands/entity-trees.ts';
import { mergeEntities } from '../commands/merge-entities.ts';
import type { MergeCandidate, MergeThresholds, NamedEntity } from '../compute/entities/find-merges.ts';
import { JobError } from '../domain/errors.ts';
import type { EntityReader } from '../store/entities.ts';
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

/** Rows read, and merges made, before others get their turn: a millisecond or two. A merge looks all pages of both names up. */
const rowsAtOnce = 500;
const mergesAtOnce = 20;
const pagesAtOnce = 500;

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
    for (let at = 0; at < pairs.length; ) {
      signal.throwIfAborted();
      const some = nextMerges(reader.entities, pairs, at);
      const owned = await commit((transaction) => {
        const job = transaction.jobs.get(attempt.job_no);
        if (job?.status !== 'running' || job.claim !== attempt.claim) return false;
        for (const { a, b } of some) mergeEntities(a, b, now())(transaction);
        return true;
      });
      if (!owned) throw new JobError('another attempt has taken over');
      at += some.length;
    }
    return undefined;
  };
}

/** The merges from `at` on that one transaction makes: at least one, and no more than its pages allow. */
function nextMerges(entities: EntityReader, pairs: readonly MergeCandidate[], at: number): MergeCandidate[] {
  const pagesOf = (no: number) => {
    const entity = entities.get(no);
    return entity === undefined ? 0 : pageCountOf(rootOf(entities, entity));
  };
  const some: MergeCandidate[] = [];
  let pages = 0;
  for (const pair of pairs.slice(at, at + mergesAtOnce)) {
    pages += pagesOf(pair.a) + pagesOf(pair.b);
    if (some.length > 0 && pages > pagesAtOnce) break;
    some.push(pair);
  }
  return some;
}
