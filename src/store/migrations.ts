/**
 * Numbered migrations: each brings a store from its format to the next. `Store.open` runs those that a store lacks before it gives the store
 * to anybody, so that whoever writes meets the newest format only.
 *
 * A migration works in transactions of bounded size. The stamp says the old format until the last of them, which says the next one; each of the
 * others notes beside it how far they came, and a start after a kill, or after a full disk, goes on from there. Every state between is a
 * store of the old format: its version could go on with it, and those who only read it can. A migration opens its databases by their names, with
 * encodings and sizes of its own: it stays as it is when the records change again.
 */
import { type Environment, storeFormat } from './environment.ts';
import { LongValues, longList, longText } from './long-values.ts';

/**
 * The work of one transaction, on the records that follow number `after`. Gives the last one that is done, or null when all are.
 * It may be run again after a transaction that was given up.
 */
type Step = (after: number) => number | null;
type Migration = (environment: Environment) => Step;

/** The first one begins at format 1, the last one ends at `storeFormat`. */
const migrations: readonly Migration[] = [allowParts, cutLongValues];

/** Of one transaction: UTF-16 code units of texts that are read, and pages. */
const maxUnits = 2 ** 22;
const maxPages = 2000;

/** Name in the stamp: number of the last record that the migration under way has done. */
const DONE = 'migrated';

export interface MigrateOptions {
  /** Runs the step in a transaction, and brings that to the disk. Errors end the migration, which goes on with the next start. */
  commit: (step: () => void) => Promise<unknown>;
  /** Told at the beginning, after each transaction but the last, and at the end. */
  say: (line: string) => void;
}

/** Bring the store to `storeFormat`; nothing is done to one that has it. Errors: those of `commit`. */
export async function migrate(environment: Environment, { commit, say }: MigrateOptions): Promise<void> {
  const { format: from } = environment;
  if (from === storeFormat) return;
  const stamp = environment.openDatabase<number, string>('stamp', {});
  say(`the store is brought from format ${from} to ${storeFormat}`);
  for (let format = from; format < storeFormat; format++) {
    const step = migrations[format - 1](environment);
    for (let last: number | null = 0; last !== null; ) {
      await commit(() => {
        last = step(stamp.get(DONE) ?? 0);
        if (last !== null) return stamp.put(DONE, last);
        stamp.remove(DONE);
        stamp.put('format', format + 1);
      });
      if (last !== null) say(`the store on its way to format ${format + 1}: done up to page ${last}`);
    }
  }
  say(`the store has format ${storeFormat}`);
}

/** Format 2 may have long values in parts, which version 1 would take for the whole. What format 1 has may stay as it is. */
function allowParts(): Step {
  return () => null;
}

/** Format 3 has no text and no list of chunks that is longer than a part, and sections beside the row, not in it. */
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
