/**
 * The handler of `canonicalize_entities` jobs: names that are new since the last comparison are compared with all on the entity thread,
 * and the pairs that are one entity are merged, best first, a few in each transaction. Whatever has changed meanwhile is asked again
 * there. A comparison that was cut off begins again with the same new names: merges that it made are not made twice.
 */
import { canonicalForm, pageCountOf } from '../../commands/entity-trees.ts';
import { matchedTo, noteMatched } from '../../commands/match-entities.ts';
import { mergeAlike } from '../../commands/merge-entities.ts';
import { ownsJob } from '../../commands/settle-job.ts';
import { isCased, type MergeThresholds } from '../../compute/entities/find-merges.ts';
import { type PackedNames, packNames } from '../../compute/entities/packed-names.ts';
import type { EntityReader } from '../../store/entities.ts';
import type { StoreReader } from '../../store/store.ts';
import { goOnUnlessSuspect, type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import type { EntityPool } from './extract-entities.ts';

export interface CanonicalizeDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  pool: EntityPool;
  thresholds: MergeThresholds;
  now: () => number;
}

/** Rows read, and merges made, before others get their turn: a millisecond or two. A merge looks the pages of one name up. */
const rowsAtOnce = 250;
const mergesAtOnce = 20;
const pagesAtOnce = 500;

export function canonicalizeEntitiesHandler(dependencies: CanonicalizeDependencies): JobHandler {
  const { reader, commit, pool, thresholds, now } = dependencies;
  const { entities } = reader;

  return async (job, context) => {
    const { attempt, signal } = context;
    const { max_attempts } = job;
    const goOn = goOnUnlessSuspect(job, context);
    const after = matchedTo(entities, thresholds);
    const names: PackedNames[] = [];
    let last = 0;
    for (;;) {
      const some = entities.listAfter(last, rowsAtOnce);
      const alone = some.filter(({ parent }) => parent === 0);
      names.push(packNames(alone.map((entity) => ({ ...entity, isCased: isCased(canonicalForm(entity)) }))));
      last = some.at(-1)?.no ?? last;
      if (some.length < rowsAtOnce) break;
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    const transfer = names.map(({ buffer }) => buffer);
    const pairs = last <= after ? [] : await pool.run('findMerges', { names, after, thresholds }, { signal, transfer });
    for (let at = 0; at < pairs.length; ) {
      signal.throwIfAborted();
      const some = nextMerges(entities, pairs, at);
      const owned = await commit((transaction) => {
        if (!ownsJob(transaction, attempt)) return false;
        for (const [a, b] of some) mergeAlike(a, b, now())(transaction);
        return true;
      });
      if (!owned) throw takenOver();
      at += 2 * some.length;
      await goOn();
    }
    return (transaction) => noteMatched(transaction, last, thresholds, { at: now(), max_attempts });
  };
}

/** The merges from `at` on that one transaction makes: at least one, and no more than its pages allow. */
function nextMerges(entities: EntityReader, pairs: ArrayLike<number>, at: number): [a: number, b: number][] {
  const pagesOf = (no: number) => {
    const entity = entities.get(no);
    return entity === undefined ? 0 : pageCountOf(entity);
  };
  const some: [number, number][] = [];
  let pages = 0;
  for (let i = at; i < pairs.length && some.length < mergesAtOnce; i += 2) {
    const [a, b] = [pairs[i], pairs[i + 1]];
    pages += Math.min(pagesOf(a), pagesOf(b));
    if (some.length > 0 && pages > pagesAtOnce) break;
    some.push([a, b]);
  }
  return some;
}
