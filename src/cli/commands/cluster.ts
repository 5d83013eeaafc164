/** `readback cluster` and `readback library`: administer libraries in PostgreSQL, without a service. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as administration from '../../cluster/administration.ts';
import { copyOut, sendRows } from '../../cluster/bring-up-copy.ts';
import { type Database, openDatabase } from '../../cluster/database.ts';
import { ClusterMember } from '../../cluster/member.ts';
import { migrateSchema, requireSchema, schemaVersion } from '../../cluster/schema.ts';
import { closing } from '../../compute/closing.ts';
import { libraryName, type Scope } from '../../domain/access.ts';
import { openDataFolder } from '../../store/data-folder.ts';
import { storeFormat } from '../../store/environment.ts';
import { LibraryCopy } from '../../store/library-copy.ts';
import { proveStore } from '../../store/look-apart.ts';
import { Store } from '../../store/store.ts';
import { type Context, tell } from '../context.ts';
import { bytesText, CliError, type ExitCode, exitCodes, table } from '../output.ts';

export type LibraryTask = 'new' | 'token' | 'move' | 'suspend' | 'resume' | 'quota' | 'delete' | 'export' | 'import';

export interface LibraryArguments {
  name?: string;
  scope?: Scope;
  dir?: string;
  yes?: boolean;
  maxBytes?: number | null;
}

const timeoutMs = 60_000;

export function clusterCommand(context: Context, what: 'migrate' | 'status'): Promise<ExitCode> {
  return withDatabase(context, async (database) => {
    if (what === 'migrate') {
      const before = await migrateSchema(database);
      const have = before === schemaVersion ? 'already have' : 'now have';
      return tell(context, { version: schemaVersion, before }, ({ say }) =>
        say(`the tables ${have} version ${schemaVersion}`),
      );
    }
    await requireSchema(database);
    const libraries = await administration.listLibraries(database);
    const rows = libraries.map(({ name, state, seq, bytes, max_bytes, address }) => [
      ...[name, state, String(seq), bytesText(bytes), max_bytes === null ? '-' : bytesText(max_bytes)],
      address ?? '-',
    ]);
    return tell(context, { libraries }, ({ say }) => {
      for (const line of table([['library', 'state', 'commits', 'size', 'quota', 'served by'], ...rows])) say(line);
    });
  });
}

export function libraryCommand(
  context: Context,
  task: LibraryTask,
  library: string,
  args: LibraryArguments = {},
): Promise<ExitCode> {
  const { terminal, now } = context;
  if (!libraryName.safeParse(library).success)
    throw new CliError(exitCodes.misuse, `${library}: names contain only a to z, 0 to 9, ., _ and -`);
  const { name = 'first', scope = 'write' } = args;
  return withDatabase(context, async (database) => {
    await requireSchema(database);
    const tellToken = async () => {
      const token = await administration.newToken(database, { library, name, scopes: [scope], now: now() });
      tell(context, { library, name, token }, ({ say }) => say(token));
      terminal.note(`token of ${library}, shown only once`);
    };
    if (task === 'delete' && args.yes !== true)
      throw new CliError(exitCodes.misuse, `pass --yes to delete ${library} with all its data`);
    await tasks[task](context, database, library, args);
    if (task === 'new' || task === 'token' || task === 'import') {
      await tellToken();
      return exitCodes.done;
    }
    return tell(context, { library, done: task }, ({ say }) => say(`${library}: ${task} is done`));
  });
}

type Task = (context: Context, database: Database, library: string, args: LibraryArguments) => Promise<void>;

const tasks: Record<LibraryTask, Task> = {
  new: (_, database, library) => administration.newLibrary(database, library),
  token: async () => {},
  import: (context, database, library, args) => importFolder(context, database, library, dirOf(args)),
  move: (_, database, library) => administration.releaseLibrary(database, library),
  suspend: (_, database, library) => administration.setState(database, library, 'suspended'),
  resume: (_, database, library) => administration.setState(database, library, 'active'),
  quota: (_, database, library, { maxBytes = null }) => administration.setQuota(database, library, maxBytes),
  delete: (_, database, library) => administration.deleteLibrary(database, library),
  export: (context, database, library, args) => exportFolder(context, database, library, dirOf(args)),
};

const dirOf = ({ dir = '' }: LibraryArguments): string => resolve(dir);

async function exportFolder(context: Context, database: Database, library: string, path: string): Promise<void> {
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new CliError(exitCodes.misuse, `${path} exists and is not empty`);
  const { newId: newStoreId, signal: ending } = context;
  using folder = openDataFolder(path, newStoreId());
  // The target folder gets a store only when the export is complete.
  const part = join(folder.path, 'export');
  try {
    mkdirSync(part);
    const found = await copyOut(library, { path: part, database, newStoreId, ending, log: logOf(context) });
    if (!found) throw new CliError(exitCodes.misuse, `no library ${library}`);
    // Opening it without a cluster turns the copy into an ordinary store.
    await (await Store.open(part, newStoreId)).close();
    renameSync(join(part, 'store'), join(path, 'store'));
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

async function importFolder(context: Context, database: Database, library: string, path: string): Promise<void> {
  const { newId: newStoreId, monotonic, settings } = context;
  if (!existsSync(join(path, 'store', 'data.mdb')))
    throw new CliError(exitCodes.misuse, `${path} is not a data folder: it has no store`);
  using folder = openDataFolder(path, newStoreId());
  await proveStore(folder.path, { isShared: false, wasUsed: true });
  await (await Store.open(path, newStoreId)).close(); // migrates it to the newest format
  await using member = closing(
    await ClusterMember.open({
      ...{ url: urlOf(context), address: 'http://none', leaseS: settings.cluster.lease_s, format: storeFormat },
      ...{ monotonic, log: logOf(context) },
    }),
  );
  await administration.newLibrary(database, library, 'importing');
  const claimed = await member.claim(library, 'importing');
  if (claimed === null) throw new CliError(exitCodes.failed, `another host has taken ${library}`);
  try {
    await using copy = closing(LibraryCopy.open(path, newStoreId));
    await sendRows({ copy, claim: claimed.claim, commits: claimed.commits, ending: context.signal });
    await administration.endImport(database, claimed.claim);
  } catch (error) {
    await administration.discardImport(database, claimed.claim);
    throw error;
  } finally {
    await claimed.release();
  }
}

const logOf = ({ terminal }: Context) => ({
  info: (_: object, message: string) => terminal.note(message),
  warn: (_: object, message: string) => terminal.note(message),
});

function urlOf({ settings }: Context): string {
  const { database_url } = settings.secrets.cluster;
  if (database_url === null) throw new CliError(exitCodes.misuse, 'set SERVICE_CLUSTER__DATABASE_URL');
  return database_url;
}

async function withDatabase(context: Context, use: (database: Database) => Promise<ExitCode>): Promise<ExitCode> {
  await using database = closing(await openDatabase({ url: urlOf(context), timeoutMs, log: logOf(context) }));
  return await use(database);
}
