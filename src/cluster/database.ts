/** PostgreSQL connections with a time limit per query. An aborted, late or disconnected query may have run. */
import type pg from 'pg';
import { unlessAborted } from '../compute/unless-aborted.ts';
import { DomainError, errorCode } from '../domain/errors.ts';
import type { CommitHistory, Position } from '../store/stored-rows.ts';

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
    // A query on a broken connection rejects on its own. (The pool's own `onConnect` would wait without a limit.)
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
  sent.catch(() => {}); // an error after the time limit is ignored
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

/** Whether only the statement failed, so that the connection stays usable. */
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

export type Commit = Pick<Position, 'library' | 'epoch' | 'run' | 'seq'>;

export interface Claim extends Position {
  /** Deletions of commits before this one may be unrecorded. */
  kept_from: number;
  /** Quota in bytes of its store; null: no quota. */
  max_bytes: number | null;
}

/** `importing`: no host serves it before all rows are stored. */
export type LibraryRowState = 'active' | 'suspended' | 'importing';

export interface OwnerRow {
  state: LibraryRowState;
  address: string | null;
  isOwn: boolean;
}

export interface HostName {
  id: string;
  address: string;
}

/** Number of commits whose deletions and claims are recorded. An older copy is read in full. */
const keptHistory = 10_000;
const prunedAtOnce = 5000;

/** A library's row in PostgreSQL, by the server's clock. A takeover raises the epoch; commits of older ones fail. */
export class LibraryRows {
  readonly #database: Database;
  readonly #host: HostName;
  readonly #leaseS: number;
  readonly #format: number;

  /** `format`: newest store format that this version reads. */
  constructor(database: Database, { host, leaseS, format }: { host: HostName; leaseS: number; format: number }) {
    this.#database = database;
    this.#host = host;
    this.#leaseS = leaseS;
    this.#format = format;
  }

  /** Claim a library that has this state and no host; null if impossible. */
  async claim(name: string, state: Exclude<LibraryRowState, 'suspended'> = 'active'): Promise<Claim | null> {
    type Row = Omit<Claim, 'library'> & { id: number };
    const [row] = await this.#database.query<Row>({
      name: 'claim',
      text: `with claimed as (
               update readback.library
               set owner = $2, address = $3, epoch = epoch + 1, run = gen_random_uuid()::text, format = greatest(format, $5), due_at = clock_timestamp(),
                   lease_until = clock_timestamp() + make_interval(secs => $4)
               where name = $1 and state = $6 and format <= $5
                 and (owner is null or owner = $2 or lease_until < clock_timestamp())
               returning id, epoch, run, seq, keys, key_sum, kept_from, max_bytes
             ), noted as (
               insert into readback.takeover (library_id, epoch, run, seq) select id, epoch, run, seq from claimed
             ), pruned as (
               delete from readback.takeover using claimed where library_id = claimed.id and takeover.epoch <= claimed.epoch - $7
             )
             select * from claimed`,
      values: [name, this.#host.id, this.#host.address, this.#leaseS, this.#format, state, keptHistory],
    });
    if (row === undefined) return null;
    const { id, ...rest } = row;
    return { library: String(id), ...rest };
  }

  async ownerOf(name: string): Promise<OwnerRow | null> {
    const [row] = await this.#database.query<{
      state: OwnerRow['state'];
      owner: string | null;
      address: string | null;
    }>({
      name: 'owner',
      text: `select state, case when lease_until > clock_timestamp() then owner end as owner,
                    case when lease_until > clock_timestamp() then address end as address
             from readback.library where name = $1`,
      values: [name],
    });
    if (row === undefined) return null;
    return { state: row.state, address: row.address, isOwn: row.owner === this.#host.id };
  }

  /** Returns the libraries that this host still has. False: a running commit renews this lease itself. */
  async renew(claims: readonly Pick<Claim, 'library' | 'epoch'>[]): Promise<Map<string, boolean>> {
    const rows = await this.#database.query<{ id: number; renewed: boolean }>({
      name: 'renew',
      text: `with mine as (
               select l.id, l.epoch from readback.library l
               join unnest($1::bigint[], $2::bigint[]) as held(id, epoch) on l.id = held.id and l.epoch = held.epoch
               where l.owner = $3
             ), free as (
               select id from readback.library where id in (select id from mine) order by id for update skip locked
             ), renewed as (
               update readback.library l set lease_until = clock_timestamp() + make_interval(secs => $4)
               from free, mine where l.id = free.id and l.id = mine.id and l.epoch = mine.epoch and l.owner = $3
               returning l.id
             )
             select mine.id, renewed.id is not null as renewed from mine left join renewed on renewed.id = mine.id`,
      values: [claims.map(({ library }) => library), claims.map(({ epoch }) => epoch), this.#host.id, this.#leaseS],
    });
    return new Map(rows.map(({ id, renewed }) => [String(id), renewed]));
  }

  /** `due`: when it must open without a request, ms since the epoch; null: never; absent: a host opens it soon. */
  async release({ library, epoch }: Pick<Claim, 'library' | 'epoch'>, due?: { at: number | null }): Promise<void> {
    const at = due === undefined || due.at === null ? null : due.at / 1000;
    await this.#database.query({
      text: `update readback.library set owner = null, address = null, lease_until = null,
               due_at = case when $4 then to_timestamp($5) else due_at end
             where id = $1 and epoch = $2 and owner = $3`,
      values: [library, epoch, this.#host.id, due !== undefined, at],
    });
  }

  /** Due libraries without a host or lock, longest due first; and ms until the first lease of another host ends. */
  async due(limit: number): Promise<{ names: string[]; nextEndMs: number | null }> {
    const rows = await this.#database.query<{ name: string | null; ms: number | null }>({
      name: 'due',
      text: `with found as (
               select name from readback.library
               where due_at <= clock_timestamp() and state = 'active' and format <= $2
                 and (owner is null or lease_until < clock_timestamp())
               order by due_at limit $1 for update skip locked
             )
             select name, null::float8 as ms from found
             union all
             select null, extract(epoch from min(lease_until) - clock_timestamp()) * 1000 from readback.library
             where owner <> $3 and lease_until >= clock_timestamp()`,
      values: [limit, this.#format, this.#host.id],
    });
    return {
      names: rows.flatMap(({ name }) => (name === null ? [] : [name])),
      nextEndMs: rows.find(({ name }) => name === null)?.ms ?? null,
    };
  }

  /** Delete a batch of old deletion records; a claim waits meanwhile. */
  async prune({ library, epoch }: Pick<Claim, 'library' | 'epoch'>, seq: number): Promise<void> {
    const before = seq - keptHistory;
    if (before <= 0) return;
    await this.#database.query({
      text: `with mine as (
               update readback.library set kept_from = greatest(kept_from, $3) where id = $1 and epoch = $2 returning id
             )
             delete from readback.entry where library_id = $1 and value is null and (database, key) in (
               select database, key from readback.entry
               where library_id = $1 and value is null and seq <= $3 and exists (select from mine) limit $4
             )`,
      values: [library, epoch, before, prunedAtOnce],
    });
  }

  /** The history of a library. `last`: its last stored commit. Errors of `has`: the database's. */
  historyOf({ library }: Pick<Claim, 'library'>, last: () => Commit): CommitHistory {
    return {
      last: () => {
        const { epoch, run, seq } = last();
        return [library, epoch, run, seq].join(' ');
      },
      has: async (line) => {
        const [, of, epoch, run, seq] = /^(\d+) (\d{1,15}) (\S+) (\d{1,15})$/.exec(line) ?? [];
        return of === library && (await this.hasCommit({ library, epoch: Number(epoch), run, seq: Number(seq) }));
      },
    };
  }

  async hasCommit({ library, epoch, run, seq }: Commit): Promise<boolean> {
    const [row] = await this.#database.query<{ run: string; next_seq: number | null }>({
      text: `select own.run, next.seq as next_seq from readback.takeover own
             left join readback.takeover next on next.library_id = own.library_id and next.epoch = own.epoch + 1
             where own.library_id = $1 and own.epoch = $2`,
      values: [library, epoch],
    });
    return row !== undefined && row.run === run && row.next_seq !== null && seq <= row.next_seq;
  }
}
