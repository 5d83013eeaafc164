/** Resident memory and processor time of this process and of its threads, as Linux tells them; elsewhere the threads are unknown. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** MB resident now, after the main thread's garbage is gone. */
export async function residentMb(): Promise<number> {
  globalThis.gc?.();
  await setTimeout(200);
  globalThis.gc?.();
  return Math.round(process.memoryUsage.rss() / 1e6);
}

/** MB resident at the highest point so far; null where it is not known. */
export function peakResidentMb(): number {
  return Math.round((process.resourceUsage().maxRSS * 1024) / 1e6);
}

/** Seconds of processor time per thread since the process began, by thread id. */
function threadSeconds(): Map<number, number> {
  const ticksPerS = 100;
  const seconds = new Map<number, number>();
  let ids: string[] = [];
  try {
    ids = readdirSync('/proc/self/task');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  for (const id of ids) {
    try {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      seconds.set(Number(id), (Number(fields[11]) + Number(fields[12])) / ticksPerS);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && (error as NodeJS.ErrnoException).code !== 'ESRCH')
        throw error;
    }
  }
  return seconds;
}

/** Tells which role used how much processor time: threads that appear while a role is being started belong to it. */
export class ThreadClock {
  readonly #roleOf = new Map<number, string>();
  #before: Map<number, number>;

  constructor() {
    this.#before = threadSeconds();
    for (const id of this.#before.keys()) this.#roleOf.set(id, id === process.pid ? 'main' : 'runtime');
  }

  /** Name the threads that have appeared since the last call. */
  name(role: string): void {
    for (const id of threadSeconds().keys()) if (!this.#roleOf.has(id)) this.#roleOf.set(id, role);
  }

  /** Start counting. */
  start(): void {
    this.#before = threadSeconds();
  }

  /** Seconds by role since `start`. Threads of no role (helpers of the engine that started meanwhile) are `runtime`. */
  seconds(): Record<string, number> {
    const byRole: Record<string, number> = {};
    for (const [id, seconds] of threadSeconds()) {
      const role = this.#roleOf.get(id) ?? 'runtime';
      byRole[role] = (byRole[role] ?? 0) + seconds - (this.#before.get(id) ?? 0);
    }
    return Object.fromEntries(Object.entries(byRole).map(([role, s]) => [role, Math.round(s * 100) / 100]));
  }
}
