/** For commands that need the service stopped: takes the data folder's lock, or says who has it. */
import { isOperatorError } from '../domain/errors.ts';
import { isClustered } from '../settings/library-folders.ts';
import { type DataFolder, openDataFolder } from '../store/data-folder.ts';
import { proveStore } from '../store/look-apart.ts';
import { requireRoomToOpen } from '../store/room-to-open.ts';
import { Store } from '../store/store.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Context } from './context.ts';

/** Errors: CliError with `inUse` while a service runs; `what` is the command in words. */
export async function withStoppedFolder<Result>(
  { settings, newId }: Pick<Context, 'settings' | 'newId'>,
  what: string,
  use: (folder: DataFolder) => Promise<Result>,
): Promise<Result> {
  let folder: DataFolder;
  try {
    folder = openDataFolder(settings.data_dir, newId());
  } catch (error) {
    if (!isOperatorError(error, 'data_folder') || !error.message.startsWith('another readback')) throw error;
    throw new CliError(exitCodes.inUse, `${error.message}\n${what} needs the service stopped: stop it and try again`, {
      cause: error,
    });
  }
  try {
    return await use(folder);
  } finally {
    folder.release();
  }
}

/** The same for what writes. Errors: CliError in a cluster, whose libraries are in PostgreSQL: a host throws the written copy away. */
export function withOwnFolder<Result>(
  context: Pick<Context, 'settings' | 'newId'>,
  what: string,
  use: (folder: DataFolder) => Promise<Result>,
): Promise<Result> {
  refuseCopies(context, what);
  return withStoppedFolder(context, what, use);
}

/** Errors: CliError in a cluster: what is in a host's folder are copies, older ones perhaps. */
export function refuseCopies({ settings }: Pick<Context, 'settings'>, what: string): void {
  if (!isClustered(settings)) return;
  throw new CliError(
    exitCodes.misuse,
    `${what} is not for a cluster, whose libraries are in PostgreSQL: start a host, or see \`readback library --help\``,
  );
}

/** The same with the folder's store, made if need be. Errors: OperatorError, too. */
export function withStoppedStore<Result>(
  context: Pick<Context, 'settings' | 'newId' | 'terminal'>,
  what: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  return withOwnFolder(context, what, async ({ path, wasUsed, isLost }) => {
    requireRoomToOpen(path);
    await proveStore(path, { beside: false, wasUsed });
    const store = await Store.open(path, context.newId, { isFolderLost: isLost, say: context.terminal.note });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  });
}
