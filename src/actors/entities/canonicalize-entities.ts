/** Handles `canonicalize_entities`: merges exact variants. Each transaction merges a few and checks each pair again. */
import { pageCountOf, rootOf, variantForm } from '../../commands/entity-trees.ts';
import { queueIfEnough } from '../../commands/match-entities.ts';
import { mergeVariants } from '../../commands/merge-entities.ts';
import { ownsJob } from '../../commands/move-job.ts';
import type { Entity } from '../../domain/entity.ts';
import type { EntityReader } from '../../store/entities.ts';
import { inParts } from '../system/background.ts';
import { extendTimeUnlessSuspect, type JobHandler, takenOver } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';

type CanonicalizeDependencies = Pick<LibraryParts, 'reader' | 'commit' | 'now'>;

/** Rows read, and merges made, per turn of the event loop: 1 to 2 ms. A merge reads the pages of one name. */
const rowsAtOnce = 100;
const mergesAtOnce = 20;
const pagesAtOnce = 500;

export function canonicalizeEntitiesHandler({ reader, commit, now }: CanonicalizeDependencies): JobHandler {
  const { entities } = reader;

  /** Pairs of variants that are not merged yet, as a flat list. Some 80 bytes of memory per name. */
  const findVariants = async (signal: AbortSignal): Promise<number[]> => {
    const firsts = new Map<string, number>();
    const pairs: number[] = [];
    for await (const some of inParts(
      (after) => entities.listAfter(after, rowsAtOnce),
      ({ no }) => no,
      { signal },
    )) {
      for (const entity of some) {
        const form = variantForm(entity);
        const first = form === null ? undefined : firsts.get(form);
        if (form !== null && first === undefined) firsts.set(form, entity.no);
        if (first !== undefined && !areOne(entities, first, entity)) pairs.push(first, entity.no);
      }
    }
    return pairs;
  };

  return async (job, context) => {
    const { attempt, signal } = context;
    const { max_attempts } = job;
    const extendTime = extendTimeUnlessSuspect(job, context);
    const pairs = await findVariants(signal);
    for (let at = 0; at < pairs.length; ) {
      signal.throwIfAborted();
      const some = nextMerges(entities, pairs, at);
      const owned = await commit((transaction) => {
        if (!ownsJob(transaction, attempt)) return false;
        for (const [a, b] of some) mergeVariants(a, b, now())(transaction);
        return true;
      });
      if (!owned) throw takenOver();
      at += 2 * some.length;
      await extendTime();
    }
    return (transaction) => queueIfEnough(transaction, { at: now(), max_attempts });
  };
}

function areOne(entities: EntityReader, first: number, other: Entity): boolean {
  const entity = entities.get(first);
  return entity !== undefined && rootOf(entities, entity).no === rootOf(entities, other).no;
}

/** The merges of one transaction, starting at `at`: at least one, at most as many as their pages allow. */
function nextMerges(entities: EntityReader, pairs: readonly number[], at: number): [a: number, b: number][] {
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
