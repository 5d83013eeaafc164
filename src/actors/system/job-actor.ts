/**
 * One attempt at a job: runs the handler, renews the lease every third of its length, enforces the time limit since the
 * last checkpoint, and reports the outcome. The row is the truth: the ledger refuses a late report.
 *
 * work  working, then settling (the outcome goes to the ledger) or retrying (the store failed: report again later)
 * stay  open, or leaving: the handler may finish within the grace time, else the attempt is released uncounted. If the
 *       ledger cannot be written, the next opening of the library releases the job
 */
import type { Logger } from 'pino';
import { assign, fromPromise, setup, stateIn } from 'xstate';
import * as ledger from '../../commands/move-job.ts';
import { backoffDelayMs, reachDelayMs } from '../../compute/retries.ts';
import { traced } from '../../compute/span.ts';
import { maxTimerMs } from '../../domain/durations.ts';
import { DomainError, errorMessage, JobError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import { idOf } from '../../domain/values.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';
import type { Command, Transaction } from '../../store/store.ts';
import type { CommitCommand } from './service.ts';

export function takenOver(): JobError {
  return new JobError('another attempt has taken over');
}

export class LoggedError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Runs in the transaction that completes the job. */
export type Completion = ((transaction: Transaction) => void) | undefined;

export interface JobContext {
  attempt: ledger.Attempt;
  signal: AbortSignal;
  /**
   * Store a slice, renew the lease, restart the time limit; earlier attempts and crashes no longer count. Ends attempts
   * of suspects, which run alone after a crash, and of a stopping scheduler. Errors: JobError for a lost claim.
   */
  checkpoint<Reply>(command: Command<Reply>): Promise<Reply>;
  /** For long work without slices: only restarts the time limit. Ends attempts and throws errors as `checkpoint`. */
  extendTime(): Promise<void>;
}

/** `extendTime` for work that may still crash: it does not clear a suspect, whose attempt has one time limit in total. */
export function extendTimeUnlessSuspect(job: Job, { extendTime }: JobContext): () => Promise<void> {
  return job.suspect ? async () => {} : extendTime;
}

export type JobHandler = (job: Job, context: JobContext) => Promise<Completion>;

export interface JobActorInput {
  job: Job;
  handler: JobHandler | undefined;
  commit: CommitCommand;
  now: () => number;
  random: () => number;
  limits: JobLimits;
  log: Logger;
}

export interface JobLimits {
  leaseMs: number;
  timeoutMs: number;
  backoffBaseMs: number;
  /** Time for a handler to finish after a stop request. */
  graceMs: number;
}

type Outcome =
  | { kind: 'done'; completion: Completion }
  | { kind: 'failed'; error: unknown; isLogged?: boolean }
  | { kind: 'released' }
  | { kind: 'lost' };

interface Context extends JobActorInput {
  outcome: Outcome;
}

interface HandleInput extends JobActorInput {
  progressed: () => void;
  isLeaving: () => boolean;
}

class SteppedBack extends Error {}

const settleRetryMs = 500;

export const jobActor = setup({
  types: {
    context: {} as Context,
    input: {} as JobActorInput,
    events: {} as { type: 'stop' } | { type: 'cancelled' } | { type: 'checkpoint' },
  },
  actors: {
    handle: fromPromise<Completion, HandleInput>(async ({ input, signal }) => {
      const { job, handler, commit, now, limits, progressed, isLeaving } = input;
      if (handler === undefined)
        throw new JobError(`this version has no worker for ${job.kind} jobs`, { permanent: true });
      const attempt = attemptOf(job);
      const checkpoint: JobContext['checkpoint'] = async (command) => {
        signal.throwIfAborted();
        const kept = await commit(ledger.checkpointJob(attempt, now(), limits.leaseMs, command));
        if (kept === null) throw takenOver();
        if (job.suspect || isLeaving()) throw new SteppedBack('released so that other jobs can run');
        progressed();
        return kept.reply;
      };
      const extendTime = async () => {
        signal.throwIfAborted();
        // Progress clears a suspect.
        if (job.suspect) await checkpoint(() => undefined);
        if (isLeaving()) throw new SteppedBack('released because the process stops');
        progressed();
      };
      const context: JobContext = { attempt, signal, checkpoint, extendTime };
      return tracedPart('job', job, () => handler(job, context));
    }),
    heartbeat: fromPromise<boolean, JobActorInput>(({ input: { job, commit, now, limits } }) =>
      commit(ledger.heartbeatJob(attemptOf(job), now(), limits.leaseMs)),
    ),
    settle: fromPromise<Job | null, Context>(async ({ input }) => {
      const command = settlement(input);
      if (command === null) return null;
      const settled = await tracedPart('settle', input.job, () => input.commit(command));
      if (settled !== null) logEnd(input, settled);
      return settled;
    }),
  },
  delays: {
    beatInterval: ({ context }) => Math.min(maxTimerMs, context.limits.leaseMs / 3),
    timeout: ({ context }) => Math.min(maxTimerMs, context.limits.timeoutMs),
    grace: ({ context }) => context.limits.graceMs,
    settleRetry: settleRetryMs,
  },
  guards: {
    leaseIsLost: ({ event }) => 'output' in event && event.output === false,
    storeIsBusy: ({ event }) => 'error' in event && event.error instanceof DomainError,
    isLeaving: stateIn({ active: { stay: 'leaving' } }),
    graceIsOver: stateIn({ active: { stay: { leaving: 'overdue' } } }),
  },
  actions: {
    noteOutcome: assign((_, outcome: Outcome) => ({ outcome })),
    logLostLease: ({ context: { job, log } }) =>
      log.warn({ job_id: idOf('job', job.no), kind: job.kind }, 'an attempt has lost its lease: it stops'),
  },
}).createMachine({
  id: 'attempt',
  context: ({ input }) => ({ ...input, outcome: { kind: 'released' } }),
  initial: 'active',
  states: {
    active: {
      type: 'parallel',
      states: {
        work: {
          initial: 'working',
          states: {
            working: {
              on: { cancelled: { target: 'settling', actions: { type: 'noteOutcome', params: { kind: 'lost' } } } },
              invoke: {
                src: 'handle',
                input: ({ context, self }) => ({
                  ...context,
                  progressed: () => self.send({ type: 'checkpoint' }),
                  isLeaving: () => self.getSnapshot().matches({ active: { stay: 'leaving' } }),
                }),
                onDone: {
                  target: 'settling',
                  actions: { type: 'noteOutcome', params: ({ event }) => ({ kind: 'done', completion: event.output }) },
                },
                onError: {
                  target: 'settling',
                  actions: { type: 'noteOutcome', params: ({ event }) => outcomeOf(event.error) },
                },
              },
              always: {
                guard: 'graceIsOver',
                target: 'settling',
                actions: { type: 'noteOutcome', params: { kind: 'released' } },
              },
              type: 'parallel',
              states: {
                lease: {
                  initial: 'held',
                  states: {
                    held: { after: { beatInterval: 'renewing' } },
                    renewing: {
                      invoke: {
                        src: 'heartbeat',
                        input: ({ context }) => context,
                        onDone: [
                          {
                            guard: 'leaseIsLost',
                            target: '#attempt.active.work.settling',
                            actions: ['logLostLease', { type: 'noteOutcome', params: { kind: 'lost' } }],
                          },
                          { target: 'held' },
                        ],
                        onError: 'held',
                      },
                    },
                  },
                },
                limit: {
                  initial: 'running',
                  states: {
                    running: {
                      on: { checkpoint: { target: 'running', reenter: true } },
                      after: {
                        timeout: {
                          target: '#attempt.active.work.settling',
                          actions: {
                            type: 'noteOutcome',
                            params: ({ context }) => ({
                              kind: 'failed',
                              error: new JobError(`the attempt took longer than ${context.limits.timeoutMs / 1000} s`),
                            }),
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
            settling: {
              invoke: {
                src: 'settle',
                input: ({ context }) => context,
                onDone: '#attempt.ended',
                onError: [
                  { guard: 'storeIsBusy', target: 'retrying' },
                  {
                    target: 'retrying',
                    actions: { type: 'noteOutcome', params: ({ event }) => ({ kind: 'failed', error: event.error }) },
                  },
                ],
              },
            },
            retrying: {
              after: { settleRetry: 'settling' },
              always: { guard: 'isLeaving', target: '#attempt.ended' },
            },
          },
        },
        stay: {
          initial: 'open',
          states: {
            open: { on: { stop: 'leaving' } },
            leaving: {
              initial: 'grace',
              states: { grace: { after: { grace: 'overdue' } }, overdue: {} },
            },
          },
        },
      },
    },
    ended: { type: 'final' },
  },
});

function outcomeOf(error: unknown): Outcome {
  if (error instanceof SteppedBack) return { kind: 'released' };
  return error instanceof LoggedError
    ? { kind: 'failed', error: error.cause, isLogged: true }
    : { kind: 'failed', error };
}

function attemptOf(job: Job): ledger.Attempt {
  return { job_no: job.no, claim: job.claim };
}

/** A traced part of an attempt: `job KIND` is its work, `settle KIND` its report. */
function tracedPart<Result>(part: 'job' | 'settle', job: Job, run: () => Promise<Result>): Promise<Result> {
  const attributes = { 'job.id': idOf('job', job.no), 'job.attempt': job.attempts };
  return traced(`${part} ${job.kind}`, attributes, run, `job ${job.no}`);
}

/** Logs one line per ended attempt, with error codes only: messages may quote a page or provider. */
function logEnd({ job, outcome, log }: Context, settled: Job): void {
  const { attempts: attempt, status } = settled;
  const line = { job_id: idOf('job', job.no), kind: job.kind, attempt, status };
  // There may be thousands of released attempts, and they are not failures.
  if (outcome.kind !== 'failed' || status === 'pending' || outcome.isLogged === true) {
    log.debug(line, 'an attempt at a job ended');
    return;
  }
  log[status === 'dead' ? 'warn' : 'info']({ ...line, code: codeOf(outcome.error) }, 'an attempt at a job failed');
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error ? ('code' in error ? error.code : error.name) : typeof error;
}

/** Whether the provider or host was not called; then the attempt does not count. */
export function isNotMade(error: unknown): error is BreakerOpenError | FetchError {
  return error instanceof BreakerOpenError || (error instanceof FetchError && error.isPostponed);
}

/** The command that stores the outcome; null if nothing is left to report. */
function settlement({ job, outcome, now, random, limits, log }: Context): Command<Job | null> | null {
  const attempt = attemptOf(job);
  switch (outcome.kind) {
    case 'done':
      return ledger.completeJob(attempt, now(), outcome.completion);
    case 'released':
      return ledger.releaseJob(attempt, now(), now());
    case 'lost':
      return null;
    case 'failed': {
      const error = outcome.error;
      if (isNotMade(error)) {
        const offline = error instanceof FetchError && error.code === 'offline' ? error.message : undefined;
        const said = error instanceof BreakerOpenError ? error.reason : offline;
        return ledger.releaseJob(attempt, now(), now() + (error.retryAfterMs ?? 0), said);
      }
      if (error instanceof FetchError && error.maxReachTries !== null) {
        const tries = (job.unreached ?? 0) + 1;
        return ledger.noteUnreached(attempt, now(), {
          message: error.message,
          maxTries: error.maxReachTries,
          delayMs: Math.max(reachDelayMs(tries, random()), error.retryAfterMs ?? 0),
        });
      }
      const known = error instanceof JobError || error instanceof ProviderError ? error : undefined;
      if (known === undefined)
        log.error({ err: error, job_id: idOf('job', job.no), kind: job.kind }, 'a job failed unexpectedly');
      const delayMs = backoffDelayMs(job.attempts, limits.backoffBaseMs, random());
      return ledger.failJob(attempt, now(), {
        message: errorMessage(error),
        permanent: known?.permanent ?? false,
        delayMs: Math.max(delayMs, known?.retryAfterMs ?? 0),
      });
    }
  }
}
