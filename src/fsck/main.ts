/**
 * The process of `npm run fsck`. The service must be stopped.
 * Exit codes: 0 sound · 1 not sound, or it could not be checked · 2 settings or arguments are wrong.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { errorMessage } from '../domain/error-message.ts';
import { settingsOfLibrary } from '../settings/library-folders.ts';
import { readSettings, SettingsError } from '../settings/read-settings.ts';
import { runFsck } from './run-fsck.ts';

const usage = `usage: npm run fsck [-- --repair] [--library NAME]

Proves that what a data folder (SERVICE_DATA_DIR) holds agrees one to one: pages, chunks, their labels and vectors, entities and
their merges, clusters, watches, jobs and the query log in the store, and the index files (postings, vectors of chunks and of
pages) against it. Nothing is changed without --repair. The service must be stopped.

  --repair   make lookups again from their rows, drop what belongs to nothing (texts, vectors, unreadable logged queries),
             count entities and clusters again, index damaged pages again, and build faulty index files again; then prove it
             all once more
  --library  which one, where there are several
  --help     print this

Exit codes: 0 sound, 1 not sound or not to be checked, 2 settings or arguments are wrong.`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { repair: { type: 'boolean' }, library: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const settings = settingsOfLibrary(readSettings(process.env), values.library);
  const options = { settings, repair: values.repair ?? false, say };
  return (await runFsck({ ...options, newId: randomUUID, now: Date.now })) ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const misuse = error instanceof SettingsError || (error instanceof TypeError && 'code' in error);
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = misuse ? 2 : 1;
}
