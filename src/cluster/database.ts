/**
 * A PostgreSQL connection pool with a time limit per query. The driver is loaded only when opened, so a service without
 * a cluster never loads it. A query that was aborted, timed out or lost its connection may have run.
 */
import type pg from 'pg';
import { unlessAborted } from '../compute/unless-aborted.ts';
import { DomainError, errorCode } from '../domain/errors.ts';

export interface Query {
  text: string;
  values?: unknown[];
  /** Prepared once per connection under this name. */
  name?: string;
  signal?: AbortSignal;
}

export interface Database {
  /** Errors: the server's, with SQLSTATE as `code`; DomainError `store_unavailable` after the time limit; the signal's reason. */
  query<Row>(query: Query): Promise<Row[]>;
  /** Queries between begin and commit on one connection. Errors: those of `work`, after a rollback. */
  inTransaction<Result>(work: (query: Database['query']) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  timeoutMs: number;
  log: { warn(fields: object, message: string): void };
}

/** Commits of libraries run in parallel. */
const maxConnections = 10;

/** Rows are read in index order, in pieces. Without statistics of a new library the server would sort all remaining rows for each piece. */
const inIndexOrder = 'set enable_sort = off; set enable_bitmapscan = off';

const int8 = 20;

/** Row numbers are far below 2^53. Results come as text: the driver would decode binary ones as UTF-8. */
const textTypes = (types: typeof pg.types) => ({
  getTypeParser: ((type: number) => (type === int8 ? Number : types.getTypeParser(type))) as never,
});

export async function openDatabase({ url, timeoutMs, log }: DatabaseOptions): Promise<Database> {
  const { default: driver } = await import('pg');
  const pool = new driver.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    application_name: 'readback',
  });
  const types = textTypes(driver.types);
  pool.on('error', (err) => log.warn({ err }, 'a connection to PostgreSQL was lost'));
  pool.on('connect', (client) => {
    // A query on a broken connection rejects by itself. (The pool's own `onConnect` would wait without a limit.)
    client.on('error', () => {});
    client.query(inIndexOrder).catch(() => {});
  });

  const on = async <Result>(work: (query: Database['query']) => Promise<Result>): Promise<Result> => {
    const client = await pool.connect();
    let failure: unknown;
    try {
      return await work((query) => ask(client, { query, types, timeoutMs }));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // After a failure the server may still work on the connection.
      client.release(failure !== undefined && !isOfStatement(failure));
    }
  };

  return {
    query: (query) => on((ask) => ask(query)),
    inTransaction: (work) =>
      on(async (query) => {
        await query({ text: 'begin' });
        try {
          const result = await work(query);
          await query({ text: 'commit' });
          return result;
        } catch (error) {
          if (isOfStatement(error)) await query({ text: 'rollback' });
          throw error;
        }
      }),
    close: () => pool.end(),
  };
}

async function ask<Row>(
  client: pg.PoolClient,
  { query: { signal, ...query }, types, timeoutMs }: { query: Query; types: object; timeoutMs: number },
): Promise<Row[]> {
  signal?.throwIfAborted();
  const sent = client.query({ ...query, types } as pg.QueryConfig);
  sent.catch(() => {}); // a late error after the time limit
  const late = new AbortController();
  const timer = setTimeout(() => {
    const unanswered = `PostgreSQL has not answered for ${timeoutMs} ms`;
    late.abort(new DomainError('store_unavailable', unanswered, { retryAfterS: 1 }));
  }, timeoutMs);
  try {
    const { rows } = await unlessAborted(unlessAborted(sent, late.signal), signal);
    return rows as Row[];
  } finally {
    clearTimeout(timer);
  }
}

/** The server's SQLSTATE; null for errors of the connection and others. */
function sqlStateOf(error: unknown): string | null {
  const code = errorCode(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE' ? code : null;
}

/** Only the statement failed; the connection is usable. */
function isOfStatement(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== null && !/^(?:08|57P)/.test(state);
}

/** Temporary SQLSTATE classes: connection, transaction rollback, resources (disk full among them), object in use, intervention, system, read-only. */
const passing = /^(?:08|40|53|55|57|58|25006)/;

export function mayPass(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === null ? error instanceof Error && !(error instanceof TypeError) : passing.test(state);
}
