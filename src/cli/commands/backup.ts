/** `readback backup` and `readback restore`. */
import { resolve } from 'node:path';
import { makeBackup, readBackup, restoreBackup } from '../../store/backup.ts';
import { type Context, tell } from '../context.ts';
import { bytesText, CliError, counted, type ExitCode, exitCodes } from '../output.ts';
import { refuseCopies, withOwnFolder } from '../stopped-folder.ts';

export async function backupCommand(context: Context, dir: string): Promise<ExitCode> {
  const { settings, terminal, now, version, url } = context;
  if (url !== undefined) throw new CliError(exitCodes.misuse, 'backups need the data folder: run it without --url');
  refuseCopies(context, 'a backup');
  const target = resolve(dir);
  terminal.progress(`copying ${settings.data_dir} …`);
  const manifest = await makeBackup({ dataDir: settings.data_dir, target, now, version });
  return tell(context, { dir: target, ...manifest }, ({ say }) => {
    say(`${counted(manifest.pages, 'page')}, ${bytesText(manifest.bytes)}, as of ${manifest.taken_at}`);
    say(`${target}: restore it with \`readback restore ${dir}\` on any machine`);
  });
}

export async function restoreCommand(context: Context, dir: string, args: { replace?: boolean }): Promise<ExitCode> {
  const { replace = false } = args;
  const { settings, now, newId } = context;
  const backup = resolve(dir);
  await readBackup(backup); // checked before the data folder is created
  const restored = await withOwnFolder(context, 'restore', ({ path }) =>
    restoreBackup({ backup, dataDir: path, replace, newStoreId: newId, now }),
  );
  const { pages, taken_at, keptAt, carriedRules, allRulesRead } = restored;
  return tell(context, { data_dir: settings.data_dir, ...restored }, ({ say, note }) => {
    say(`${counted(pages, 'page')} as of ${taken_at} in ${settings.data_dir}`);
    say('the next start rebuilds the index; nothing is embedded again');
    if (keptAt !== null) say(`the previous store is in ${keptAt}: delete it when no longer needed`);
    const newer = counted(carriedRules, 'blocked site');
    if (carriedRules > 0) say(`newer than the backup: ${newer}; the next start deletes their pages again`);
    if (!allRulesRead)
      note('some rules of the damaged store are unreadable: pages deleted after the backup may be back');
    if (keptAt === null) note('pages deleted elsewhere after the backup are back: delete them again');
  });
}
