/**
 * PostgreSQL as the cluster uses it: a pool of connections, each query with a time limit of its own. The driver is loaded when this is opened, so
 * that a service without a cluster never has it in memory. A query whose connection broke, that took too long or was given up may have been carried out.
 */
import type pg from 'pg';
import { errorCode } from '../domain/error-code.ts';
import { DomainError } from '../domain/errors.ts';

export interface Query {
  text: string;
  values?: unknown[];
  /** Parsed once a connection under this name. */
  name?: string;
  /** Nobody waits for the answer any more once it is aborted. */
  signal?: AbortSignal;
}

export interface Database {
  /** Errors: those of the server, with its SQLSTATE as `code`; DomainError `store_unavailable` after the time limit; the signal's reason. */
  query<Row>(query: Query): Promise<Row[]>;
  /** Queries on one connection between begin and commit. Errors: those of `work`, after a rollback. */
  inTransaction<Result>(work: (query: Database['query']) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Of one query, ms. */
  timeoutMs: number;
  log: { warn(fields: object, message: string): void };
}

/** Connections of a pool: commits of libraries go beside one another. */
const maxConnections = 10;

/**
 * Rows are read in the order of an index, piece by piece. Where the server has no statistics of a library yet, which was imported a moment ago, say,
 * it would rather read and sort all that is left of it for each piece.
 */
const inIndexOrder = 'set enable_sort = off; set enable_bitmapscan = off';

const int8 = 20;

/** Numbers of rows are far below 2^53. Results come as text: the driver reads binary ones as UTF-8 first, which bytes are not. */
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
    // One that breaks while it is used says so to whoever uses it, too. (The pool's own `onConnect` would wait without a limit where a line says nothing.)
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
      // Of a connection on which something failed nobody knows what the server still does for it.
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
  sent.catch(() => {}); // after the time limit nobody listens any more
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (() => void) | undefined;
  const unanswered = new Promise<never>((_, reject) => {
    const error = new DomainError('store_unavailable', `PostgreSQL has not answered for ${timeoutMs} ms`, {
      retryAfterS: 1,
    });
    timer = setTimeout(() => reject(error), timeoutMs);
    giveUp = () => reject(signal?.reason);
    signal?.addEventListener('abort', giveUp);
  });
  try {
    const { rows } = await Promise.race([sent, unanswered]);
    return rows as Row[];
  } finally {
    clearTimeout(timer);
    if (giveUp !== undefined) signal?.removeEventListener('abort', giveUp);
  }
}

/** SQLSTATE of an error of the server; null for one of the connection, or of another kind. */
function sqlStateOf(error: unknown): string | null {
  const code = errorCode(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && code !== 'EPIPE' ? code : null;
}

/** Server and connection are as they were: only the statement failed. */
function isOfStatement(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== null && !/^(?:08|57P)/.test(state);
}

/** Classes of SQLSTATE that pass: connection, transaction rollback, resources (disk full among them), object in use, intervention, system, read-only. */
const passing = /^(?:08|40|53|55|57|58|25006)/;

/** Whether the same query may succeed later. */
export function mayPass(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === null ? error instanceof Error && !(error instanceof TypeError) : passing.test(state);
}
