/**
 * Histories of Chromium and Firefox: SQLite databases that the browser keeps locked, so a private copy is read, with what waits in
 * its write-ahead log. Rows are read one by one from the file, in the order of their ids: the same order each time.
 *
 * One visit is one item. What the browser's own history page does not show is left out: hidden URLs, frames, downloads, and steps of a
 * redirect other than its end. A URL without any visit of its own is one item at its last date.
 */
import { constants, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { errorMessage } from '../domain/error-message.ts';
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { fromUnix, fromWebkit, itemOf } from './item-parts.ts';

const { Database } = sqlite;
const copyPrefix = 'readback-history-';
const copyName = new RegExp(`^${copyPrefix}(\\d+)-`);

type Row = Record<string, unknown>;

/** The last step of a redirect; frames loaded by the page or by a click in it; visits made up for the word typed. */
const chromiumQuery = `
  SELECT u.url AS url, u.title AS title, u.visit_count AS visits, v.visit_time AS time
  FROM visits v JOIN urls u ON u.id = v.url
  WHERE u.hidden = 0 AND (v.transition & 0xff) NOT IN (3, 4, 10) AND (v.transition & 0x20000000) != 0
  ORDER BY v.id`;
const chromiumUnvisited = `
  SELECT url, title, visit_count AS visits, last_visit_time AS time FROM urls
  WHERE hidden = 0 AND last_visit_time > 0 AND id NOT IN (SELECT url FROM visits) ORDER BY id`;

/** Visit types: 4 embedded, 7 download, 8 a link in a frame. */
const firefoxQuery = `
  SELECT p.url AS url, p.title AS title, p.visit_count AS visits, v.visit_date AS time
  FROM moz_historyvisits v JOIN moz_places p ON p.id = v.place_id
  WHERE p.hidden = 0 AND v.visit_type NOT IN (4, 7, 8)
  ORDER BY v.id`;
const firefoxUnvisited = `
  SELECT url, title, visit_count AS visits, last_visit_date AS time FROM moz_places
  WHERE hidden = 0 AND last_visit_date > 0 AND id NOT IN (SELECT place_id FROM moz_historyvisits) ORDER BY id`;

export const readChromium = (path: string) => readHistory(path, [chromiumQuery, chromiumUnvisited], fromWebkit);
export const readFirefox = (path: string) => readHistory(path, [firefoxQuery, firefoxUnvisited], fromUnix);

/** Which browser's history a SQLite file is, or null. Errors: ImportError where it cannot be read. */
export async function historyKind(path: string): Promise<'chromium' | 'firefox' | null> {
  return withCopy(path, (database) => {
    const names = database.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name);
    if (names.includes('urls') && names.includes('visits')) return 'chromium';
    return names.includes('moz_places') && names.includes('moz_historyvisits') ? 'firefox' : null;
  });
}

async function* readHistory(
  path: string,
  queries: readonly string[],
  timeOf: (time: number) => number | null,
): AsyncGenerator<ImportItem> {
  const copy = await copyOf(path);
  const database = opened(copy, path);
  try {
    for (const query of queries) {
      const statement = prepared(database, query, path);
      try {
        for (const row of statement.iterate() as Iterable<Row>) {
          yield itemOf({
            url: String(row.url ?? ''),
            title: row.title === null ? null : String(row.title),
            at: timeOf(Number(row.time)),
            visits: Number(row.visits),
          });
        }
      } finally {
        statement.finalize();
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
  const database = opened(copy, path);
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

function opened(copy: string, path: string) {
  const database = new Database(join(copy, 'history'));
  try {
    // Without shared memory a write-ahead log is read by the only user of the file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.get('SELECT count(*) FROM sqlite_master');
    return database;
  } catch (cause) {
    database.close();
    rmSync(copy, { recursive: true, force: true });
    throw new ImportError(`${path} cannot be read as SQLite: ${errorMessage(cause)}`, { cause });
  }
}

function prepared(database: InstanceType<typeof Database>, query: string, path: string) {
  try {
    return database.prepare(query);
  } catch (cause) {
    throw new ImportError(`${path} is no history that this version knows: ${errorMessage(cause)}`, { cause });
  }
}
