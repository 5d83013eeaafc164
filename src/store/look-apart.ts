/**
 * Looks into a store from a process of its own (`look-process.ts`), before this process maps its file: a damaged file is told by name then,
 * instead of ending whoever opens it, again at each start.
 */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ruleKind, ruleSettings } from '../domain/blacklist.ts';
import { OperatorError } from '../domain/errors.ts';
import { isSource, programFile } from '../files/program-files.ts';
import { faultOfStoreFile } from './inspect-file.ts';

/** `prove` opens the store as the service does, `prove-beside` for reading only, while another process may write; `open` only does that. */
export type LookTask = 'prove' | 'prove-beside' | 'rules' | 'open';

const storedRule = z.object({
  kind: ruleKind,
  pattern: z.string(),
  reason: z.string().nullable(),
  created_at: z.number(),
  canonicalized_by: z.array(ruleSettings).optional(),
});
/** A blacklist rule without what belongs to one store only. */
export type CarriedRule = z.infer<typeof storedRule>;

const lookLine = z.union([
  /** The database that is looked at from here on. */
  z.object({ at: z.string() }),
  z.object({ rule: storedRule }),
  z.object({ fault: z.string() }),
  z.object({ done: z.literal(true) }),
]);
export type LookLine = z.infer<typeof lookLine>;

/** Of a process that ends for a damaged store: another try will not do, whoever starts processes should know. */
export const damagedExitCode = 6;

/** The store's file is not what was written. */
function storeDamaged(storeDir: string, fault: string): OperatorError {
  const file = join(storeDir, 'data.mdb');
  const message = `the store's file ${file} is damaged: ${fault}. \`readback restore --replace\` puts a backup in its place`;
  return new OperatorError('store_damaged', message);
}

export interface ProveOptions {
  /** A process that may write has the store open, or nobody holds the folder's lock. */
  beside: boolean;
  /** Whether there once was a store, as far as is known from elsewhere: an empty file is a lost one then. */
  wasUsed: boolean;
}

/** A look that hangs is ended after this, ms: pages that point in a circle, a disk that does not answer. */
const maxTotalMs = 60_000;
const maxAnswerBytes = 2 ** 28;
/** Looks at a store that somebody may write to, until its fault is believed. */
const maxLooks = 3;
const betweenLooksMs = 200;

/**
 * Prove that the store below `dataDir` can be opened and its trees be read. Nothing is done where there is none, and never was.
 * Errors: OperatorError `store_damaged`, and `store_unwritable` for one that is sound and on a disk that does not take what opening writes.
 */
export async function proveStore(dataDir: string, options: ProveOptions): Promise<void> {
  const storeDir = join(dataDir, 'store');
  for (let looks = 1; ; looks++) {
    const fault = await faultOfStore(dataDir, storeDir, options);
    if (fault === null) return;
    // Whoever writes meanwhile may change what is looked at half way: real damage is still there at the next look.
    if (!options.beside || looks === maxLooks) throw storeDamaged(storeDir, fault);
    await delay(betweenLooksMs);
  }
}

async function faultOfStore(
  dataDir: string,
  storeDir: string,
  { beside, wasUsed }: ProveOptions,
): Promise<string | null> {
  const fault = faultOfStoreFile(storeDir, join(dataDir, 'index'));
  if (fault !== null) return fault;
  const size = statSync(join(storeDir, 'data.mdb'), { throwIfNoEntry: false })?.size;
  if (size === undefined || size === 0) {
    // LMDB's lock file is made with the data file, and nobody takes it away.
    const wasMade = size === 0 || existsSync(join(storeDir, 'lock.mdb'));
    if (!wasMade || !(wasUsed || beside)) return null;
    return size === 0 ? 'it is empty' : 'it is missing';
  }
  const { lines, end } = await look(beside ? 'prove-beside' : 'prove', storeDir);
  const last = lines.at(-1);
  if (last !== undefined && 'done' in last) return null;
  const place = lines.findLast((line) => 'at' in line)?.at;
  const why = last !== undefined && 'fault' in last ? last.fault : end;
  if (place !== undefined) return `reading its database \`${place}\` ended with ${why}`;
  if (!beside && (await look('prove-beside', storeDir)).lines.some((line) => 'done' in line)) {
    throw new OperatorError(
      'store_unwritable',
      `the store in ${storeDir} is sound and cannot be opened for writing: ${why}`,
    );
  }
  return `opening it ended with ${why}`;
}

/** The blacklist rules of the store in `storeDir`, and whether these are all: of a damaged one as many as can be read. */
export async function readRulesApart(storeDir: string): Promise<{ rules: CarriedRule[]; complete: boolean }> {
  const { lines } = await look('rules', storeDir);
  const rules = lines.flatMap((line) => ('rule' in line ? [line.rule] : []));
  return { rules, complete: lines.some((line) => 'done' in line) };
}

/** Have another process open the store in `storeDir`, while nothing is written: it says then which commit is the last (`Store.transact`). */
export async function openApart(storeDir: string): Promise<void> {
  await look('open', storeDir);
}

/** What the process said, and how it ended. */
function look(task: LookTask, storeDir: string): Promise<{ lines: LookLine[]; end: string }> {
  const entry = fileURLToPath(programFile('store/look-process'));
  const flags = isSource ? ['--import', import.meta.resolve('tsx')] : [];
  const options = { timeout: maxTotalMs, killSignal: 'SIGKILL', maxBuffer: maxAnswerBytes } as const;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...flags, entry, task, storeDir], options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code === 'string') return reject(error); // it could not be started
      const end =
        error?.killed === true
          ? `no end after ${maxTotalMs / 1000} s`
          : (error?.signal ?? `exit code ${error?.code ?? 0}`);
      const lines = stdout.split('\n').flatMap(lineOf);
      if (lines.length === 0 && stderr !== '' && error?.signal == null && error !== null) {
        return reject(new Error(`the store could not be looked at: ${stderr.slice(0, 2000)}`, { cause: error }));
      }
      resolve({ lines, end });
    });
  });
}

/** A line that a dying process left unfinished is none. */
function lineOf(text: string): LookLine[] {
  try {
    return [lookLine.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}
