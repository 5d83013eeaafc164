/** `readback backup` and `readback restore`. */
import { resolve } from 'node:path';
import { makeBackup, readBackup, restoreBackup } from '../../store/backup.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { counted } from '../page-lines.ts';
import { refuseCopies, withOwnFolder } from '../stopped-folder.ts';
import { bytesText } from '../terminal.ts';

/** Beside a running service or without one. */
export async function backupCommand(context: Context, dir: string): Promise<ExitCode> {
  const { settings, terminal, json, now, version, url } = context;
  if (url !== undefined)
    throw new CliError(exitCodes.misuse, 'a backup is made where the data folder is; not with --url');
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
    terminal.say('the next start builds the index from them; nothing is embedded again');
    if (restored.keptAt !== null) {
      terminal.say(`what was there before is in ${restored.keptAt}: delete it when it is not needed any more`);
    }
    if (restored.carriedRules > 0) {
      terminal.say(
        `newer than the backup: ${counted(restored.carriedRules, 'blacklist rule')}; the next start forgets again what matches`,
      );
    }
    if (!restored.allRulesRead) {
      terminal.note(
        'not all rules of the damaged store could be read: what was forgotten after the backup may be there again',
      );
    }
    if (restored.keptAt === null) {
      terminal.note('what was forgotten elsewhere after the backup was made is there again: forget it again');
    }
  }
  return exitCodes.done;
}
