/**
 * Migrations from one store format to the next, in transactions of bounded size that store their progress: a start
 * continues them. The stamp keeps the old format until the last transaction, and each intermediate state is valid in
 * it. A migration has its own encodings, so it never changes.
 */
import { areVisitsSound, type VisitTimes, withVisit } from '../compute/structures/visit-times.ts';
import { type Environment, storeFormat } from './environment.ts';
import { LongValues, longList, longText } from './long-values.ts';

/** One transaction on records after `after`. It can be repeated. Returns the last record done, or null at the end. */
type Step = (after: number) => number | null;
type Migration = (environment: Environment) => Step;

/** The first migration begins at format 1, the last ends at `storeFormat`. */
const migrations: readonly Migration[] = [allowParts, cutLongValues, gatherVisits];

/** Max per transaction: UTF-16 code units read, pages, and visits. */
const maxUnits = 2 ** 22;
const maxPages = 2000;
const maxVisits = 20_000;

const DONE = 'migrated';

export interface MigrateOptions {
  /** Run the step in a transaction and flush it. An error ends the migration; the next start continues it. */
  commit: (step: () => void) => Promise<unknown>;
  say: (line: string) => void;
}

/** Migrate the store to `storeFormat`. Errors: those of `commit`. */
export async function migrate(environment: Environment, { commit, say }: MigrateOptions): Promise<void> {
  const { format: from } = environment;
  if (from === storeFormat) return;
  const stamp = environment.openDatabase<number, string>('stamp', {});
  say(`migrating the store from format ${from} to ${storeFormat}`);
  for (let format = from; format < storeFormat; format++) {
    const step = migrations[format - 1](environment);
    for (let last: number | null = 0; last !== null; ) {
      await commit(() => {
        last = step(stamp.get(DONE) ?? 0);
        if (last !== null) return stamp.put(DONE, last);
        stamp.remove(DONE);
        stamp.put('format', format + 1);
      });
      if (last !== null) say(`migrating the store to format ${format + 1}: done up to page ${last}`);
    }
  }
  say(`the store has format ${storeFormat}`);
}

/** Format 2 may store long values in parts, which version 1 would read as whole values. Existing values stay. */
function allowParts(): Step {
  return () => null;
}

/** Format 3 stores no text or chunk list longer than a part, and sections outside of the row. */
function cutLongValues(environment: Environment): Step {
  const [textPart, listPart] = [8000, 64];
  const numbered = { keyEncoding: 'uint32' } as const;
  const rows = environment.openDatabase<Record<string, unknown>, number>('pages', numbered);
  const sections = environment.openDatabase<unknown, number>('page_sections', numbered);
  const texts = environment.openDatabase<string, number>('bodies', { ...numbered, encoding: 'string' });
  const lists = environment.openDatabase<unknown[], number>('chunks', numbered);
  const textParts = new LongValues(environment, longText('bodies', 'body_parts', textPart));
  const listParts = new LongValues(environment, longList('chunks', 'chunk_parts', listPart));

  return (after) => {
    let units = 0;
    const numbers = [...rows.getKeys({ start: after + 1, limit: maxPages })];
    for (const no of numbers) {
      const text = texts.get(no) ?? '';
      if (text.length > textPart) textParts.put(no, text);
      const list = lists.get(no) ?? [];
      if (list.length > listPart) listParts.put(no, list);
      const { sections: ofRow, ...row } = rows.get(no) ?? {};
      if (ofRow !== undefined) {
        if (texts.doesExist(no) && !sections.doesExist(no)) sections.put(no, ofRow);
        rows.put(no, row);
      }
      units += text.length;
      if (units >= maxUnits) return no;
    }
    return numbers.length < maxPages ? null : (numbers.at(-1) ?? null);
  };
}

/** Format 4 stores a page's visits in its row. Format 3 stored those with `once` in a database of their own. */
function gatherVisits(environment: Environment): Step {
  const rows = environment.openDatabase<VisitTimes, number>('pages', { keyEncoding: 'uint32' });
  const visits = environment.openDatabase<number, [page: number, at: number]>('known_visits', {});

  return () => {
    const taken = [...visits.getKeys({ limit: maxVisits })];
    for (const [no, at] of taken) {
      const row = rows.get(no);
      // An earlier version may have written the row between two steps.
      const { visits: _, ...unvisited } = row ?? {};
      if (row !== undefined) rows.put(no, withVisit(areVisitsSound(row) ? row : (unvisited as VisitTimes), at));
      visits.remove([no, at]);
    }
    return taken.length < maxVisits ? null : (taken.at(-1)?.[0] ?? null);
  };
}
