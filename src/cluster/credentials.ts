/** Digests of tokens, sessions and codes: any host finds a request's library by them; only its owner checks them. */
import pLimit from 'p-limit';
import {
  type AccessFile,
  type AccessRecords,
  type KeptSession,
  type KeptToken,
  keptRecords,
} from '../access/access-file.ts';
import { DomainError } from '../domain/errors.ts';
import type { Claim, Database } from './database.ts';

/** Half of a pool's connections. */
const lookUpsAtOnce = 5;

type Kept = KeptToken | KeptSession;
type LibraryRecords = Pick<AccessRecords, 'tokens' | 'sessions'>;

interface Served {
  claim: Pick<Claim, 'library' | 'epoch'>;
  stored: Map<string, string>;
}

export class Credentials implements AccessFile {
  readonly records = null;
  readonly #database: Database;
  readonly #served = new Map<string, Served>();
  /** Limited because anyone can trigger look-ups, and leases are renewed over the same connections. */
  readonly #lookUp = pLimit(lookUpsAtOnce);

  constructor(database: Database) {
    this.#database = database;
  }

  /** The library to which the digest of a token, session or code belongs, or null. */
  async libraryOf(digest: string): Promise<string | null> {
    const [row] = await this.#lookUp(() =>
      this.#database.query<{ name: string }>({
        name: 'credential',
        text: `select l.name from readback.credential c join readback.library l on l.id = c.library_id
               where c.digest = $1 and (c.expires_at is null or c.expires_at > clock_timestamp())`,
        values: [digest],
      }),
    );
    return row?.name ?? null;
  }

  /** The stored records of a library that this host has claimed. Call it before `save` can write them. */
  async serve(name: string, claim: Pick<Claim, 'library' | 'epoch'>): Promise<LibraryRecords> {
    const rows = await this.#database.query<{ kind: 'token' | 'session'; record: unknown }>({
      text: `select kind, record from readback.credential where library_id = $1 and kind <> 'code'`,
      values: [claim.library],
    });
    const of = (wanted: string) => rows.flatMap(({ kind, record }) => (kind === wanted ? [record] : []));
    const { tokens, sessions } = keptRecords.parse({ format: 1, tokens: of('token'), sessions: of('session') });
    const all: Kept[] = [...tokens, ...sessions];
    this.#served.set(name, { claim, stored: new Map(all.map((each) => [each.digest, JSON.stringify(each)])) });
    return { tokens, sessions };
  }

  leave(name: string): void {
    this.#served.delete(name);
  }

  /** Repeats failed writes of other libraries. Errors: DomainError `store_unavailable`; the database's. */
  async save({ tokens, sessions }: AccessRecords, library: string | null): Promise<void> {
    let failure = library === null || this.#served.has(library) ? null : servedElsewhere();
    for (const [name, served] of this.#served) {
      const now = new Map<string, { kind: string; text: string }>();
      for (const [kind, records] of [
        ['token', tokens],
        ['session', sessions],
      ] as const)
        for (const each of records)
          if (each.library === name) now.set(each.digest, { kind, text: JSON.stringify(each) });
      await this.#write(served, now).catch((error) => {
        if (library === null || name === library) failure ??= error;
      });
    }
    if (failure !== null) throw failure;
  }

  async #write({ claim, stored }: Served, now: ReadonlyMap<string, { kind: string; text: string }>): Promise<void> {
    const changed = [...now].filter(([digest, { text }]) => stored.get(digest) !== text);
    const gone = [...stored.keys()].filter((digest) => !now.has(digest));
    if (changed.length === 0 && gone.length === 0) return;
    const [{ count }] = await this.#database.query<{ count: number }>({
      text: `with mine as (
               select id from readback.library where id = $1 and epoch = $2 for share
             ), gone as (
               delete from readback.credential where digest = any($3::text[]) and library_id in (select id from mine)
             ), written as (
               insert into readback.credential (digest, library_id, kind, record)
               select row.digest, mine.id, row.kind, row.record::jsonb
               from mine, unnest($4::text[], $5::text[], $6::text[]) as row(digest, kind, record)
               on conflict (digest) do update set record = excluded.record where credential.library_id = excluded.library_id
             )
             select count(*) as count from mine`,
      values: [
        ...[claim.library, claim.epoch, gone],
        changed.map(([digest]) => digest),
        changed.map(([, { kind }]) => kind),
        changed.map(([, { text }]) => text),
      ],
    });
    if (count !== 1) throw servedElsewhere();
    for (const digest of gone) stored.delete(digest);
    for (const [digest, { text }] of changed) stored.set(digest, text);
  }

  /** Let every host find the library of a one-time code. Also deletes expired codes. */
  async shareCode(library: string, digest: string, validMs: number): Promise<void> {
    await this.#database.query({ text: `delete from readback.credential where expires_at < clock_timestamp()` });
    await this.#database.query({
      text: `insert into readback.credential (digest, library_id, kind, expires_at)
             select $2, id, 'code', clock_timestamp() + make_interval(secs => $3) from readback.library where name = $1 on conflict do nothing`,
      values: [library, digest, validMs / 1000],
    });
  }
}

const servedElsewhere = () =>
  new DomainError('store_unavailable', 'another host serves the library', { retryAfterS: 1 });
