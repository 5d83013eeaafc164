/** The `fsck` command: proves a data folder, and with `--repair` mends the store and builds faulty index files again. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SystemAsk } from '../actors/system/system-messages.ts';
import { startApp } from '../app.ts';
import { repairStore } from '../commands/repair-store.ts';
import { defaultLibrary } from '../domain/access.ts';
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
  say: (line: string) => void;
  newId: () => string;
  now: () => number;
}

/** Faults shown of each kind; the rest is counted. */
const shownFindings = 20;
/** Between two looks at the jobs that a repair has queued, ms. */
const pollMs = 200;

/** True when the folder is sound in the end. Errors: OperatorError `data_folder` while a service uses the folder, `store_damaged`. */
export async function runFsck({ settings, repair, say, newId, now }: FsckOptions): Promise<boolean> {
  const folder = openDataFolder(settings.data_dir, newId());
  try {
    await proveStore(folder.path, { beside: false, wasUsed: folder.wasUsed });
    const found = await checkFolder(folder.path);
    tell(found, say);
    if (isClean(found) || !repair) return isClean(found);
    await mendStore(folder, settings, { say, newId, now });
    for (const { dir } of found.index) {
      rmSync(join(folder.path, 'index', dir), { recursive: true, force: true });
      say(`index/${dir}: taken away, to be built again from the store`);
    }
  } finally {
    folder.release();
  }
  await rebuild(settings, say);
  const left = await checkFolder(settings.data_dir);
  tell(left, say);
  return isClean(left);
}

async function mendStore(folder: DataFolder, settings: Settings, tools: Pick<FsckOptions, 'say' | 'newId' | 'now'>) {
  const store = await Store.open(folder.path, tools.newId, { isFolderLost: folder.isLost, say: tools.say });
  try {
    const mended = await store.commit(repairStore({ at: tools.now(), max_attempts: settings.jobs.max_attempts }));
    tools.say(`store: ${JSON.stringify(mended)}`);
  } finally {
    await store.close();
  }
}

/** Run the service without a port until everything is in the index again. */
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

function tell(report: FolderReport, say: (line: string) => void): void {
  say(`${report.pages} pages, ${report.chunks} chunks`);
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
