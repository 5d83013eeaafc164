/**
 * Transitions of rows a second of one core, and the garbage that each leaves: as the service makes them (`nextRowBy`), and by XState's
 * `transition`. A life is the six of a page that is indexed without a fault. Both take turns in one process; medians.
 * Run: npm run bench -- transitions
 */
import { type AnyStateMachine, transition } from 'xstate';
import type { Job } from '../src/domain/job.ts';
import type { Page } from '../src/domain/page.ts';
import { type JobEvent, jobMachine, nextJob } from '../src/machines/job.ts';
import type { NextRow } from '../src/machines/next-row.ts';
import { nextPage, type PageEvent, pageMachine } from '../src/machines/page.ts';
import { jobRow, pageRow } from '../test/machines/rows.ts';
import { describeMachine } from './machine.ts';

interface Way {
  job: NextRow<Job, JobEvent>;
  page: NextRow<Page, PageEvent>;
}

const rounds = 21;
const lives = 1000;
const steps = 6;

const byTransition =
  (logic: AnyStateMachine) =>
  (row: { status: string }, event: JobEvent | PageEvent): never => {
    const before = logic.resolveState({ value: row.status, context: row });
    const [after] = transition(logic, before, event);
    return { ...after.context, status: after.value } as never;
  };
const ways: Record<string, Way> = {
  nextRowBy: { job: nextJob, page: nextPage },
  transition: { job: byTransition(jobMachine), page: byTransition(pageMachine) },
};

function live({ job, page }: Way): void {
  const of = { at: 200, claim: 1, leaseMs: 600 };
  const claimed = job(jobRow(), { type: 'claim', ...of, incarnation: 'life 1' });
  const running = claimed && job(claimed, { type: 'progress', ...of });
  const alive = running && job(running, { type: 'heartbeat', ...of });
  const done = alive && job(alive, { type: 'complete', ...of });
  const indexing = page(pageRow(), { type: 'job.running', at: 200 });
  const indexed = indexing && page(indexing, { type: 'job.done', at: 200 });
  if (done?.status !== 'done' || indexed?.status !== 'indexed') throw new Error('a transition was refused');
}

const found: Record<string, { perSecond: number[]; bytes: number[] }> = {};
for (let round = 0; round < rounds; round++) {
  for (const [name, way] of Object.entries(ways)) {
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    const began = process.cpuUsage();
    for (let i = 0; i < lives; i++) live(way);
    const { user, system } = process.cpuUsage(began);
    found[name] ??= { perSecond: [], bytes: [] };
    found[name].perSecond.push((lives * steps * 1e6) / (user + system));
    found[name].bytes.push((process.memoryUsage().heapUsed - heap) / (lives * steps));
  }
}
const median = (numbers: number[]) => Math.round(numbers.sort((a, b) => a - b)[numbers.length >> 1]);
const results = Object.entries(found).map(([way, { perSecond, bytes }]) => ({
  way,
  transitions_per_core_second: median(perSecond),
  bytes_each: median(bytes),
}));
console.log(JSON.stringify({ machine: describeMachine(), rounds, lives, results }, null, 2));
