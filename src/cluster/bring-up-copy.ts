/** Updates a library's file before it opens: with newer rows, or all rows if it is missing or of another history. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { closing } from '../compute/closing.ts';
import { FatalError } from '../domain/errors.ts';
import { LibraryCopy } from '../store/library-copy.ts';
import { KeySum, type Position, RowBlock, type StoredRow } from '../store/stored-rows.ts';
import { unfinished } from './administration.ts';
import type { DatabaseLog } from './commit-log.ts';
import type { Claim, Database, LibraryRowState, LibraryRows } from './database.ts';

export interface BringUpOptions {
  path: string;
  claim: Claim;
  database: Database;
  rows: LibraryRows;
  commits: DatabaseLog;
  newStoreId: () => string;
  ending: AbortSignal;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Max rows of one query; it also has a byte limit and ends with the row that reaches either. */
const rowsAtOnce = 2000;
const bytesAtOnce = 8 * 1024 * 1024;
/** Bytes per commit while sending a new library's rows. */
const seedBytes = 4 * 1024 * 1024;
const tellEveryMs = 5000;

/** Errors: FatalError if the rows do not match the library's checksum; the database's; those of the store. */
export async function bringUpCopy(options: BringUpOptions): Promise<void> {
  const { claim, path, log } = options;
  if (claim.seq === 0) return seed(options);
  const found = await usablePosition(options);
  if (found?.seq === claim.seq && found.key_sum === claim.key_sum) return note(options);
  if (found !== null && found.seq < claim.seq && found.seq >= claim.kept_from && (await catchUp(options, found)))
    return;
  log.info({ seq: claim.seq, keys: claim.keys }, 'the library is read from PostgreSQL');
  LibraryCopy.discard(path);
  if (!(await take(options, everyRowOf(claim)))) throw notItsSum();
}

const notItsSum = () => new FatalError('the rows of the library in PostgreSQL do not match its checksum');

/** The file's position, if it belongs to the library's history. */
async function usablePosition({ path, rows, claim, newStoreId, log }: BringUpOptions): Promise<Position | null> {
  if (!existsSync(join(path, 'store', 'data.mdb'))) return null;
  const copy = LibraryCopy.open(path, newStoreId);
  const { position } = copy;
  await copy.close();
  if (position?.library === claim.library && (await rows.hasCommit(position))) return position;
  log.warn({ position }, 'the file here belongs to another history, or ends with commits that were never acknowledged');
  LibraryCopy.discard(path);
  return null;
}

async function note({ path, claim, newStoreId }: BringUpOptions): Promise<void> {
  await using copy = closing(LibraryCopy.open(path, newStoreId));
  await copy.stand(positionOf(claim));
}

async function seed({ path, claim, commits, newStoreId, ending }: BringUpOptions): Promise<void> {
  LibraryCopy.discard(path);
  await using copy = closing(LibraryCopy.open(path, newStoreId));
  await copy.stand(await sendRows({ copy, claim, commits, ending }));
}

/** Commit every row of a file as a new library. Returns its position. Errors: FatalError; of `ending`. */
export async function sendRows({
  copy,
  claim,
  commits,
  ending,
}: Pick<BringUpOptions, 'claim' | 'commits' | 'ending'> & { copy: LibraryCopy }): Promise<Position> {
  const sum = new KeySum(claim);
  let position = positionOf(claim);
  for (const rows of copy.rows(seedBytes)) {
    ending.throwIfAborted();
    for (const row of rows) sum.change(row, false, true);
    position = { ...position, seq: position.seq + 1, keys: sum.keys, key_sum: sum.text };
    await commits.append(RowBlock.of(rows), position);
  }
  commits.position = position;
  return position;
}

/** Copy a library's rows as of one moment, while it may be written. Errors: FatalError; the database's. */
export function copyOut(
  name: string,
  options: Pick<BringUpOptions, 'path' | 'database' | 'newStoreId' | 'ending' | 'log'>,
): Promise<boolean> {
  return options.database.inTransaction(async (query) => {
    await query({ text: 'set transaction isolation level repeatable read, read only' });
    const [row] = await query<Omit<Position, 'library'> & { id: number; state: LibraryRowState }>({
      text: 'select id, state, epoch, run, seq, keys, key_sum from readback.library where name = $1',
      values: [name],
    });
    if (row === undefined) return false;
    const { id, state, ...rest } = row;
    if (state === 'importing') throw unfinished(name);
    const claim = { library: String(id), ...rest };
    if (await take({ ...options, claim, database: { query } }, everyRowOf(claim))) return true;
    throw notItsSum();
  });
}

type Page = (after: StoredRow & { seq: number }) => { text: string; values: unknown[] };

async function catchUp(options: BringUpOptions, from: Position): Promise<boolean> {
  const { claim, log } = options;
  const later: Page = ({ database, key, seq }) => ({
    text: pieceOf('where library_id = $1 and seq >= $2 and (seq, database, key) > ($2, $3, $4)', 'seq, database, key'),
    values: [claim.library, seq, database, key],
  });
  // Begins after the last row of the file's commit.
  const start = { database: '\u{10ffff}', key: Buffer.alloc(0), value: null, seq: from.seq };
  const isWhole = await take(options, later, start);
  if (!isWhole) log.warn({ from: from.seq, to: claim.seq }, 'the file here does not match the library’s checksum');
  return isWhole;
}

const everyRowOf =
  ({ library }: Position): Page =>
  ({ database, key }) => ({
    text: pieceOf('where library_id = $1 and (database, key) > ($2, $3) and value is not null', 'database, key'),
    values: [library, database, key],
  });

/** The first rows in order. PostgreSQL computes their lengths without reading them. */
const pieceOf = (where: string, order: string) => `
  select database, key, value, seq from (
    select database, key, value, seq,
      sum(coalesce(octet_length(value), 0)) over (order by ${order} rows between unbounded preceding and 1 preceding) as before
    from readback.entry ${where} order by ${order} limit ${rowsAtOnce}
  ) as piece where before is null or before < ${bytesAtOnce} order by ${order}`;

/** Write all rows to the file; returns whether the library's checksum matches. */
async function take(
  {
    path,
    claim,
    database,
    newStoreId,
    ending,
    log,
  }: Pick<BringUpOptions, 'path' | 'newStoreId' | 'ending' | 'log'> & {
    claim: Position;
    database: Pick<Database, 'query'>;
  },
  page: Page,
  start: StoredRow & { seq: number } = { database: '', key: Buffer.alloc(0), value: null, seq: 0 },
): Promise<boolean> {
  await using copy = closing(LibraryCopy.open(path, newStoreId));
  const next = (after: StoredRow & { seq: number }) => database.query<StoredRow & { seq: number }>(page(after));
  let toldAt = performance.now();
  let rows = 0;
  let coming = next(start);
  for (;;) {
    const taken = await coming;
    ending.throwIfAborted();
    const last = taken.at(-1);
    if (last === undefined) break;
    coming = next(last);
    coming.catch(() => {}); // awaited in the next round, unless writing fails first
    await copy.apply(taken);
    rows += taken.length;
    if (performance.now() - toldAt < tellEveryMs) continue;
    toldAt = performance.now();
    log.info({ rows, keys: claim.keys }, 'the library is read from PostgreSQL');
  }
  const { keys, key_sum } = copy.sum;
  if (keys !== claim.keys || key_sum !== claim.key_sum) return false;
  await copy.stand(positionOf(claim));
  return true;
}

function positionOf({ library, epoch, run, seq, keys, key_sum }: Position): Position {
  return { library, epoch, run, seq, keys, key_sum };
}
