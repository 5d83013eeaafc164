/**
 * The row of each library in PostgreSQL: its host, the lease's end, and the position of its commits, by the server's
 * clock. The epoch is the fence: a takeover raises it, and commits of an older epoch change nothing.
 */
import type { CommitHistory, Position } from '../store/stored-rows.ts';
import type { Database } from './database.ts';

export type Commit = Pick<Position, 'library' | 'epoch' | 'run' | 'seq'>;

export interface Claim extends Position {
  /** Deletions of commits before this one may be unrecorded. */
  kept_from: number;
  /** Its quota in bytes of its store; null for none. */
  max_bytes: number | null;
}

/** `importing`: no host serves it until all rows are there. */
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

/** Commits with recorded deletions, and recorded claims: an older copy is read completely. */
const keptHistory = 10_000;
const prunedAtOnce = 5000;

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

  /** Claim a library without a host, in this state; null if impossible. */
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
   * Renew these leases; returns the libraries that this host still has, and whether each was renewed. A running commit
   * renews its lease itself, so the others do not wait for it.
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
   * Release a library for any host. `due`: when it must be opened without a request, ms since the epoch, or never; if
   * absent, a host takes it soon.
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
   * Libraries without a host that are due, longest first, except those locked by another host; and the ms until the
   * first lease of another host ends, or null.
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

  /** Whether a commit, and so all before it, is in the library's recorded history. */
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
