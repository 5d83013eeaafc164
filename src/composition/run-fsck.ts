/** The `fsck` command: verifies a data folder, and with `--repair` repairs the store and rebuilds faulty index files. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SystemAsk } from '../actors/system/system-messages.ts';
import { startApp } from '../app.ts';
import { repairStore } from '../commands/repair-store.ts';
import { defaultLibrary } from '../domain/access.ts';
import { builtInModel } from '../domain/model.ts';
import { Encoder, EncoderUnusableError } from '../encoder/encoder.ts';
import { encoderDir } from '../encoder/encoder-files.ts';
import { openPageTools } from '../engine/prepare-page.ts';
import type { Settings } from '../settings/read-settings.ts';
import { type DataFolder, openDataFolder } from '../store/data-folder.ts';
import { proveStore } from '../store/look-apart.ts';
import { Store } from '../store/store.ts';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { checkFolder, type FolderReport, isClean } from './check-folder.ts';

export interface FsckOptions {
  settings: Settings;
  repair: boolean;
  full: boolean;
  seed: number;
  say: (line: string) => void;
  newId: () => string;
  now: () => number;
}

/** Faults shown of each kind; the rest is counted. */
const shownFindings = 20;
/** Sample size: a second or two. */
const samplePages = 500;
/** Vectors are made again and compared for so long, ms. */
const encodingMs = 20_000;
/** Between two looks at the jobs that a repair has queued, ms. */
const pollMs = 200;

/** True if the folder is sound in the end. Errors: OperatorError `data_folder` while a service uses the folder, `store_damaged`. */
export async function runFsck({ settings, repair, full, seed, say, newId, now }: FsckOptions): Promise<boolean> {
  const folder = openDataFolder(settings.data_dir, newId());
  const comparing = {
    sample: { seed, pages: full ? Number.POSITIVE_INFINITY : samplePages },
    tools: openPageTools(settings.chunking),
  };
  const log = { info: () => {}, warn: () => {} };
  const encoder = new Encoder({ dim: builtInModel.dim, dir: settings.encoder.dir ?? encoderDir, log });
  const encode = (texts: readonly string[]) => encoder.encode(texts, 'passage');
  const look = async (path: string) => {
    const endsAt = performance.now() + encodingMs;
    const texts = { encode, isOver: () => performance.now() > endsAt };
    const report = await checkFolder(path, { ...comparing, texts }).catch((error) => {
      if (!(error instanceof EncoderUnusableError)) throw error;
      say(`vectors are not compared with texts: ${error.message}`);
      return checkFolder(path, comparing);
    });
    tell(report, seed, say);
    return report;
  };
  try {
    try {
      await proveStore(folder.path, { isShared: false, wasUsed: folder.wasUsed });
      const found = await look(folder.path);
      if (isClean(found) || !repair) return isClean(found);
      await mendStore(folder, settings, found.compared?.changed, { say, newId, now });
      for (const { dir } of found.index) {
        rmSync(join(folder.path, 'index', dir), { recursive: true, force: true });
        say(`index/${dir}: taken away, to be built again from the store`);
      }
    } finally {
      folder.release();
    }
    await rebuild(settings, say);
    return isClean(await look(settings.data_dir));
  } finally {
    await encoder.close();
  }
}

async function mendStore(
  folder: DataFolder,
  settings: Settings,
  changed: ReadonlySet<number> | undefined,
  tools: Pick<FsckOptions, 'say' | 'newId' | 'now'>,
) {
  const store = await Store.open(folder.path, tools.newId, { isFolderLost: folder.isLost, say: tools.say });
  try {
    const policy = { at: tools.now(), max_attempts: settings.jobs.max_attempts };
    const mended = await store.commit(repairStore(policy, changed));
    tools.say(`store: ${JSON.stringify(mended)}`);
  } finally {
    await store.close();
  }
}

/** Run the service without a port until everything is indexed. */
async function rebuild(settings: Settings, say: (line: string) => void): Promise<void> {
  say('building what is missing …');
  const log = createLog(
    { ...settings.observability, log_level: 'warn' },
    { write: (line) => process.stderr.write(line) },
  );
  const app = await startApp({ settings, log, metrics: createMetrics() });
  const ask = app.askOf(defaultLibrary);
  try {
    await ask('index.settled', {});
    while (await hasIndexJobs(ask)) await delay(pollMs);
  } finally {
    await app.close();
  }
}

async function hasIndexJobs(ask: SystemAsk): Promise<boolean> {
  for (const status of ['pending', 'running'] as const) {
    const { jobs } = await ask('job.list', { status, kind: 'index_page', limit: 1 });
    if (jobs.length > 0) return true;
  }
  return false;
}

function tell(report: FolderReport, seed: number, say: (line: string) => void): void {
  say(`${report.pages} pages, ${report.chunks} chunks`);
  const { compared } = report;
  if (compared !== undefined) {
    const which = compared.pages < compared.of ? ` (--seed ${seed}; --full: all)` : '';
    say(
      `${compared.pages} pages compared with their chunks and words, ${compared.vectors} vectors with their texts${which}`,
    );
    if (compared.ofEarlierVersions > 0)
      say(`an earlier version indexed ${compared.ofEarlierVersions} of them: their words were not compared`);
  }
  const kinds = [
    ['store', report.store] as const,
    ...report.index.map((each) => [`index/${each.dir}`, each.findings] as const),
  ];
  for (const [where, findings] of kinds) {
    for (const finding of findings.slice(0, shownFindings)) say(`${where}: ${finding}`);
    if (findings.length > shownFindings) say(`${where}: and ${findings.length - shownFindings} more`);
  }
  if (report.missing > 0)
    say(`${report.missing} entries are not in the index files yet: the next start brings them in`);
  if (report.waiting > 0) say(`${report.waiting} pages wait for vectors of a model: its backfill makes them`);
  if (report.refused > 0) say(`${report.refused} chunks have no vector of a model: its provider refuses them`);
  say(isClean(report) ? 'sound' : 'not sound');
}
