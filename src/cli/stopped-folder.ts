/** Locks the data folder for commands that need the service stopped. */
import { closing } from '../compute/closing.ts';
import { isOperatorError } from '../domain/errors.ts';
import { isClustered } from '../settings/library-folders.ts';
import { type DataFolder, openDataFolder, requireRoomToOpen } from '../store/data-folder.ts';
import { proveStore } from '../store/look-apart.ts';
import { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './output.ts';

/** Errors: CliError `inUse` while a service runs; `what` names the command. */
export async function withStoppedFolder<Result>(
  { settings, newId }: Pick<Context, 'settings' | 'newId'>,
  what: string,
  use: (folder: DataFolder) => Promise<Result>,
): Promise<Result> {
  using folder = stoppedFolder(settings.data_dir, newId(), what);
  return await use(folder);
}

function stoppedFolder(path: string, nonce: string, what: string): DataFolder {
  try {
    return openDataFolder(path, nonce);
  } catch (error) {
    if (!isOperatorError(error, 'data_folder') || !error.message.startsWith('another readback')) throw error;
    throw new CliError(exitCodes.inUse, `${error.message}\n${what} needs the service stopped: stop it and retry`, {
      cause: error,
    });
  }
}

/** For writing commands. Errors: CliError in a cluster, whose hosts discard changed copies. */
export function withOwnFolder<Result>(
  context: Pick<Context, 'settings' | 'newId'>,
  what: string,
  use: (folder: DataFolder) => Promise<Result>,
): Promise<Result> {
  refuseCopies(context, what);
  return withStoppedFolder(context, what, use);
}

/** Errors: CliError in a cluster: a host's folder contains copies, perhaps old ones. */
export function refuseCopies({ settings }: Pick<Context, 'settings'>, what: string): void {
  if (!isClustered(settings)) return;
  throw new CliError(
    exitCodes.misuse,
    `${what} does not work in a cluster, whose libraries are in PostgreSQL: start a host, or see \`readback library --help\``,
  );
}

/** The same with the folder's store, created if missing. Errors: also OperatorError. */
export function withStoppedStore<Result>(
  context: Pick<Context, 'settings' | 'newId' | 'terminal'>,
  what: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  return withOwnFolder(context, what, async ({ path, wasUsed, isLost }) => {
    requireRoomToOpen(path);
    await proveStore(path, { isShared: false, wasUsed });
    const { newId, terminal } = context;
    await using store = closing(await Store.open(path, newId, { isFolderLost: isLost, say: terminal.note }));
    return await use(store);
  });
}
