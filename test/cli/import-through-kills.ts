/** Imports a synthetic history, then bookmarks, into a stopped folder, killing each on the way, and counts what is there in the end. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { isOperatorError } from '../../src/domain/errors.ts';
import { openSource } from '../../src/importers/open-source.ts';
import { StoreView } from '../../src/store/store-view.ts';
import { syntheticHistory, urlOf, visitedAt, visitsOf, writeHistory } from '../importers/history-file.ts';
import { Cli } from './run-cli.ts';

const pollMs = 5;

interface KilledRuns {
  /** Items that each killed process had behind it, durably. */
  killedAfter: number[];
  /** Of the last, undisturbed run. */
  answer: { accepted: number; revisit: number; failed: number; items: number; finished: boolean };
  /** Of all runs. */
  seconds: number;
  /** The most memory of a process, MiB; null where the system does not report it. */
  peakMiB: number | null;
}

export interface KilledImport extends KilledRuns {
  urls: number;
  visits: number;
  bookmarks: KilledRuns | null;
  found: { pages: number; visits: number; jobs: number };
  /** Pages that are not as their number says: missing, other visits, other dates. */
  wrong: number[];
}

/** The import came to its end before it could be killed: this process was held up meanwhile. */
class TooLate extends Error {}

interface KillPlan {
  urls: number;
  /** Imported after the history, with one kill. */
  bookmarks?: number;
  kills: number;
  /** Gives the moments. */
  random: () => number;
}

/** Begins again in a folder of its own, five times at most, where a kill came too late. */
export async function importThroughKills(home: string, plan: KillPlan): Promise<KilledImport> {
  for (let attempt = 1; ; attempt++) {
    const own = join(home, `attempt-${attempt}`);
    mkdirSync(own);
    try {
      return await importAndKill(own, plan);
    } catch (error) {
      if (!(error instanceof TooLate) || attempt === 5) throw error;
    }
  }
}

async function importAndKill(home: string, { urls, bookmarks = 0, kills, random }: KillPlan): Promise<KilledImport> {
  const history = join(home, 'History');
  const written = writeHistory(history, syntheticHistory(urls));
  const list = join(home, 'bookmarks.html');
  writeFileSync(list, bookmarkFile(bookmarks));
  const ofHistory = await killedRuns(home, history, { items: written.visits, kills, random });
  const ofBookmarks = bookmarks === 0 ? null : await killedRuns(home, list, { items: bookmarks, kills: 1, random });
  return { ...written, ...ofHistory, bookmarks: ofBookmarks, ...(await countedIn(join(home, 'data'), urls)) };
}

const bookmarkFile = (count: number): string => {
  const links = Array.from(
    { length: count },
    (_, no) =>
      `<DT><A HREF="https://bookmark-${no % 997}.example/${no}" ADD_DATE="${1_600_000_000 + no}" TAGS="a,b">Bookmark ${no}</A>\n`,
  );
  return `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><H3>Folder</H3>\n<DL><p>\n${links.join('')}</DL><p>\n</DL><p>\n`;
};

interface RunsPlan extends Pick<KillPlan, 'kills' | 'random'> {
  items: number;
}

async function killedRuns(home: string, file: string, { items, kills, random }: RunsPlan): Promise<KilledRuns> {
  const { id } = await openSource(file, null);
  const cli = new Cli(home);
  const dataDir = join(home, 'data');
  const killedAfter: number[] = [];
  const began = performance.now();
  let peakMiB: number | null = null;
  const spawned = (args: string[]): ChildProcess => {
    const child = cli.spawn(args);
    const look = () => {
      peakMiB = Math.max(peakMiB ?? 0, peakOf(child.pid)) || null;
    };
    const timer = setInterval(look, 10 * pollMs);
    child.once('close', () => clearInterval(timer));
    return child;
  };
  for (let kill = 0; kill < kills; kill++) {
    const child = spawned(['import', file, '--offline']);
    const closed = once(child, 'close');
    // Beyond what is done already, so that each process gets on; well before the end, which it would otherwise reach first.
    const moment = Math.floor(((kill + random()) / kills) * items * 0.6);
    const goal = Math.max(moment, killedAfter.at(-1) ?? 0);
    for (;;) {
      if (child.exitCode !== null) throw new TooLate('the import ended before it was killed');
      if (child.signalCode !== null) throw new Error(`the import ended by ${child.signalCode}, which nobody sent`);
      if ((await itemsBehind(dataDir, id)) > goal) break;
      await delay(pollMs);
    }
    await delay(random() * 20);
    child.kill('SIGKILL');
    await closed;
    if (child.signalCode !== 'SIGKILL') throw new TooLate('the import ended before it was killed');
    killedAfter.push(await itemsBehind(dataDir, id));
  }
  const child = spawned(['--json', 'import', file, '--offline']);
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => text(stream ?? assert.fail()));
  await once(child, 'close');
  assert.equal(child.exitCode, 0, await stderr);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  return { killedAfter, answer: JSON.parse(await stdout), seconds, peakMiB };
}

/** Of a running process, MiB; 0 if it is not known. */
function peakOf(pid: number | undefined): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(path, 'utf8'))?.[1] ?? 0) / 1024);
}

async function itemsBehind(dataDir: string, id: string): Promise<number> {
  try {
    const view = StoreView.open(dataDir);
    try {
      return view.reader.imports.get(id)?.next ?? 0;
    } finally {
      await view.close();
    }
  } catch (error) {
    if (isOperatorError(error, 'store_format')) return 0; // not made yet, or not stamped
    // The last to close LMDB's lock file destroys its mutexes, and whoever waits for it finds them so until it is opened anew.
    if (error instanceof Error && error.message.startsWith('Invalid argument')) return 0;
    throw error;
  }
}

async function countedIn(dataDir: string, urls: number) {
  const view = StoreView.open(dataDir);
  try {
    const { pages, jobs } = view.reader;
    const wrong: number[] = [];
    let visits = 0;
    for (let no = 0; no < urls; no++) {
      const pageNo = pages.numberByUrl(urlOf(no));
      const page = pageNo === undefined ? undefined : pages.get(pageNo);
      visits += page?.visit_count ?? 0;
      const isRight =
        page?.visit_count === visitsOf(no) &&
        page.first_seen_at === visitedAt(no, 0) &&
        page.last_seen_at === visitedAt(no, visitsOf(no) - 1);
      if (!isRight) wrong.push(no);
      if (no % 5000 === 0) await delay(0);
    }
    return { found: { pages: pages.count(), visits, jobs: jobs.countByStatus('pending') }, wrong };
  } finally {
    await view.close();
  }
}
