/** Backups: folders with a compact snapshot (`store/data.mdb`) and `backup.json`, written last. No tokens, no index. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { closing } from '../compute/closing.ts';
import { parsedJson } from '../compute/structures/json-fields.ts';
import { errorCode, OperatorError } from '../domain/errors.ts';
import { sha256Of } from '../files/checked-file.ts';
import { replaceText, syncFolder } from '../files/durable-file.ts';
import { BlacklistTransactor } from './blacklist.ts';
import { Counters } from './counters.ts';
import {
  isReadableFormat,
  openEnvironment,
  openReadOnlyEnvironment,
  restampStore,
  storeFormat,
} from './environment.ts';
import { takeFolderLock } from './folder-lock.ts';
import { type CarriedRule, proveStore, readRulesApart } from './look-apart.ts';
import { PageReader } from './pages.ts';
import { copyInto, roomFor } from './replace-file.ts';
import { StoreView } from './store-view.ts';

const backupManifest = z.object({
  readback_backup: z.literal(1),
  store_format: z.int(),
  store_id: z.string(),
  /** Includes everything acknowledged before this time. */
  taken_at: z.iso.datetime(),
  made_by: z.string(),
  pages: z.int(),
  bytes: z.int(),
  sha256: z.string(),
});
export type BackupManifest = z.infer<typeof backupManifest>;

export const manifestName = 'backup.json';
const DATA = 'data.mdb';
/** The copy during a backup. Its name has no dot, as LMDB would take it for a file. */
const PARTIAL = 'store-partial';
const RESTORED = 'store-restored';
/** Max tries if a forget replaces the store's file during the copy. */
const maxTries = 5;

export interface BackupOptions {
  dataDir: string;
  target: string;
  now: () => number;
  version: string;
}

/**
 * Copy the store of a running or stopped service. A failed copy leaves no manifest.
 * Errors: OperatorError `backup` if the target is not an empty folder, `store_damaged`, `store_format`, `no_room`; file system errors.
 */
export async function makeBackup({ dataDir, target, now, version }: BackupOptions): Promise<BackupManifest> {
  requireEmpty(target);
  await proveStore(dataDir, { isShared: true, wasUsed: false });
  await StoreView.open(dataDir).close(); // if there is no store, do not create a folder
  mkdirSync(target, { recursive: true, mode: 0o700 });
  chmodSync(target, 0o700);
  return withBackupLock(target, () => copyStore({ dataDir, target, now, version }));
}

async function copyStore({ dataDir, target, now, version }: BackupOptions): Promise<BackupManifest> {
  const partial = join(target, PARTIAL);
  const dataFile = join(dataDir, 'store', DATA);
  for (let attempt = 1; ; attempt++) {
    const taken = now();
    const inode = statSync(dataFile, { throwIfNoEntry: false })?.ino;
    const view = StoreView.open(dataDir);
    try {
      roomFor(target, view.usedBytes());
      await copyInto(partial, (dir) => view.copyTo(dir));
    } finally {
      await view.close();
    }
    // Writes after the replacement went to the new file, so the copy may lack them.
    if (statSync(dataFile).ino !== inode && attempt < maxTries) continue;
    const { storeId, format, pages } = await lookInto(partial);
    const manifest: BackupManifest = {
      readback_backup: 1,
      store_format: format,
      store_id: storeId,
      taken_at: new Date(taken).toISOString(),
      made_by: `readback ${version}`,
      pages,
      bytes: statSync(join(partial, DATA)).size,
      sha256: await sha256Of(join(partial, DATA)),
    };
    renameSync(partial, join(target, 'store'));
    await replaceText(join(target, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
    return manifest;
  }
}

export interface RestoreOptions {
  backup: string;
  /** The caller has locked this folder. */
  dataDir: string;
  /** Replace an existing store. The old file is kept. */
  replace: boolean;
  newStoreId: () => string;
  now: () => number;
}

export interface Restored extends BackupManifest {
  keptAt: string | null;
  /** Blacklist rules taken over from the old store. The next start forgets matching pages. */
  carriedRules: number;
  /** False if the old store is damaged, so that rules may be missing. */
  allRulesRead: boolean;
}

/**
 * Restore a backup into a data folder. The store gets a new identity: labels and numbers assigned since the backup are assigned again,
 * so old index files must not be used. Readable blacklist rules of the replaced store are added, so what was forgotten since stays
 * forgotten. Nothing changes before the final rename.
 * Errors: OperatorError `backup` if it is incomplete, of another format, or a store exists; `no_room`; file system errors.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  return withBackupLock(options.backup, () => putInPlace(options));
}

async function putInPlace({ backup, dataDir, replace, newStoreId, now }: RestoreOptions): Promise<Restored> {
  const manifest = await readBackup(backup);
  const storeDir = join(dataDir, 'store');
  const live = join(storeDir, DATA);
  if (existsSync(live) && !replace) {
    throw new OperatorError('backup', `there is a store in ${dataDir}; use --replace to replace it with the backup`);
  }
  const restored = join(dataDir, RESTORED);
  roomFor(dataDir, manifest.bytes);
  await copyInto(restored, (dir) => copyFile(join(backup, 'store', DATA), join(dir, DATA)));
  if ((await sha256Of(join(restored, DATA))) !== manifest.sha256)
    throw new OperatorError('backup', 'the copy differs from the backup');
  const { rules, complete } = existsSync(live) ? await readRulesApart(storeDir) : { rules: [], complete: true };
  const carriedRules = await adoptStore(restored, newStoreId(), rules);
  rmSync(join(dataDir, 'index'), { recursive: true, force: true });
  mkdirSync(storeDir, { recursive: true, mode: 0o700 });
  let keptAt: string | null = null;
  if (existsSync(live)) {
    keptAt = join(dataDir, `before-restore-${new Date(now()).toISOString().replaceAll(':', '-')}`);
    mkdirSync(join(keptAt, 'store'), { recursive: true, mode: 0o700 });
    linkSync(live, join(keptAt, 'store', DATA));
  }
  rmSync(join(storeDir, 'lock.mdb'), { force: true });
  renameSync(join(restored, DATA), live);
  await syncFolder(storeDir);
  rmSync(restored, { recursive: true, force: true });
  return { ...manifest, keptAt, carriedRules, allRulesRead: complete };
}

/** Delete the copy of a killed restore, because it may contain data forgotten since the backup. */
export function clearInterruptedRestore(dataDir: string): void {
  rmSync(join(dataDir, RESTORED), { recursive: true, force: true });
}

async function adoptStore(dir: string, storeId: string, rules: readonly CarriedRule[]): Promise<number> {
  await restampStore(dir, storeId);
  await using environment = closing(openEnvironment(dir, () => storeId));
  const blacklist = new BlacklistTransactor(environment);
  const counters = new Counters(environment);
  const lacking = rules.filter(({ kind, pattern }) => blacklist.find(kind, pattern) === undefined);
  await environment.root.childTransaction(() => {
    for (const rule of lacking) blacklist.begin({ ...rule, no: counters.take('blacklist') });
  });
  await environment.root.flushed;
  return lacking.length;
}

/** Lock a backup against `removeBackup` during `work`. */
async function withBackupLock<Result>(backup: string, work: () => Promise<Result>): Promise<Result> {
  const lock = lockIfPossible(backup);
  try {
    return await work();
  } finally {
    if (lock !== null && 'release' in lock) {
      lock.release();
      for (const name of readdirSync(backup)) if (isLock(name)) rmSync(join(backup, name), { force: true });
    }
  }
}

const isLock = (name: string): boolean => name.startsWith('lock.');
/** Errors of file systems that are read-only or have no hard links (FAT, network drives). */
const withoutLock = new Set(['ENOENT', 'EROFS', 'EACCES', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function lockIfPossible(backup: string): ReturnType<typeof takeFolderLock> | null {
  try {
    return takeFolderLock(backup, randomUUID());
  } catch (error) {
    if (withoutLock.has(String(errorCode(error)))) return null;
    throw error;
  }
}

/** Delete a complete or unfinished backup. False if it is in use or contains other files. */
export async function removeBackup(backup: string): Promise<boolean> {
  const parts = [manifestName, 'store', PARTIAL];
  if (readdirSync(backup).some((name) => !parts.includes(name) && !isLock(name))) return false;
  const lock = lockIfPossible(backup);
  if (lock !== null && 'heldBy' in lock) return false;
  for (const part of parts) await rm(join(backup, part), { recursive: true, force: true }); // no backup any more
  await rm(backup, { recursive: true, force: true });
  return true;
}

/** The manifest of a backup, after comparing its file with the checksum. Errors: OperatorError `backup`. */
export async function readBackup(backup: string): Promise<BackupManifest> {
  const manifest = readManifest(backup);
  const file = join(backup, 'store', DATA);
  if ((await sha256Of(file)) !== manifest.sha256)
    throw new OperatorError('backup', `${file} is damaged: it has another checksum`);
  return manifest;
}

/** The manifest, without checking the file, which reads all of it. Errors: OperatorError `backup`. */
export function readManifest(backup: string): BackupManifest {
  const path = join(backup, manifestName);
  if (!existsSync(path))
    throw new OperatorError('backup', `${backup} is not a backup of readback: it has no ${manifestName}`);
  const parsed = backupManifest.safeParse(parsedJson(readFileSync(path, 'utf8')));
  if (!parsed.success) throw new OperatorError('backup', `${path} cannot be read: ${z.prettifyError(parsed.error)}`);
  const manifest = parsed.data;
  if (!isReadableFormat(manifest.store_format)) {
    throw new OperatorError(
      'backup',
      `the backup has store format ${manifest.store_format}, this version of readback reads format ${storeFormat}`,
    );
  }
  const file = join(backup, 'store', DATA);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== manifest.bytes) {
    throw new OperatorError('backup', `${file} has ${size ?? 'no'} bytes, the backup was made with ${manifest.bytes}`);
  }
  return manifest;
}

function requireEmpty(target: string): void {
  const entry = statSync(target, { throwIfNoEntry: false });
  if (entry === undefined) return;
  if (!entry.isDirectory()) throw new OperatorError('backup', `${target} is a file; a backup is a folder`);
  if (readdirSync(target).length > 0)
    throw new OperatorError('backup', `${target} is not empty; a backup goes into a new folder`);
}

async function lookInto(dir: string): Promise<{ storeId: string; format: number; pages: number }> {
  const environment = openReadOnlyEnvironment(dir);
  try {
    return { storeId: environment.storeId, format: environment.format, pages: new PageReader(environment).count() };
  } finally {
    await environment.root.close();
    rmSync(join(dir, 'lock.mdb'), { force: true });
  }
}
