/**
 * Backups that somebody asks the running service for: `readback backup` in a process of its own, as a person would run it beside the service,
 * since a store must not be opened twice in one process. They lie outside the data folder, where forgetting does not reach: docs/forgetting.md.
 */
import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsedJson } from '../compute/structures/json-fields.ts';
import type { BackupResponse } from '../domain/backup.ts';
import { errorCode } from '../domain/error-code.ts';
import { DomainError } from '../domain/errors.ts';
import { isoOf } from '../domain/ids.ts';
import { isSource, programFile } from '../files/program-files.ts';
import type { BackupMaker } from '../http/http-app.ts';
import { runProgram } from '../providers/run-program.ts';
import { isClustered, libraryFolders } from '../settings/library-folders.ts';
import type { Settings } from '../settings/read-settings.ts';
import { readBackup } from '../store/backup.ts';

export interface Backups extends BackupMaker {
  /** Gives up what is being made. */
  close(): Promise<void>;
}

const flags = isSource ? ['--import', import.meta.resolve('tsx')] : [];
const mostListed = 100;
const maxOutputBytes = 64 * 1024;

export function openBackups(settings: Settings, now: () => number): Backups {
  const parent = resolve(settings.backup.dir ?? `${settings.data_dir}-backups`);
  const folders = libraryFolders(settings);
  const dirOf = (library: string) => (settings.libraries.dir === null ? parent : join(parent, library));
  const making = new Map<string, Promise<BackupResponse>>();
  const closing = new AbortController();

  const run = async (library: string): Promise<BackupResponse> => {
    const path = folders.get(library);
    if (path === undefined) throw new TypeError(`there is no library ${library}`);
    const dir = join(dirOf(library), isoOf(now()).replaceAll(':', '-'));
    await mkdir(dirOf(library), { recursive: true, mode: 0o700 });
    const { output, ended } = await runProgram({
      program: process.execPath,
      args: [...flags, fileURLToPath(programFile('cli/main')), '--json', 'backup', dir],
      env: { SERVICE_DATA_DIR: path },
      cwd: parent,
      maxOutputBytes,
      signal: closing.signal,
    });
    const said = parsedJson(new TextDecoder().decode(output)) as { error?: string } | null;
    if (ended !== 0) throw new Error(said?.error ?? `the backup ended with ${ended}`);
    return shownBackup(dir, await readBackup(dir));
  };

  return {
    async make(library) {
      if (isClustered(settings))
        throw new DomainError('conflict', 'libraries on PostgreSQL are backed up as its database is (docs/cluster.md)');
      if (making.has(library)) throw new DomainError('conflict', 'a backup is being made already');
      const made = run(library).finally(() => making.delete(library));
      making.set(library, made);
      return made.catch((cause) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new DomainError('store_unavailable', `the backup could not be made: ${reason}`, { cause });
      });
    },
    async list(library) {
      const dir = dirOf(library);
      const names = namesIn(dir).sort().reverse().slice(0, mostListed);
      const read = await Promise.allSettled(
        names.map(async (name) => shownBackup(join(dir, name), await readBackup(join(dir, name)))),
      );
      // One without its manifest was not finished, and is none.
      const backups = read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      return { dir, backups, running: making.has(library) };
    },
    async close() {
      closing.abort();
      await Promise.allSettled(making.values());
    },
  };
}

function shownBackup(dir: string, { taken_at, pages, bytes }: Awaited<ReturnType<typeof readBackup>>): BackupResponse {
  return { dir, taken_at, pages, bytes };
}

/** Folders named for a moment; none where nothing was ever made. */
function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).filter((name) => /^\d{4}-\d\d-\d\dT/.test(name));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String(errorCode(error)))) return [];
    throw error;
  }
}
