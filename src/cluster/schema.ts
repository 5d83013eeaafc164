/** The cluster's tables and numbered migrations. A migration is one transaction under a lock. A host refuses tables of other versions. */
import { OperatorError } from '../domain/errors.ts';
import type { Database } from './database.ts';

const partitions = 16;

const everyPartition = (statementOf: (table: string, no: number) => string): string =>
  Array.from({ length: partitions }, (_, no) => statementOf(`readback.entry_${no}`, no)).join('\n');

const migrations: readonly string[] = [
  `create schema if not exists readback;
   create table readback.library (
     id bigint generated always as identity primary key,
     name text not null unique,
     state text not null default 'active' check (state in ('active', 'suspended')),
     format int not null default 0,
     epoch bigint not null default 0,
     run text not null default '',
     seq bigint not null default 0,
     keys bigint not null default 0,
     key_sum text not null default '0000000000000000',
     kept_from bigint not null default 0,
     owner text,
     address text,
     lease_until timestamptz,
     created_at timestamptz not null default now()
   );
   create table readback.takeover (
     library_id bigint not null references readback.library on delete cascade,
     epoch bigint not null,
     run text not null,
     seq bigint not null,
     primary key (library_id, epoch)
   );
   create table readback.entry (
     library_id bigint not null,
     database text collate "C" not null,
     key bytea not null,
     value bytea,
     seq bigint not null,
     primary key (library_id, database, key)
   ) partition by hash (library_id);
   ${everyPartition((table, no) => `create table ${table} partition of readback.entry for values with (modulus ${partitions}, remainder ${no});`)}
   create index entry_seq on readback.entry (library_id, seq);
   create index entry_deleted on readback.entry (library_id, seq) where value is null;
   create table readback.schema_version (version int not null);
   insert into readback.schema_version values (0);`,
  // Digests of tokens, sessions and one-time codes, by which any host finds a request's library.
  `create table readback.credential (
     digest text primary key,
     library_id bigint not null references readback.library on delete cascade,
     kind text not null check (kind in ('token', 'session', 'code')),
     record jsonb,
     expires_at timestamptz
   );
   create index credential_library on readback.credential (library_id);`,
  // When a library without a host must be opened: its next job or watch.
  `alter table readback.library add due_at timestamptz;
   create index library_due on readback.library (due_at) where due_at is not null;`,
  // LZ4 takes a third of the time of PostgreSQL's own compression, which stays if the server lacks LZ4.
  `do $$ begin
     ${everyPartition((table) => `alter table ${table} alter column value set compression lz4;`)}
   exception when feature_not_supported then null;
   end $$;`,
  // A library's maximum size; null for the host's settings.
  'alter table readback.library add max_bytes bigint check (max_bytes > 0);',
  // An interrupted import does not count as a library.
  `alter table readback.library drop constraint library_state_check;
   alter table readback.library add constraint library_state_check check (state in ('active', 'suspended', 'importing'));`,
];

export const schemaVersion = migrations.length;

async function versionOf(query: Database['query']): Promise<number> {
  const [{ there }] = await query<{ there: boolean }>({
    text: `select to_regclass('readback.schema_version') is not null as there`,
  });
  if (!there) return 0;
  const [{ version }] = await query<{ version: number }>({ text: 'select version from readback.schema_version' });
  return version;
}

/** Migrate to this version; returns the previous one. Errors: OperatorError `store_format` for newer tables; the server's. */
export function migrateSchema(database: Database): Promise<number> {
  return database.inTransaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(hashtext('readback schema'))` });
    const before = await versionOf(query);
    if (before > schemaVersion) throw wrongVersion(before);
    for (const statements of migrations.slice(before)) await query({ text: statements });
    if (before < schemaVersion)
      await query({ text: 'update readback.schema_version set version = $1', values: [schemaVersion] });
    return before;
  });
}

/** Errors: OperatorError `store_format` for tables of another version, or if the server may lose commits. */
export async function requireSchema(database: Database): Promise<void> {
  const version = await versionOf(database.query);
  if (version !== schemaVersion) throw wrongVersion(version);
  const [{ synchronous_commit }] = await database.query<{ synchronous_commit: string }>({
    text: 'show synchronous_commit',
  });
  if (synchronous_commit === 'off')
    throw new OperatorError(
      'store_format',
      'synchronous_commit of PostgreSQL is off, so acknowledged data could be lost; set it on for this role or database',
    );
}

function wrongVersion(version: number): OperatorError {
  const what = version === 0 ? 'has no tables of readback' : `has tables of version ${version}`;
  const remedy = version > schemaVersion ? 'this version of readback is too old for them' : 'they have to be migrated';
  return new OperatorError('store_format', `the cluster’s database ${what}, not of ${schemaVersion}: ${remedy}`);
}
