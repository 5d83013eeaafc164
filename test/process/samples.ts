/** What a process takes, read from the kernel, and the statistics of samples. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningService } from '../process/service.ts';

export interface ProcessSample {
  residentMb: number;
  /** Of these what is its own: without the pages of the store's file that it maps, which the system takes back when it likes. */
  ownMb: number;
  openFiles: number;
  threads: number;
  /** Places that the process has in the table of LMDB's readers. */
  storeReaders: number;
}

/** LMDB's lock file names the process once for each reader, at a multiple of so many bytes. */
const pidAlignment = 4;

export function sampleProcess({ pid, dataDir }: RunningService): ProcessSample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const lock = readFileSync(join(dataDir, 'store', 'lock.mdb'));
  let storeReaders = 0;
  for (let at = 0; at + pidAlignment <= lock.length; at += pidAlignment) {
    if (lock.readUInt32LE(at) === pid) storeReaders++;
  }
  const mb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return {
    residentMb: mb('VmRSS'),
    ownMb: mb('VmRSS') - mb('RssFile'),
    threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1]),
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
    storeReaders,
  };
}

/** By nearest rank; 0 of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Of the line of least squares through three points or more: y for each x, and the standard error of that. */
export function slope(points: readonly { x: number; y: number }[]): { slope: number; error: number } {
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))];
  const covariance = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  const slope = covariance / spread;
  const rest = points.reduce((sum, point) => sum + (point.y - y - slope * (point.x - x)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (points.length - 2) / spread) };
}

export const round = (value: number): number => Math.round(value * 100) / 100;

/** Ask for health again and again until stopped; gives how long each answer took, ms. */
export function watchHealth(service: RunningService, everyMs = 20): () => Promise<number[]> {
  const waits: number[] = [];
  let going = true;
  const watching = (async () => {
    while (going) {
      const began = performance.now();
      const { status } = await service.call('GET', '/healthz');
      if (status !== 200) throw new Error(`health was answered ${status}`);
      waits.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return async () => {
    going = false;
    await watching;
    return waits;
  };
}

/** The value of a metric, by the text between its name and its value; NaN where it is not there. */
export async function metric(service: RunningService, line: string): Promise<number> {
  const { body } = await service.call<string>('GET', '/metrics');
  const found = body.split('\n').find((each) => each.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1));
}
