/**
 * The job machine: the life of one row of the ledger. Pure: an event carries the time and everything else that was decided
 * outside; `nextJob` gives the next row, or null where the state does not accept the event (a late result, a retry of a job
 * that is not dead). The writer commits what it gives.
 *
 * pending  waits for run_at; without an owner
 * running  owned by `claim` until `lease_until`; the attempt is counted
 * failed   an attempt failed, or its host could not be reached; retries remain, run_at is ahead
 * done     finished, or cancelled (then last_error says why)
 * dead     attempts used up, a permanent error, or tried in vain for days to reach the host; only a retry leads out
 */
import type { Job, JobStatus } from '../domain/job.ts';
import { type NextRow, nextRowBy, type Transitions } from './next-row.ts';

export type JobEvent =
  | { type: 'claim'; at: number; claim: number; incarnation: string; leaseMs: number }
  | { type: 'heartbeat'; at: number; claim: number; leaseMs: number }
  /** A checkpoint: something durable came of the attempt, so that neither the attempts before nor a crash speak against the job. */
  | { type: 'progress'; at: number; claim: number; leaseMs: number }
  | { type: 'complete'; at: number; claim: number }
  /** What it waits to do was done by other work. */
  | { type: 'served'; at: number }
  | { type: 'fail'; at: number; claim: number; message: string; permanent: boolean; delayMs: number }
  /** The job's target could not be reached: counted in `unreached`, not as an attempt; dead after `maxTries` in a row. */
  | { type: 'unreached'; at: number; claim: number; message: string; maxTries: number; delayMs: number }
  /** Given back unfinished and uncounted: a drain, a provider's open breaker, no network (then `message` says so). */
  | { type: 'release'; at: number; claim: number; runAt: number; message?: string | undefined }
  | { type: 'leaseExpired'; at: number }
  /** Found running under another incarnation when the process starts; `alone`: no other job ran then, so the crash is its own doing. */
  | { type: 'orphaned'; at: number; alone: boolean }
  | { type: 'due'; at: number }
  | { type: 'retry'; at: number }
  /** Due at another time: its subject is paused or resumed. */
  | { type: 'defer'; at: number; runAt: number }
  | { type: 'clockSet'; at: number }
  | { type: 'cancel'; at: number; reason: string }
  /** What it said of its failures must not be read any more; `message` stands in its place. */
  | { type: 'silence'; at: number; message: string };

type EventOf<Type extends JobEvent['type']> = Extract<JobEvent, { type: Type }>;

/** Longest `last_error` kept, in characters: a provider may answer with a whole page, and each attempt writes the row. */
const maxErrorLength = 1000;

const owns = ({ claim }: Job, by: { claim: number }) => claim === by.claim;
const cut = (message: string) => message.slice(0, maxErrorLength);

const cancel = (job: Job, { at, reason }: EventOf<'cancel'>): Job => ({
  ...job,
  ...released(at),
  status: 'done',
  last_error: reason,
});

const finish = (job: Job, { at }: { at: number }): Job => ({
  ...job,
  ...released(at),
  status: 'done',
  last_error: null,
  unreached: 0,
});

/** If the wait was computed by the clock before the change: wait as long from now as intended. */
const clockSet = (job: Job, { at }: EventOf<'clockSet'>): Job | null =>
  job.updated_at > at ? { ...job, run_at: at + Math.max(0, job.run_at - job.updated_at), updated_at: at } : null;

export const jobTransitions: Transitions<JobStatus, Job, JobEvent> = {
  pending: {
    claim: (job, { at, claim, incarnation, leaseMs }) =>
      job.run_at <= at
        ? {
            ...job,
            status: 'running',
            ...{ attempts: job.attempts + 1, claim, incarnation, lease_until: at + leaseMs, updated_at: at },
          }
        : null,
    clockSet,
    defer: (job, { at, runAt }) => ({ ...job, run_at: runAt, updated_at: at }),
    served: finish,
    cancel,
  },
  running: {
    heartbeat: (job, by) => (owns(job, by) ? { ...job, lease_until: by.at + by.leaseMs } : null),
    progress: (job, by) =>
      owns(job, by)
        ? { ...job, lease_until: by.at + by.leaseMs, attempts: 1, suspect: false, updated_at: by.at }
        : null,
    complete: (job, by) => (owns(job, by) ? finish(job, by) : null),
    fail(job, by) {
      if (!owns(job, by)) return null;
      const isLast = by.permanent || job.attempts >= job.max_attempts;
      const waits = { run_at: by.at + by.delayMs, last_error: cut(by.message), unreached: 0 };
      return { ...job, ...released(by.at), ...waits, status: isLast ? 'dead' : 'failed' };
    },
    unreached(job, by) {
      if (!owns(job, by)) return null;
      const unreached = unreachedOf(job) + 1;
      const waits = { run_at: by.at + by.delayMs, last_error: cut(by.message), attempts: job.attempts - 1, unreached };
      return { ...job, ...released(by.at), ...waits, status: unreached >= by.maxTries ? 'dead' : 'failed' };
    },
    release(job, by) {
      if (!owns(job, by)) return null;
      const last_error = by.message === undefined ? job.last_error : cut(by.message);
      const waits = { run_at: by.runAt, attempts: job.attempts - 1, last_error };
      return { ...job, ...released(by.at), ...waits, status: 'pending' };
    },
    leaseExpired(job, { at }) {
      if (job.lease_until > at) return null;
      const isLast = job.attempts >= job.max_attempts;
      const last_error = 'the attempt went over its lease';
      return { ...job, ...released(at), run_at: at, last_error, status: isLast ? 'dead' : 'pending' };
    },
    orphaned(job, { at, alone }) {
      if (!alone) {
        return { ...job, ...released(at), suspect: true, run_at: at, attempts: job.attempts - 1, status: 'pending' };
      }
      if (job.attempts >= job.max_attempts) {
        const last_error = 'the process ended each time this job ran alone';
        return { ...job, ...released(at), last_error, status: 'dead' };
      }
      const last_error = 'the process ended while this job ran alone';
      return { ...job, ...released(at), suspect: true, run_at: at, last_error, status: 'pending' };
    },
    cancel,
  },
  failed: {
    due: (job, { at }) => (job.run_at <= at ? { ...job, updated_at: at, status: 'pending' } : null),
    served: finish,
    clockSet,
    cancel,
  },
  done: { silence: (job, { message }) => (job.last_error === null ? null : { ...job, last_error: message }) },
  dead: {
    retry: (job, { at }) => {
      const afresh = { attempts: 0, unreached: 0, last_error: null, run_at: at, updated_at: at };
      return { ...job, ...afresh, status: 'pending' };
    },
    cancel,
  },
};

export const nextJob: NextRow<Job, JobEvent> = nextRowBy(jobTransitions, 'status');

/** Absent in rows of earlier versions. */
function unreachedOf({ unreached = 0 }: Job): number {
  return unreached;
}

function released(at: number) {
  return { lease_until: 0, suspect: false, updated_at: at };
}
