/** Backs up in a separate process, as a process must not open a store twice. Forgetting does not change backups. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { parsedJson } from '../compute/structures/json-fields.ts';
import type { BackupListResponse, BackupResponse, NewBackupResponse } from '../domain/admin.ts';
import { DomainError, errorCode, isOperatorError } from '../domain/errors.ts';
import { isoOf } from '../domain/values.ts';
import { programFile, startsSource } from '../files/program-files.ts';
import { runProgram } from '../providers/run-program.ts';
import { isClustered, libraryFolders } from '../settings/library-folders.ts';
import type { Settings } from '../settings/read-settings.ts';
import { type BackupManifest, manifestName, readManifest, removeBackup } from '../store/backup.ts';

const flags = startsSource ? ['--import', import.meta.resolve('tsx')] : [];
const maxListed = 100;
const maxOutputBytes = 64 * 1024;

export interface BackupsDependencies {
  storeBytes: (library: string) => Promise<number>;
  log: Pick<Logger, 'warn'>;
  now: () => number;
}

export function openBackups(settings: Settings, { storeBytes, log, now }: BackupsDependencies) {
  const { keep } = settings.backup;
  const { max_bytes } = settings.storage;
  const parent = resolve(settings.backup.dir ?? `${settings.data_dir}-backups`);
  const folders = libraryFolders(settings);
  const dirOf = (library: string) => (settings.libraries.dir === null ? parent : join(parent, library));
  const making = new Map<string, Promise<NewBackupResponse>>();
  const closing = new AbortController();

  const copy = async (path: string, dir: string): Promise<Backup> => {
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
    return { dir, manifest: readManifest(dir) };
  };

  const run = async (library: string): Promise<NewBackupResponse> => {
    const room = max_bytes === null ? Number.POSITIVE_INFINITY : max_bytes - (await storeBytes(library));
    const path = folders.get(library);
    if (path === undefined) throw new TypeError(`no library ${library}`);
    const dir = join(dirOf(library), isoOf(now()).replaceAll(':', '-'));
    await mkdir(dirOf(library), { recursive: true, mode: 0o700 });
    const made = await copy(path, dir).catch(async (error) => {
      await rm(dir, { recursive: true, force: true });
      throw error;
    });
    const { bytes } = made.manifest;
    if (bytes > room)
      log.warn({ library, bytes, room, max_bytes }, 'the store and its newest backup are more than storage.max_bytes');
    const removed: string[] = [];
    for (const old of oldBackups(backupsIn(dirOf(library), now()), made, { keep, room })) {
      try {
        if (await removeBackup(old)) removed.push(old);
      } catch (err) {
        log.warn({ err, dir: old }, 'an old backup could not be deleted');
      }
    }
    return { ...shownBackup(made), removed };
  };

  return {
    async make(library: string): Promise<NewBackupResponse> {
      if (isClustered(settings))
        throw new DomainError('conflict', 'libraries on PostgreSQL are backed up as its database is (docs/cluster.md)');
      if (making.has(library)) throw new DomainError('conflict', 'a backup is already running');
      const made = run(library).finally(() => making.delete(library));
      making.set(library, made);
      return made.catch((cause) => {
        if (cause instanceof DomainError) throw cause;
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new DomainError('store_unavailable', `the backup could not be made: ${reason}`, { cause });
      });
    },
    async list(library: string): Promise<BackupListResponse> {
      const dir = dirOf(library);
      const { whole } = backupsIn(dir, now());
      return { dir, backups: whole.slice(0, maxListed).map(shownBackup), running: making.has(library) };
    },
    async close() {
      closing.abort();
      await Promise.allSettled(making.values());
    },
  };
}

interface Backup {
  dir: string;
  manifest: BackupManifest;
}

function shownBackup({ dir, manifest: { taken_at, pages, bytes } }: Backup): BackupResponse {
  return { dir, taken_at, pages, bytes };
}

/** Newest first; those dated in the future (wrong clock) last. Unreadable ones are unfinished or of another version. */
function backupsIn(parent: string, now: number) {
  const whole: Backup[] = [];
  const unfinished: string[] = [];
  for (const name of namesIn(parent)) {
    const dir = join(parent, name);
    try {
      whole.push({ dir, manifest: readManifest(dir) });
    } catch (error) {
      if (!isOperatorError(error, 'backup') && errorCode(error) !== 'ENOENT') throw error;
      if (!existsSync(join(dir, manifestName))) unfinished.push(dir);
    }
  }
  const timeOf = ({ manifest }: Backup) => {
    const taken = Date.parse(manifest.taken_at);
    return taken > now ? 0 : taken;
  };
  return { whole: whole.sort((a, b) => timeOf(b) - timeOf(a)), unfinished };
}

/**
 * Backups to delete after `made`. Of its store: all except the newest `keep` that fit in `room` bytes together with
 * `made`. Also unfinished ones. Keeps those of other stores, which may share the folder.
 */
function oldBackups(
  { whole, unfinished }: ReturnType<typeof backupsIn>,
  made: Backup,
  { keep, room }: { keep: number; room: number },
) {
  const older = whole.filter(({ dir, manifest }) => dir !== made.dir && manifest.store_id === made.manifest.store_id);
  let bytes = made.manifest.bytes;
  const old = older.filter(({ manifest }, at) => {
    bytes += manifest.bytes;
    return at + 1 >= keep || bytes > room;
  });
  return [...old.map(({ dir }) => dir), ...unfinished];
}

const namesIn = (dir: string): string[] =>
  existsSync(dir) && statSync(dir).isDirectory()
    ? readdirSync(dir).filter((name) => /^\d{4}-\d\d-\d\dT/.test(name))
    : [];
