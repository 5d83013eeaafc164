/**
 * The handler of `canonicalize_entities` jobs: merges all names with their exact variants, a few in each transaction, which checks again
 * what may have changed meanwhile. A comparison that was cut off begins again; it makes no merge twice.
 */
import { pageCountOf, rootOf, variantForm } from '../../commands/entity-trees.ts';
import { mergeVariants } from '../../commands/merge-entities.ts';
import { ownsJob } from '../../commands/settle-job.ts';
import { hashBytes } from '../../compute/structures/term-table.ts';
import type { Entity } from '../../domain/entity.ts';
import { goOnUnlessSuspect, type JobHandler, takenOver } from '../jobs/job-actor.ts';
import { inParts } from '../system/background.ts';
import type { LibraryParts } from '../system/service.ts';

type CanonicalizeDependencies = Pick<LibraryParts, 'reader' | 'commit' | 'now'>;

/** Rows read, pairs looked at, and merges made, before others get their turn: a millisecond or two. A merge looks the pages of one name up. */
const rowsAtOnce = 100;
const pairsAtOnce = 200;
const mergesAtOnce = 20;
const pagesAtOnce = 500;
/** Names in memory, about 150 bytes each. More are compared in parts, by a hash of their form. */
const namesAtOnce = 200_000;

export function canonicalizeEntitiesHandler({ reader, commit, now }: CanonicalizeDependencies): JobHandler {
  const { entities } = reader;

  /** The names by their form, of the forms in this part. */
  const namesByForm = async (part: number, parts: number, signal: AbortSignal) => {
    const groups = new Map<string, number[]>();
    const read = (after: number) => entities.listAfter(after, rowsAtOnce);
    for await (const some of inParts(read, ({ no }) => no, signal)) {
      for (const entity of some) {
        const form = variantForm(entity);
        if (form === null || partOf(form, parts) !== part) continue;
        const group = groups.get(form);
        if (group === undefined) groups.set(form, [entity.no]);
        else group.push(entity.no);
      }
    }
    return groups;
  };

  const topOf = (no: number): Entity | undefined => {
    const entity = entities.get(no);
    return entity && rootOf(entities, entity);
  };

  /** The next pairs from `at` on that are not one yet, at most as many as one transaction merges, and where to continue. */
  const nextMerges = (pairs: readonly [number, number][], at: number) => {
    const some: [number, number][] = [];
    const end = Math.min(pairs.length, at + pairsAtOnce);
    let pages = 0;
    let next = at;
    for (; next < end && some.length < mergesAtOnce; next++) {
      const [a, b] = pairs[next].map(topOf);
      if (a === undefined || b === undefined || a.no === b.no) continue;
      pages += Math.min(pageCountOf(a), pageCountOf(b));
      if (some.length > 0 && pages > pagesAtOnce) break;
      some.push(pairs[next]);
    }
    return { some, next };
  };

  return async (job, context) => {
    const { attempt, signal } = context;
    const goOn = goOnUnlessSuspect(job, context);
    const parts = Math.ceil(entities.count() / namesAtOnce);
    for (let part = 0; part < parts; part++) {
      const groups = await namesByForm(part, parts, signal);
      const pairs = [...groups.values()].flatMap(([first, ...others]) =>
        others.map((other): [number, number] => [first, other]),
      );
      for (let at = 0; at < pairs.length; ) {
        signal.throwIfAborted();
        const { some, next } = nextMerges(pairs, at);
        at = next;
        if (some.length === 0) {
          await new Promise(setImmediate);
          continue;
        }
        const owned = await commit((transaction) => {
          if (!ownsJob(transaction, attempt)) return false;
          for (const [a, b] of some) mergeVariants(a, b, now())(transaction);
          return true;
        });
        if (!owned) throw takenOver();
        await goOn();
      }
    }
    return undefined;
  };
}

function partOf(form: string, parts: number): number {
  const bytes = Buffer.from(form);
  return hashBytes(bytes, 0, bytes.length) % parts;
}
