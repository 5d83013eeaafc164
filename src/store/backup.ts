/**
 * Backups of the store: a folder of the user's own choice with `store/data.mdb`, a compact copy as of one moment, and `backup.json`,
 * which is written last: a folder without it is no backup. The index is not in it (it is made again from the store), nor are access tokens.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../domain/errors.ts';
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
import { type CarriedRule, proveStore, readRulesApart } from './look-apart.ts';
import { PageReader } from './pages.ts';
import { copyInto, roomFor } from './replace-file.ts';
import { StoreView } from './store-view.ts';

const backupManifest = z.object({
  readback_backup: z.literal(1),
  store_format: z.int(),
  store_id: z.string(),
  /** Everything that was acknowledged before this moment is in it. */
  taken_at: z.iso.datetime(),
  made_by: z.string(),
  pages: z.int(),
  bytes: z.int(),
  sha256: z.string(),
});
export type BackupManifest = z.infer<typeof backupManifest>;

const MANIFEST = 'backup.json';
const DATA = 'data.mdb';
/** In the data folder, where a restore makes its copy. */
const RESTORED = 'store-restored';
/** Copies tried when the store's file is replaced (after a forget) while it is copied. */
const maxTries = 5;

export interface BackupOptions {
  dataDir: string;
  target: string;
  now: () => number;
  version: string;
}

/**
 * Copy the store of a running or stopped service. Errors: OperatorError: `backup` where the target is not an empty folder, `store_damaged`,
 * `store_format`, `no_room`; those of the file system. What is left of a failed one has no manifest.
 */
export async function makeBackup({ dataDir, target, now, version }: BackupOptions): Promise<BackupManifest> {
  requireEmpty(target);
  await proveStore(dataDir, { beside: true, wasUsed: false });
  const partial = join(target, 'store-partial'); // no dot: LMDB takes such a path for a file
  const dataFile = join(dataDir, 'store', DATA);
  for (let attempt = 1; ; attempt++) {
    const taken = now();
    const inode = statSync(dataFile, { throwIfNoEntry: false })?.ino;
    const view = StoreView.open(dataDir);
    try {
      mkdirSync(target, { recursive: true, mode: 0o700 });
      chmodSync(target, 0o700);
      roomFor(target, view.usedBytes());
      await copyInto(partial, (dir) => view.copyTo(dir));
    } finally {
      await view.close();
    }
    // Writes that came after the file was replaced went to the new one: what was copied may lack them.
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
    await replaceText(join(target, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    return manifest;
  }
}

export interface RestoreOptions {
  backup: string;
  /** Its lock is held by the caller. */
  dataDir: string;
  /** Put the backup in the place of a store that is there; the old file is kept beside it. */
  replace: boolean;
  newStoreId: () => string;
  now: () => number;
}

export interface Restored extends BackupManifest {
  /** Where the store that was there is now. */
  keptAt: string | null;
  /** Its blacklist rules that the backup lacks: they stand in the restored store, and its next start forgets what matches them. */
  carriedRules: number;
  /** False where the store that was there is damaged, so that rules of it may be missing. */
  allRulesRead: boolean;
}

/**
 * Put a backup into a data folder. The restored store gets an identity of its own, because labels and numbers that were given since
 * the backup will be given again: no index file of the former history may be taken for one of this. What was forgotten since stays
 * forgotten: the rules of the store that was there are taken along, as far as they can be read. Until the renaming nothing has changed.
 * Errors: OperatorError: `backup` where it is no whole backup, of another format, or a store is there, `no_room`; those of the file system.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { backup, dataDir, replace, newStoreId, now } = options;
  const manifest = await readBackup(backup);
  const storeDir = join(dataDir, 'store');
  const live = join(storeDir, DATA);
  if (existsSync(live) && !replace) {
    throw new OperatorError('backup', `there is a store in ${dataDir}; use --replace to put the backup in its place`);
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

/** Delete the copy that a killed restore has left: it may hold what was forgotten since the backup. */
export function clearInterruptedRestore(dataDir: string): void {
  rmSync(join(dataDir, RESTORED), { recursive: true, force: true });
}

/** Give the copied store an identity of its own and the rules that it lacks, which its next start then carries out; tells how many. */
async function adoptStore(dir: string, storeId: string, rules: readonly CarriedRule[]): Promise<number> {
  await restampStore(dir, storeId);
  const environment = openEnvironment(dir, () => storeId);
  try {
    const blacklist = new BlacklistTransactor(environment);
    const counters = new Counters(environment);
    const lacking = rules.filter(({ kind, pattern }) => blacklist.find(kind, pattern) === undefined);
    await environment.root.childTransaction(() => {
      for (const rule of lacking) blacklist.begin({ ...rule, no: counters.take('blacklist') });
    });
    await environment.root.flushed;
    return lacking.length;
  } finally {
    await environment.close();
  }
}

/** The manifest of a whole backup. Errors: OperatorError `backup`. */
export async function readBackup(backup: string): Promise<BackupManifest> {
  const path = join(backup, MANIFEST);
  if (!existsSync(path)) throw new OperatorError('backup', `${backup} is no backup of readback: it has no ${MANIFEST}`);
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
  if ((await sha256Of(file)) !== manifest.sha256)
    throw new OperatorError('backup', `${file} is damaged: it has another checksum`);
  return manifest;
}

function requireEmpty(target: string): void {
  const entry = statSync(target, { throwIfNoEntry: false });
  if (entry === undefined) return;
  if (!entry.isDirectory()) throw new OperatorError('backup', `${target} is a file; a backup is a folder`);
  if (readdirSync(target).length > 0)
    throw new OperatorError('backup', `${target} is not empty; a backup goes into a new folder`);
}

/** Opens the copy as a start would. */
async function lookInto(dir: string): Promise<{ storeId: string; format: number; pages: number }> {
  mkdirSync(join(dir, 'look'), { mode: 0o700 });
  linkSync(join(dir, DATA), join(dir, 'look', DATA));
  const environment = openReadOnlyEnvironment(join(dir, 'look'));
  try {
    return { storeId: environment.storeId, format: environment.format, pages: new PageReader(environment).count() };
  } finally {
    await environment.root.close();
    rmSync(join(dir, 'look'), { recursive: true, force: true });
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the schema says so.
    return text;
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece);
  return hash.digest('hex');
}
