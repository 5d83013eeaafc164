/**
 * Histories of Chromium, Firefox and Safari, read from a private copy, as browsers lock theirs. One visit is one item,
 * except those that the history page hides. A URL without visits is one item at its last date. Firefox stores bookmarks
 * in the same file.
 */

import {
  constants,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import sqlite from 'node-sqlite3-wasm';
import { errorMessage } from '../domain/errors.ts';
import type { ImportItem } from '../domain/import.ts';
import { maxTitleLength, maxUrlLength } from '../domain/values.ts';
import { fromApple, fromUnix, fromWebkit, ImportError, itemOf, listOf, maxFolderChars } from './item-parts.ts';
import type { Bytes } from './read-archive.ts';

const { Database } = sqlite;
const copyPrefix = 'readback-history-';
const copyName = new RegExp(`^${copyPrefix}(\\d+)-`);

/** Path of the file, or its bytes in an archive. */
export type HistoryFile = string | Bytes;
type Row = Record<string, unknown>;
type Sqlite = InstanceType<typeof Database>;

/** An SQL function that is called per row, because a damaged file may return endless rows. */
const step = 'readback_step';
/** A row takes more than eight bytes. Its two tables are counted separately. */
const minStepBytes = 2;
const computedColumn = 2;
/** Max UTF-8 bytes. Each visit repeats its page's address and title, so longer ones are not read. */
const mostUrlBytes = 4 * maxUrlLength;
const mostTitleBytes = 4 * maxTitleLength;
const tooLong: [string, string] = ['addresses that are too long', `octet_length(a.url) > ${mostUrlBytes}`];
const titleOf = (title: string) => `iif(octet_length(${title}) > ${mostTitleBytes}, NULL, ${title}) AS title`;
const heapLimit = 256 * 2 ** 20;

interface HistoryLayout {
  /** Tables that identify the browser: of addresses and of visits. */
  tables: [string, string];
  /** FROM clause with visits `v` and their addresses `a`. */
  from: string;
  visit: { title: string; visits: string; time: string };
  /** Omitted visits, counted by the first condition that matches. */
  leftOut: [reason: string, condition: string][];
  /** Selects addresses that have only a count and a last date; null if there are none. */
  unvisited: string | null;
  timeOf(time: number): number | null;
}

const layouts = {
  chromium: {
    tables: ['urls', 'visits'],
    from: 'visits v JOIN urls a ON a.id = v.url',
    visit: { title: 'a.title', visits: 'a.visit_count', time: 'v.visit_time' },
    // Transitions: 3 and 4 are frames, 10 is a typed keyword; the bit marks the last step of a redirect.
    leftOut: [
      tooLong,
      ['hidden addresses', 'a.hidden != 0'],
      ['frames', '(v.transition & 0xff) IN (3, 4)'],
      ['made up for a word typed', '(v.transition & 0xff) = 10'],
      ['steps of a redirect', '(v.transition & 0x20000000) = 0'],
    ],
    unvisited: `SELECT url, ${titleOf('title')}, visit_count AS visits, last_visit_time AS time FROM urls
      WHERE ${step}(id) AND octet_length(url) <= ${mostUrlBytes} AND hidden = 0 AND last_visit_time > 0 AND id NOT IN (SELECT url FROM visits WHERE url IS NOT NULL) ORDER BY id`,
    timeOf: fromWebkit,
  },
  firefox: {
    tables: ['moz_places', 'moz_historyvisits'],
    from: 'moz_historyvisits v JOIN moz_places a ON a.id = v.place_id',
    visit: { title: 'a.title', visits: 'a.visit_count', time: 'v.visit_date' },
    leftOut: [
      tooLong,
      ['hidden addresses', 'a.hidden != 0'],
      ['frames', 'v.visit_type IN (4, 8)'],
      ['downloads', 'v.visit_type = 7'],
    ],
    unvisited: `SELECT url, ${titleOf('title')}, visit_count AS visits, last_visit_date AS time FROM moz_places
      WHERE ${step}(id) AND octet_length(url) <= ${mostUrlBytes} AND hidden = 0 AND last_visit_date > 0 AND id NOT IN
        (SELECT place_id FROM moz_historyvisits WHERE place_id IS NOT NULL) ORDER BY id`,
    timeOf: fromUnix,
  },
  safari: {
    tables: ['history_items', 'history_visits'],
    from: 'history_visits v JOIN history_items a ON a.id = v.history_item',
    visit: { title: 'v.title', visits: 'a.visit_count', time: 'v.visit_time' },
    leftOut: [
      tooLong,
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
  const shown = `SELECT a.url AS url, ${titleOf(visit.title)}, ${visit.visits} AS visits, ${visit.time} AS time
    FROM ${from} WHERE ${step}(v.id) AND ${step}(a.id) AND (${isLeftOut}) IS NOT TRUE ORDER BY v.id`;
  return unvisited === null ? [shown] : [shown, unvisited];
}

/** The browser of a SQLite file, or null. Errors: ImportError for unreadable files and computed data. */
export async function historyKind(path: HistoryFile): Promise<Browser | null> {
  using copy = await openCopy(path);
  const names = copy.database.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name);
  const kinds = Object.entries(layouts) as [Browser, HistoryLayout][];
  const kind = kinds.find(([, { tables }]) => tables.every((table) => names.includes(table)));
  if (kind !== undefined) refuseComputed(copy.database, kind[1].tables, queriesOf(kind[1]).join(' '));
  return kind?.[0] ?? null;
}

/** Computed columns and virtual tables may take any time; tables without a key would join with every visit. */
function refuseComputed(database: Sqlite, tables: readonly string[], queries: string): void {
  const read = new Set(queries.toLowerCase().split(/\W+/));
  for (const table of tables) {
    const columns = database.all(
      'SELECT lower(name) AS name, pk, hidden, upper(type) AS type FROM pragma_table_xinfo(?)',
      [table],
    );
    const isTable = database.get("SELECT 1 FROM pragma_table_list(?) WHERE type = 'table'", [table]) !== null;
    if (!isTable || columns.some(({ name, hidden }) => hidden === computedColumn && read.has(String(name))))
      throw new ImportError(`the database is not a browser history: table ${table} is virtual or has computed columns`);
    const hasKey = columns.some(({ name, pk, type }) => name === 'id' && pk === 1 && type === 'INTEGER');
    if (!hasKey) throw new ImportError(`the database is no history that this version knows: ${table} has no key`);
  }
}

export async function visitsLeftOut(path: HistoryFile, browser: Browser): Promise<Record<string, number>> {
  const { from, leftOut }: HistoryLayout = layouts[browser];
  const cases = leftOut.map(([reason, condition]) => `WHEN ${condition} THEN '${reason}'`).join(' ');
  const query = `SELECT CASE WHEN a.id IS NULL THEN 'their address is missing' ${cases} END AS reason, count(*) AS count
    FROM ${from.replace('JOIN', 'LEFT JOIN')} WHERE ${step}(v.id) AND ${step}(a.id) GROUP BY 1`;
  using copy = await openCopy(path);
  const rows = reading(() => copy.database.all(query));
  return Object.fromEntries(
    rows.flatMap(({ reason, count }) => (reason === null ? [] : [[String(reason), Number(count)]])),
  );
}

export async function* readHistory(path: HistoryFile, browser: Browser): AsyncGenerator<ImportItem> {
  const layout: HistoryLayout = layouts[browser];
  using copy = await openCopy(path);
  for (const query of queriesOf(layout))
    for (const { visits, ...row } of rowsOf(copy.database, query))
      yield itemOf({ ...shared(row, layout), visits: Number(visits) });
  if (browser === 'firefox') yield* bookmarksOf(copy.database);
}

const shared = ({ url, title, time }: Row, { timeOf }: Pick<HistoryLayout, 'timeOf'>) => ({
  url: String(url ?? ''),
  title: title === null ? null : String(title),
  at: timeOf(Number(time)),
});

function* rowsOf(database: Sqlite, query: string): Generator<Row> {
  const statement = reading(() => database.prepare(query));
  try {
    const rows = (statement.iterate() as Iterable<Row>)[Symbol.iterator]();
    for (let row = reading(() => rows.next()); row.done !== true; row = reading(() => rows.next())) yield row.value;
  } finally {
    try {
      statement.finalize();
    } catch {}
  }
}

/** Firefox's bookmarks with folders and tags. A tag is a folder in the folder of tags. */
const bookmarkTable = 'moz_bookmarks';
const isTagFolder = "parent IN (SELECT id FROM moz_bookmarks WHERE guid = 'tags________')";
const mostFolders = 100_000;
const deepestFolder = 64;
const tagSeparator = '\u001f';
const bookmarkFolders = `SELECT id, parent, ${titleOf('title')} FROM moz_bookmarks WHERE ${step}(id) AND type = 2 LIMIT ${mostFolders}`;
const bookmarks = `SELECT a.url, ${titleOf('coalesce(b.title, a.title)')}, b.dateAdded AS time, b.parent,
    (SELECT group_concat(iif(octet_length(t.title) > ${mostTitleBytes}, NULL, t.title), '${tagSeparator}') FROM moz_bookmarks l JOIN moz_bookmarks t ON t.id = l.parent
      WHERE ${step}(l.id) AND l.fk = b.fk AND l.type = 1 AND t.${isTagFolder}) AS tags
  FROM moz_bookmarks b JOIN moz_places a ON a.id = b.fk WHERE ${step}(b.id) AND ${step}(a.id) AND b.type = 1
    AND octet_length(a.url) <= ${mostUrlBytes}
    AND b.parent NOT IN (SELECT id FROM moz_bookmarks WHERE ${isTagFolder}) ORDER BY b.id`;

function* bookmarksOf(database: Sqlite): Generator<ImportItem> {
  // Before version 4, Firefox has no ids that mark the folder of tags.
  if (database.get("SELECT 1 FROM pragma_table_xinfo(?) WHERE name = 'guid'", [bookmarkTable]) === null) return;
  refuseComputed(database, [bookmarkTable], bookmarks);
  const folders = new Map([...rowsOf(database, bookmarkFolders)].map((row) => [row.id, row]));
  const pathOf = (parent: unknown): string => {
    const names: string[] = [];
    for (let at = folders.get(parent); at !== undefined && names.length < deepestFolder; at = folders.get(at.parent))
      names.unshift(String(at.title ?? ''));
    return names
      .filter((name) => name !== '')
      .join('/')
      .slice(0, maxFolderChars);
  };
  for (const { parent, tags, ...row } of rowsOf(database, bookmarks)) {
    yield itemOf({ ...shared(row, layouts.firefox), folder: pathOf(parent), tags: listOf(tags, tagSeparator) });
  }
}

async function openCopy(path: HistoryFile) {
  const copy = await copyOf(path);
  const database = opened(copy);
  return {
    database,
    [Symbol.dispose]() {
      database.close();
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

/** A folder with a copy of the database and its log. Also deletes copies left by killed processes. */
async function copyOf(path: HistoryFile): Promise<string> {
  dropLeftCopies();
  const dir = mkdtempSync(join(tmpdir(), `${copyPrefix}${process.pid}-`));
  try {
    if (typeof path !== 'string') await pipeline(path(), createWriteStream(join(dir, 'history'), { mode: 0o600 }));
    else
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

/** Copies of other users cannot be deleted. */
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
    // Without shared memory, a write-ahead log needs exclusive access.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA hard_heap_limit = ${heapLimit}`);
    database.get('SELECT count(*) FROM sqlite_master');
    const { bytes } =
      database.get('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size') ?? {};
    // SQLite returns the intact part of a truncated file. With a log, the content may also be beyond the file's end.
    const isCut = statSync(join(copy, 'history')).size < Number(bytes) && !existsSync(join(copy, 'history-wal'));
    if (isCut) throw new Error('it is cut off');
    let rows = 0;
    const mostRows = Number(bytes) / minStepBytes;
    return database.function(step, (_row) => {
      if (++rows > mostRows) throw new Error('the file is damaged: its rows repeat');
      return true;
    });
  } catch (cause) {
    database.close();
    rmSync(copy, { recursive: true, force: true });
    throw new ImportError(`the database cannot be read as SQLite: ${errorMessage(cause)}`, { cause });
  }
}

function reading<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new ImportError(`the database is damaged, or no history that this version knows: ${errorMessage(cause)}`, {
      cause,
    });
  }
}
