/** Checks a store in a separate process (`look-process.ts`), so that damage is an error, not a crash at every start. */
import { execFile } from 'node:child_process';
import { existsSync, fstatSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ruleKind, ruleSettings } from '../domain/blacklist.ts';
import { OperatorError } from '../domain/errors.ts';
import { openedFile } from '../files/checked-file.ts';
import { programFile, startsSource } from '../files/program-files.ts';

/** `prove` opens it like the service, `prove-shared` read-only next to a writer; `rules` reads blacklist rules. */
export type LookTask = 'prove' | 'prove-shared' | 'rules' | 'open';

const storedRule = z.object({
  kind: ruleKind,
  pattern: z.string(),
  reason: z.string().nullable(),
  created_at: z.number(),
  canonicalized_by: z.array(ruleSettings).optional(),
});
export type CarriedRule = z.infer<typeof storedRule>;

const lookLine = z.union([
  /** The database that is read from here on. */
  z.object({ at: z.string() }),
  z.object({ rule: storedRule }),
  z.object({ fault: z.string() }),
  z.object({ done: z.literal(true) }),
]);
export type LookLine = z.infer<typeof lookLine>;

/** Exit code for a damaged store. A supervisor should not restart the service. */
export const damagedExitCode = 6;

function storeDamaged(storeDir: string, fault: string): OperatorError {
  const file = join(storeDir, 'data.mdb');
  const message = `the store's file ${file} is damaged: ${fault}. \`readback restore --replace\` replaces it with a backup`;
  return new OperatorError('store_damaged', message);
}

interface ProveOptions {
  /** Another process may write to the store, or the folder is not locked. */
  isShared: boolean;
  /** Whether a store is known to have existed. Then an empty file means a loss. */
  wasUsed: boolean;
}

/** Time limit for a check that hangs, ms: circular pages, a dead disk. */
const maxTotalMs = 60_000;
const maxAnswerBytes = 2 ** 28;
/** Max checks of a store with a concurrent writer. A fault counts only if every check finds it. */
const maxLooks = 3;
const betweenLooksMs = 200;

/**
 * Check that the store below `dataDir` can be opened and its trees read. Does nothing if there never was one.
 * Errors: OperatorError `store_damaged`; `store_unwritable` for a sound store on a disk that refuses the writes of opening.
 */
export async function proveStore(dataDir: string, options: ProveOptions): Promise<void> {
  const storeDir = join(dataDir, 'store');
  for (let looks = 1; ; looks++) {
    const fault = await faultOfStore(dataDir, storeDir, options);
    if (fault === null) return;
    // A concurrent writer may change pages during the check. Real damage persists.
    if (!options.isShared || looks === maxLooks) throw storeDamaged(storeDir, fault);
    await delay(betweenLooksMs);
  }
}

async function faultOfStore(
  dataDir: string,
  storeDir: string,
  { isShared, wasUsed }: ProveOptions,
): Promise<string | null> {
  const fault = faultOfStoreFile(storeDir, join(dataDir, 'index'));
  if (fault !== null) return fault;
  const size = statSync(join(storeDir, 'data.mdb'), { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) {
    // LMDB creates its lock file together with the data file and never deletes it.
    const wasMade = size === 0 || existsSync(join(storeDir, 'lock.mdb'));
    if (!wasMade || !(wasUsed || isShared)) return null;
    return size === 0 ? 'it is empty' : 'it is missing';
  }
  const { lines, end } = await look(isShared ? 'prove-shared' : 'prove', storeDir);
  const last = lines.at(-1);
  if (last !== undefined && 'done' in last) return null;
  const place = lines.findLast((line) => 'at' in line)?.at;
  const why = last !== undefined && 'fault' in last ? last.fault : end;
  if (place !== undefined) return `reading its database \`${place}\` ended with ${why}`;
  if (!isShared && (await look('prove-shared', storeDir)).lines.some((line) => 'done' in line)) {
    throw new OperatorError(
      'store_unwritable',
      `the store in ${storeDir} is intact but cannot be opened for writing: ${why}`,
    );
  }
  return `opening it ended with ${why}`;
}

/** `complete` is false for a damaged store, of which only the readable rules are returned. */
export async function readRulesApart(storeDir: string): Promise<{ rules: CarriedRule[]; complete: boolean }> {
  const { lines } = await look('rules', storeDir);
  const rules = lines.flatMap((line) => ('rule' in line ? [line.rule] : []));
  return { rules, complete: lines.some((line) => 'done' in line) };
}

/** Have another process open the store while nothing is written. It then reports the last commit (`Store.transact`). */
export async function openApart(storeDir: string): Promise<void> {
  await look('open', storeDir);
}

function look(task: LookTask, storeDir: string): Promise<{ lines: LookLine[]; end: string }> {
  const entry = fileURLToPath(programFile('store/look-process'));
  const flags = startsSource ? ['--import', import.meta.resolve('tsx')] : [];
  const options = { timeout: maxTotalMs, killSignal: 'SIGKILL', maxBuffer: maxAnswerBytes } as const;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...flags, entry, task, storeDir], options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code === 'string') return reject(error); // the process could not be started
      const end =
        error?.killed === true
          ? `no end after ${maxTotalMs / 1000} s`
          : (error?.signal ?? `exit code ${error?.code ?? 0}`);
      const lines = stdout.split('\n').flatMap(lineOf);
      if (lines.length === 0 && stderr !== '' && error?.signal == null && error !== null) {
        return reject(new Error(`the store could not be checked: ${stderr.slice(0, 2000)}`, { cause: error }));
      }
      resolve({ lines, end });
    });
  });
}

/** Ignores an unfinished line of a dying process. */
function lineOf(text: string): LookLine[] {
  try {
    return [lookLine.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}

/*
 * Checks a store's file before LMDB maps it: LMDB trusts the content, and an invalid file ends the process. Reads two pages;
 * look-apart.ts detects damage further inside.
 *
 * Layout (lmdb 0.9.90 of the package `lmdb`, 64 bits, little-endian): pages 0 and 1 are meta pages; after a page header of 24 bytes
 * follow magic, version, address, map size, two databases of 48 bytes (the first field of the first is the page size; the last field is
 * the root page number), last page, transaction number.
 */

const MAGIC = 0xbeefc0de;
const at = { magic: 24, pageSize: 48, roots: [88, 136], commit: 152 } as const;
const metaBytes = 160;
const noPage = 0xffff_ffff_ffff_ffffn;

/** Why the store's file cannot be opened; null if it can or no store ever existed. `indexDir`: contains index files only if a store existed. */
function faultOfStoreFile(path: string, indexDir: string): string | null {
  const dataFile = join(path, 'data.mdb');
  const isThere = existsSync(dataFile);
  using file = isThere ? openedFile(dataFile, 'r') : null;
  if (file === null || fstatSync(file.descriptor).size === 0) {
    const wasThere = existsSync(join(indexDir, 'sparse', 'manifest.json'));
    return wasThere ? `it is ${isThere ? 'empty' : 'missing'}, although index files of it exist` : null;
  }
  return faultOfStates(file.descriptor);
}

/** A file that another process is just creating is empty at first. */
export function isBegun(dataFile: string): boolean {
  using file = openedFile(dataFile, 'r');
  const first = stateAt(file.descriptor, 0);
  return first !== null && stateAt(file.descriptor, first.readUInt32LE(at.pageSize)) !== null;
}

function faultOfStates(file: number): string | null {
  const first = stateAt(file, 0);
  if (first === null) return 'it is not a store, or its beginning is damaged';
  const pageSize = first.readUInt32LE(at.pageSize);
  const second = stateAt(file, pageSize);
  if (second === null) return 'its beginning is damaged';
  const isNewer = second.readBigUInt64LE(at.commit) > first.readBigUInt64LE(at.commit);
  const latest = isNewer ? second : first;
  const bytes = fstatSync(file).size; // read last: a writer makes the file longer before it names a new state
  for (const place of at.roots) {
    const root = latest.readBigUInt64LE(place);
    if (root !== noPage && (root + 1n) * BigInt(pageSize) > BigInt(bytes))
      return `it ends after ${bytes} bytes, too early`;
  }
  return null;
}

function stateAt(file: number, offset: number): Buffer | null {
  const state = Buffer.alloc(metaBytes);
  const read = readSync(file, state, 0, metaBytes, offset);
  return read === metaBytes && state.readUInt32LE(at.magic) === MAGIC ? state : null;
}
