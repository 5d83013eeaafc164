/** `readback backup` and `readback restore`. */
import { resolve } from 'node:path';
import { makeBackup, readBackup, restoreBackup } from '../../store/backup.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { refuseCopies, withOwnFolder } from '../stopped-folder.ts';
import { bytesText, counted } from '../terminal.ts';

export async function backupCommand(context: Context, dir: string): Promise<ExitCode> {
  const { settings, terminal, json, now, version, url } = context;
  if (url !== undefined) throw new CliError(exitCodes.misuse, 'backups need the data folder: run it without --url');
  refuseCopies(context, 'a backup');
  const target = resolve(dir);
  terminal.progress(`copying ${settings.data_dir} …`);
  const manifest = await makeBackup({ dataDir: settings.data_dir, target, now, version });
  if (json) terminal.json({ dir: target, ...manifest });
  else {
    terminal.say(`${counted(manifest.pages, 'page')}, ${bytesText(manifest.bytes)}, as of ${manifest.taken_at}`);
    terminal.say(`${target}: restore it with \`readback restore ${dir}\` on any machine`);
  }
  return exitCodes.done;
}

export interface RestoreArguments {
  replace: boolean;
}

export async function restoreCommand(context: Context, dir: string, { replace }: RestoreArguments): Promise<ExitCode> {
  const { settings, terminal, json, now, newId } = context;
  const backup = resolve(dir);
  await readBackup(backup); // before the data folder is made
  const restored = await withOwnFolder(context, 'restore', ({ path }) =>
    restoreBackup({ backup, dataDir: path, replace, newStoreId: newId, now }),
  );
  if (json) terminal.json({ data_dir: settings.data_dir, ...restored });
  else {
    terminal.say(`${counted(restored.pages, 'page')} as of ${restored.taken_at} in ${settings.data_dir}`);
    terminal.say('the next start rebuilds the index; nothing is embedded again');
    if (restored.keptAt !== null) {
      terminal.say(`the previous store is in ${restored.keptAt}: delete it when no longer needed`);
    }
    if (restored.carriedRules > 0) {
      terminal.say(
        `newer than the backup: ${counted(restored.carriedRules, 'blocked site')}; the next start deletes their pages again`,
      );
    }
    if (!restored.allRulesRead) {
      terminal.note('some rules of the damaged store are unreadable: pages deleted after the backup may be back');
    }
    if (restored.keptAt === null) {
      terminal.note('pages deleted elsewhere after the backup are back: delete them again');
    }
  }
  return exitCodes.done;
}
