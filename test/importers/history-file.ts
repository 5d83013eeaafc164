/** Histories as Chromium writes them, of any size: URLs whose visits, dates and titles can be told from their number. */
import sqlite from 'node-sqlite3-wasm';

const { Database } = sqlite;

/** Between two visits of one URL, ms. */
const betweenVisits = 86_400_000;
const firstVisit = Date.UTC(2021, 0, 1);

export const urlOf = (no: number) => `https://site-${no % 997}.example/page/${no}`;
/** 1, 2 or 3. */
export const visitsOf = (no: number) => 1 + (no % 3);
export const visitedAt = (no: number, visit: number) => firstVisit + no * 1000 + visit * betweenVisits;

const webkit = (ms: number) => (ms + 11_644_473_600_000) * 1000;
/** A link at the end of its chain of redirects. */
const shownLink = 0x30000000;

export interface HistoryRow {
  url: string;
  title?: string;
  hidden?: number;
  visit_count?: number;
  /** ms, and the transition of each. */
  visits: { at: number; transition?: number }[];
}

export function writeHistory(path: string, rows: Iterable<HistoryRow>): { urls: number; visits: number } {
  const database = new Database(path);
  let [urls, visits] = [0, 0];
  try {
    database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
      CREATE TABLE urls(id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, visit_count INTEGER DEFAULT 0 NOT NULL,
        typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL, hidden INTEGER DEFAULT 0 NOT NULL);
      CREATE TABLE visits(id INTEGER PRIMARY KEY, url INTEGER NOT NULL, visit_time INTEGER NOT NULL, from_visit INTEGER,
        transition INTEGER DEFAULT 0 NOT NULL, segment_id INTEGER, visit_duration INTEGER DEFAULT 0 NOT NULL);`);
    const url = database.prepare('INSERT INTO urls VALUES (?, ?, ?, ?, 0, ?, ?)');
    const visit = database.prepare('INSERT INTO visits (url, visit_time, transition) VALUES (?, ?, ?)');
    for (const row of rows) {
      urls++;
      const last = Math.max(0, ...row.visits.map(({ at }) => at));
      const count = row.visit_count ?? row.visits.length;
      url.run([urls, row.url, row.title ?? '', count, last === 0 ? 0 : webkit(last), row.hidden ?? 0]);
      for (const { at, transition = shownLink } of row.visits) {
        visit.run([urls, webkit(at), transition]);
        visits++;
      }
    }
    url.finalize();
    visit.finalize();
    database.exec('COMMIT');
  } finally {
    database.close();
  }
  return { urls, visits };
}

/** URLs 0 … count − 1. */
export function* syntheticHistory(count: number): Generator<HistoryRow> {
  for (let no = 0; no < count; no++) {
    const visits = Array.from({ length: visitsOf(no) }, (_, visit) => ({ at: visitedAt(no, visit) }));
    yield { url: urlOf(no), title: `Page ${no}`, visits };
  }
}
