import { randomBytes } from 'node:crypto';
import { hexOf } from '../access/access.ts';
import type { KeptToken } from '../access/access-file.ts';
import type { Scope } from '../domain/access.ts';
import { OperatorError } from '../domain/errors.ts';
import type { Claim, Database, LibraryRowState } from './database.ts';

export interface LibrarySummary {
  name: string;
  state: LibraryRowState;
  /** Address of the serving host; null if none serves it. */
  address: string | null;
  epoch: number;
  seq: number;
  keys: number;
  bytes: number;
  /** Quota of the library; null: the host's settings apply. */
  max_bytes: number | null;
}

export function listLibraries(database: Database): Promise<LibrarySummary[]> {
  return database.query<LibrarySummary>({
    text: `select l.name, l.state, case when l.lease_until > clock_timestamp() then l.address end as address, l.epoch, l.seq, l.keys, l.max_bytes,
             (select coalesce(sum(octet_length(key) + octet_length(value)), 0)::bigint from readback.entry e where e.library_id = l.id) as bytes
           from readback.library l order by l.name`,
  });
}

/** Replaces an unfinished import. Errors: OperatorError `cluster` for an existing name. */
export async function newLibrary(
  database: Database,
  name: string,
  state: Exclude<LibraryRowState, 'suspended'> = 'active',
): Promise<void> {
  await database.inTransaction(async (query) => {
    const [left] = await query<{ id: number }>({
      text: `delete from readback.library where name = $1 and state = 'importing'
               and (lease_until is null or lease_until < clock_timestamp()) returning id`,
      values: [name],
    });
    if (left !== undefined) await deleteRows(query, left.id);
  });
  const rows = await database.query({
    text: 'insert into readback.library (name, state) values ($1, $2) on conflict do nothing returning id',
    values: [name, state],
  });
  if (rows.length === 0) throw new OperatorError('cluster', `there is a library ${name} already`);
}

/** Returns the token, shown only once. Releases the library, because hosts read tokens only when they open it. */
export async function newToken(
  database: Database,
  { library, name, scopes, now }: { library: string; name: string; scopes: Scope[]; now: number },
): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  const digest = hexOf(secret);
  const id = `tk_${randomBytes(8).toString('hex')}`;
  const effective: Scope[] = scopes.includes('write') ? ['read', 'write'] : ['read'];
  const record: KeptToken = {
    ...{ id, library, name, digest, scopes: effective, source: 'created', origin: null, created_at: now },
    last_used_at: null,
  };
  await database.inTransaction(async (query) => {
    const id = await take(query, library);
    await query({
      text: `insert into readback.credential (digest, library_id, kind, record) values ($1, $2, 'token', $3)`,
      values: [digest, id, JSON.stringify(record)],
    });
  });
  return secret;
}

/** `suspended`: no host serves it. Errors: OperatorError `cluster` for an unfinished import. */
export async function setState(database: Database, name: string, state: 'active' | 'suspended'): Promise<void> {
  await database.inTransaction(async (query) => {
    const id = await take(query, name);
    await query({ text: 'update readback.library set state = $2 where id = $1', values: [id, state] });
  });
}

/** End the import: hosts may serve the library. Errors: OperatorError `cluster` if it was deleted or taken. */
export async function endImport(database: Database, claim: Pick<Claim, 'library' | 'epoch'>): Promise<void> {
  const ended = await database.query({
    text: `update readback.library set state = 'active' where id = $1 and epoch = $2 and state = 'importing' returning id`,
    values: [claim.library, claim.epoch],
  });
  if (ended.length === 0)
    throw new OperatorError('cluster', 'the library was deleted or imported by another process meanwhile');
}

/** Deletes the rows of an import, unless another has replaced it. */
export async function discardImport(database: Database, claim: Pick<Claim, 'library' | 'epoch'>): Promise<void> {
  await database.inTransaction(async (query) => {
    const [gone] = await query<{ id: number }>({
      text: `delete from readback.library where id = $1 and epoch = $2 and state = 'importing' returning id`,
      values: [claim.library, claim.epoch],
    });
    if (gone !== undefined) await deleteRows(query, gone.id);
  });
}

/** Sets a quota in bytes of the store, or none. Releases the library, as hosts read quotas on opening it. */
export async function setQuota(database: Database, name: string, maxBytes: number | null): Promise<void> {
  await database.inTransaction(async (query) => {
    const id = await take(query, name);
    await query({ text: 'update readback.library set max_bytes = $2 where id = $1', values: [id, maxBytes] });
  });
}

/** Takes a library from its host. The next host that gets a request for it serves it. */
export async function releaseLibrary(database: Database, name: string): Promise<void> {
  await database.inTransaction((query) => take(query, name));
}

export async function deleteLibrary(database: Database, name: string): Promise<void> {
  await database.inTransaction(async (query) => {
    const id = await take(query, name, 'all of it');
    await deleteRows(query, id);
    await query({ text: 'delete from readback.library where id = $1', values: [id] });
  });
}

/** The host stops committing at its next renewal. Errors: OperatorError `cluster`: unknown or incomplete library. */
async function take(
  query: Database['query'],
  name: string,
  what: 'all of it' | 'a whole one' = 'a whole one',
): Promise<number> {
  const [row] = await query<{ id: number; state: LibraryRowState }>({
    text: 'update readback.library set owner = null, address = null, lease_until = null where name = $1 returning id, state',
    values: [name],
  });
  if (row === undefined) throw new OperatorError('cluster', `there is no library ${name}`);
  if (row.state === 'importing' && what === 'a whole one') throw unfinished(name); // the transaction rolls back
  return row.id;
}

const deleteRows = (query: Database['query'], id: number) =>
  query({ text: 'delete from readback.entry where library_id = $1', values: [id] });

export const unfinished = (name: string) =>
  new OperatorError('cluster', `the import of ${name} has not ended: wait for it, import it again, or delete it`);
