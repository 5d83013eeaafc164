/**
 * The row of each library in PostgreSQL: who serves it until when, and where its commits stand. Times are the server's, never a host's.
 * The epoch is the fence: whoever takes a library over raises it, and a commit of an older epoch changes nothing.
 */
import type { CommitHistory, Position } from '../store/stored-rows.ts';
import type { Database } from './database.ts';

/** Which commit of a library's history. */
export type Commit = Pick<Position, 'library' | 'epoch' | 'run' | 'seq'>;

/** A library that this host has taken. */
export interface Claim extends Position {
  /** Commits before this one may have deleted rows of which nothing is left. */
  kept_from: number;
  /** Its own quota, of its store; null where it has none. */
  max_bytes: number | null;
}

/** `importing`: rows of a folder come in; no host serves it before all are there. */
export type LibraryRowState = 'active' | 'suspended' | 'importing';

/** Who serves a library now. */
export interface OwnerRow {
  state: LibraryRowState;
  /** Null where nobody does. */
  address: string | null;
  isOwn: boolean;
}

/** What a host says of itself. */
export interface HostName {
  id: string;
  /** Where other hosts reach it. */
  address: string;
}

/** Commits whose deletions are kept, and claims whose beginnings are kept: a copy that is further behind is read anew. */
const keptHistory = 10_000;
/** Rows that one `prune` deletes. */
const prunedAtOnce = 5000;

export class LibraryRows {
  readonly #database: Database;
  readonly #host: HostName;
  readonly #leaseS: number;
  readonly #format: number;

  /** `format`: newest format of the store that this version reads. */
  constructor(database: Database, { host, leaseS, format }: { host: HostName; leaseS: number; format: number }) {
    this.#database = database;
    this.#host = host;
    this.#leaseS = leaseS;
    this.#format = format;
  }

  /** Take a library that no other host serves, in this state; null where somebody does, or it is in another. */
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

  /**
   * Renew the leases of these libraries; gives those that are still this host's, and whether their lease was renewed. It was not where a commit is
   * under way, which renews it itself and may take long: the others do not wait for it.
   */
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

  /**
   * Let go of a library, so that any host may take it at once. `due`: when it has to be opened though nobody asks, ms since the epoch, or never;
   * without it some host takes it soon.
   */
  async release({ library, epoch }: Pick<Claim, 'library' | 'epoch'>, due?: { at: number | null }): Promise<void> {
    const at = due === undefined || due.at === null ? null : due.at / 1000;
    await this.#database.query({
      text: `update readback.library set owner = null, address = null, lease_until = null,
               due_at = case when $4 then to_timestamp($5) else due_at end
             where id = $1 and epoch = $2 and owner = $3`,
      values: [library, epoch, this.#host.id, due !== undefined, at],
    });
  }

  /**
   * Libraries that nobody serves and that have something to do, the longest due first; not those that another host looks at this moment. With
   * them when the first lease of another host ends unless it is renewed: in so many ms, or null.
   */
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

  /** Forget which rows were deleted long ago, a piece of them: a claim waits meanwhile. */
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

  /** The history of a library, for who keeps commits as lines. `last`: its last commit that is there. Errors of `has`: the database's. */
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

  /** Whether a commit, and so every one before it, is in the library's history. Of the epochs before the claim's, and no more than are kept. */
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
