/**
 * Histories of Chromium, Firefox and Safari: SQLite databases that the browser keeps locked, so a private copy is read, with what waits in
 * its write-ahead log. Rows are read one by one from the file, in the order of their ids: the same order each time.
 *
 * One visit is one item. What the browser's own history page does not show is left out: hidden URLs, frames, downloads, and steps of a
 * redirect other than its end. A URL without any visit of its own is one item at its last date.
 */
import { constants, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { errorMessage } from '../domain/error-message.ts';
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { fromApple, fromUnix, fromWebkit, itemOf } from './item-parts.ts';

const { Database } = sqlite;
const copyPrefix = 'readback-history-';
const copyName = new RegExp(`^${copyPrefix}(\\d+)-`);

type Row = Record<string, unknown>;

/** How a browser keeps its history. */
interface HistoryLayout {
  /** Tables that tell it. */
  tables: [string, string];
  /** Visits `v` and their addresses `a`. */
  from: string;
  visit: { title: string; visits: string; time: string };
  /** Which visits are left out, each by the first condition that is true of it. */
  leftOut: [reason: string, condition: string][];
  /** Addresses of which only the count and the last date are left; null where there is no date either. */
  unvisited: string | null;
  timeOf(time: number): number | null;
}

const layouts = {
  chromium: {
    tables: ['urls', 'visits'],
    from: 'visits v JOIN urls a ON a.id = v.url',
    visit: { title: 'a.title', visits: 'a.visit_count', time: 'v.visit_time' },
    // Transitions: 3 and 4 are frames, 10 is made up for a word that was typed; the bit is on the last step of a redirect.
    leftOut: [
      ['hidden addresses', 'a.hidden != 0'],
      ['frames', '(v.transition & 0xff) IN (3, 4)'],
      ['made up for a word typed', '(v.transition & 0xff) = 10'],
      ['steps of a redirect', '(v.transition & 0x20000000) = 0'],
    ],
    unvisited: `SELECT url, title, visit_count AS visits, last_visit_time AS time FROM urls
      WHERE hidden = 0 AND last_visit_time > 0 AND id NOT IN (SELECT url FROM visits WHERE url IS NOT NULL) ORDER BY id`,
    timeOf: fromWebkit,
  },
  firefox: {
    tables: ['moz_places', 'moz_historyvisits'],
    from: 'moz_historyvisits v JOIN moz_places a ON a.id = v.place_id',
    visit: { title: 'a.title', visits: 'a.visit_count', time: 'v.visit_date' },
    leftOut: [
      ['hidden addresses', 'a.hidden != 0'],
      ['frames', 'v.visit_type IN (4, 8)'],
      ['downloads', 'v.visit_type = 7'],
    ],
    unvisited: `SELECT url, title, visit_count AS visits, last_visit_date AS time FROM moz_places
      WHERE hidden = 0 AND last_visit_date > 0 AND id NOT IN
        (SELECT place_id FROM moz_historyvisits WHERE place_id IS NOT NULL) ORDER BY id`,
    timeOf: fromUnix,
  },
  safari: {
    tables: ['history_items', 'history_visits'],
    from: 'history_visits v JOIN history_items a ON a.id = v.history_item',
    visit: { title: 'v.title', visits: 'a.visit_count', time: 'v.visit_time' },
    leftOut: [
      ['steps of a redirect', 'v.redirect_destination IS NOT NULL'],
      ['pages that did not load', 'v.load_successful = 0'],
    ],
    unvisited: null,
    timeOf: fromApple,
  },
} satisfies Record<string, HistoryLayout>;

export type Browser = keyof typeof layouts;

function queriesOf({ from, visit, leftOut, unvisited }: HistoryLayout): string[] {
  const isLeftOut = leftOut.map(([, condition]) => `(${condition})`).join(' OR ');
  const shown = `SELECT a.url AS url, ${visit.title} AS title, ${visit.visits} AS visits, ${visit.time} AS time
    FROM ${from} WHERE (${isLeftOut}) IS NOT TRUE ORDER BY v.id`;
  return unvisited === null ? [shown] : [shown, unvisited];
}

/** Which browser's history a SQLite file is, or null. Errors: ImportError where it cannot be read. */
export async function historyKind(path: string): Promise<Browser | null> {
  return withCopy(path, (database) => {
    const names = database.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name);
    const kinds = Object.entries(layouts) as [Browser, HistoryLayout][];
    return kinds.find(([, { tables }]) => tables.every((table) => names.includes(table)))?.[0] ?? null;
  });
}

/** How many visits the browser has that are no items, by reason. */
export async function visitsLeftOut(path: string, browser: Browser): Promise<Record<string, number>> {
  const { from, leftOut }: HistoryLayout = layouts[browser];
  const cases = leftOut.map(([reason, condition]) => `WHEN ${condition} THEN '${reason}'`).join(' ');
  const query = `SELECT CASE ${cases} END AS reason, count(*) AS count FROM ${from} GROUP BY 1`;
  return withCopy(path, (database) => {
    const rows = told(() => database.all(query));
    return Object.fromEntries(
      rows.flatMap(({ reason, count }) => (reason === null ? [] : [[String(reason), Number(count)]])),
    );
  });
}

export async function* readHistory(path: string, browser: Browser): AsyncGenerator<ImportItem> {
  const layout: HistoryLayout = layouts[browser];
  const copy = await copyOf(path);
  const database = opened(copy);
  try {
    for (const query of queriesOf(layout)) {
      const statement = told(() => database.prepare(query));
      try {
        const rows = (statement.iterate() as Iterable<Row>)[Symbol.iterator]();
        for (let row = told(() => rows.next()); row.done !== true; row = told(() => rows.next())) {
          const { url, title, visits, time } = row.value;
          yield itemOf({
            url: String(url ?? ''),
            title: title === null ? null : String(title),
            at: layout.timeOf(Number(time)),
            visits: Number(visits),
          });
        }
      } finally {
        try {
          statement.finalize();
        } catch {
          // SQLite says once more why a row could not be read.
        }
      }
    }
  } finally {
    database.close();
    rmSync(copy, { recursive: true, force: true });
  }
}

async function withCopy<Result>(
  path: string,
  use: (database: InstanceType<typeof Database>) => Result,
): Promise<Result> {
  const copy = await copyOf(path);
  const database = opened(copy);
  try {
    return use(database);
  } finally {
    database.close();
    rmSync(copy, { recursive: true, force: true });
  }
}

/** A folder with a copy of the database and of what is not in its file yet. Copies that killed processes left are deleted. */
async function copyOf(path: string): Promise<string> {
  dropLeftCopies();
  const dir = mkdtempSync(join(tmpdir(), `${copyPrefix}${process.pid}-`));
  try {
    for (const suffix of ['', '-wal', '-journal']) {
      const copied = suffix === '' || existsSync(path + suffix);
      if (copied) await copyFile(path + suffix, join(dir, `history${suffix}`), constants.COPYFILE_FICLONE);
    }
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  return dir;
}

/** Those of other users are theirs to delete, and would stop this import. */
function dropLeftCopies(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = copyName.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(tmpdir(), name);
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
    const isOwn = process.getuid === undefined || owner === process.getuid();
    if (isOwn) rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function opened(copy: string) {
  const database = new Database(join(copy, 'history'));
  try {
    // Without shared memory a write-ahead log is read by the only user of the file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.get('SELECT count(*) FROM sqlite_master');
    const { bytes } =
      database.get('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size') ?? {};
    // Of a file that is cut off SQLite gives what it has. What only the log has is beyond the file's end, too.
    const isCut = statSync(join(copy, 'history')).size < Number(bytes) && !existsSync(join(copy, 'history-wal'));
    if (isCut) throw new Error('it is cut off');
    return database;
  } catch (cause) {
    database.close();
    rmSync(copy, { recursive: true, force: true });
    throw new ImportError(`the database cannot be read as SQLite: ${errorMessage(cause)}`, { cause });
  }
}

/** What SQLite says of a file that is damaged, cut off or laid out otherwise, as an ImportError. */
function told<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new ImportError(`the database is damaged, or no history that this version knows: ${errorMessage(cause)}`, {
      cause,
    });
  }
}
