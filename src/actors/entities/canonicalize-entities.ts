/**
 * The handler of `canonicalize_entities` jobs: merges the names that are new since the last comparison with their exact variants, a few in
 * each transaction, which checks again what may have changed meanwhile. A comparison that was cut off begins again with the same new names;
 * it makes no merge twice.
 */
import { pageCountOf, variantForm } from '../../commands/entity-trees.ts';
import { matchedTo, noteMatched } from '../../commands/match-entities.ts';
import { mergeVariants } from '../../commands/merge-entities.ts';
import { ownsJob } from '../../commands/settle-job.ts';
import type { EntityReader } from '../../store/entities.ts';
import { goOnUnlessSuspect, type JobHandler, takenOver } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';

type CanonicalizeDependencies = Pick<LibraryParts, 'reader' | 'commit' | 'now'>;

/** Rows read, and merges made, before others get their turn: a millisecond or two. A merge looks the pages of one name up. */
const rowsAtOnce = 100;
const mergesAtOnce = 20;
const pagesAtOnce = 500;
/** Max new names in memory, about 150 bytes each. For each further slice of so many, the older names are read again. */
const freshAtOnce = 200_000;

export function canonicalizeEntitiesHandler({ reader, commit, now }: CanonicalizeDependencies): JobHandler {
  const { entities } = reader;

  /** Rows after `after` up to `last`. */
  async function* rows(after: number, last: number, signal: AbortSignal) {
    for (let from = after; from < last; ) {
      const some = entities.listAfter(from, rowsAtOnce).filter(({ no }) => no <= last);
      if (some.length === 0) return;
      yield* some;
      from = some[some.length - 1].no;
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
  }

  /** Pairs of variants, flat, among the next `freshAtOnce` names after `after` and all before; and the last of these names. */
  async function findVariants(after: number, last: number, signal: AbortSignal) {
    const groups = new Map<string, number[]>();
    let fresh = 0;
    let to = after;
    for await (const entity of rows(after, last, signal)) {
      if (++fresh > freshAtOnce) break;
      to = entity.no;
      const form = variantForm(entity);
      const group = form === null ? undefined : groups.get(form);
      if (group !== undefined) group.push(entity.no);
      else if (form !== null) groups.set(form, [entity.no]);
    }
    for await (const entity of rows(0, after, signal)) groups.get(variantForm(entity) ?? '')?.push(entity.no);
    const pairs = [...groups.values()].flatMap(([first, ...others]) => others.flatMap((other) => [first, other]));
    return { pairs, to: fresh > freshAtOnce ? to : last };
  }

  return async (job, context) => {
    const { attempt, signal } = context;
    const { max_attempts } = job;
    const goOn = goOnUnlessSuspect(job, context);
    const last = entities.lastNumber();
    for (let after = matchedTo(entities); after < last; ) {
      const { pairs, to } = await findVariants(after, last, signal);
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
        await goOn();
      }
      after = to;
    }
    return (transaction) => noteMatched(transaction, last, { at: now(), max_attempts });
  };
}

/** The merges from `at` on that one transaction makes: at least one, at most as many as its pages allow. */
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
