/**
 * A scheduler over a real store, under a clock that the test moves, with handlers that end when the test says so. Commits can
 * be held back or made to fail.
 */
import assert from 'node:assert/strict';
import { type ActorRefFrom, createActor, SimulatedClock } from 'xstate';
import type { Completion, JobContext, JobHandler, JobLimits } from '../../src/actors/system/job-actor.ts';
import { type LaneLimit, type SchedulerDependencies, schedulerMachine } from '../../src/actors/system/scheduler.ts';
import { type CommitCommand, CommitFeed } from '../../src/actors/system/service.ts';
import { createJob } from '../../src/commands/move-job.ts';
import type { Job, JobKind } from '../../src/domain/job.ts';
import { storeUnavailable } from '../../src/store/commit.ts';
import type { Command } from '../../src/store/store.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { turnUntil } from '../turns.ts';
import { keptLog, type LogLine } from './quiet-log.ts';

const began = 1_700_000_000_000;

const failedAttempt = 'an attempt at a job failed';

/** An attempt that a handler works on. */
export interface Work {
  job: Job;
  signal: AbortSignal;
  extendTime: JobContext['extendTime'];
  done(completion?: Completion): void;
  fail(error: unknown): void;
}

export const limits: JobLimits = { leaseMs: 9000, timeoutMs: 60_000, backoffBaseMs: 2000, graceMs: 4000 };

export class Workshop implements AsyncDisposable {
  readonly clock = new SimulatedClock();
  readonly feed = new CommitFeed();
  readonly works: Work[] = [];
  readonly #lines;
  readonly temporary: TemporaryStore;
  commits = 0;
  /** Replaced to make commits wait or fail. */
  gate: () => Promise<void> = async () => {};
  /** What the scheduler is told of the network. */
  held: () => LaneLimit | null = () => null;
  /** Commits are made, but whoever asked for them hears of an error. */
  loseReplies = false;
  #scheduler: ActorRefFrom<typeof schedulerMachine> | undefined;
  readonly #log;
  #busy = 0;

  private constructor(temporary: TemporaryStore) {
    this.temporary = temporary;
    const { log, lines } = keptLog();
    this.#log = log;
    this.#lines = lines;
  }

  static async open(): Promise<Workshop> {
    return new Workshop(await TemporaryStore.open());
  }

  /** Milliseconds by which the wall clock was set, ahead or back. */
  clockSetBy = 0;

  get now(): number {
    return began + this.clockSetBy + this.clock.now();
  }

  get scheduler(): ActorRefFrom<typeof schedulerMachine> {
    assert.ok(this.#scheduler, 'the scheduler is started');
    return this.#scheduler;
  }

  /** Run a command as the writer would. */
  readonly commit: CommitCommand = async <Reply>(command: Command<Reply>): Promise<Reply> => {
    this.#busy++;
    try {
      await this.gate();
      this.commits++;
      const { results, steps, flushed } = await this.temporary.store.transact([command]);
      for (const { opstamp, changes } of steps) this.feed.publish('visible', { opstamp, ...changes });
      await flushed;
      for (const { opstamp, changes } of steps) {
        this.temporary.changes.jobs.push(...changes.jobs);
        this.feed.publish('durable', { opstamp, ...changes });
      }
      if (this.loseReplies) throw storeUnavailable(new Error('the reply was lost'));
      const [result] = results;
      if (!result.ok) throw result.error;
      return result.reply as Reply;
    } finally {
      this.#busy--;
    }
  };

  /** Commits fail from now on as with a full disk, or do not any more. */
  breakDisk(broken: boolean): void {
    this.gate = async () => {
      if (broken) throw storeUnavailable(new Error('no space'));
    };
  }

  /** Commits wait from now on until they are let go on, or fail with an error. */
  holdCommits(): (error?: Error) => void {
    let release: (error?: Error) => void = () => {};
    const held = new Promise<void>((resolve, reject) => {
      release = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.gate = () => held;
    return (error) => {
      this.gate = async () => {};
      release(error);
    };
  }

  /** What was logged but for `endings`. */
  get lines(): LogLine[] {
    return this.#lines.filter(({ msg }) => msg !== failedAttempt);
  }

  /** The one line that each attempt which failed is told by. */
  get endings(): LogLine[] {
    return this.#lines.filter(({ msg }) => msg === failedAttempt);
  }

  readonly #handler: JobHandler = (job, { signal, extendTime }) =>
    new Promise((resolve, reject) => {
      this.works.push({ job, signal, extendTime, done: (completion) => resolve(completion), fail: reject });
    });

  dependencies(
    changes: Partial<JobLimits> = {},
    capacity: Partial<Record<'index' | 'fetch' | 'background', number>> = {},
  ): SchedulerDependencies {
    return {
      commit: this.commit,
      feed: this.feed,
      handlers: { index_page: this.#handler, fetch_and_index: this.#handler, cluster: this.#handler },
      limits: { ...limits, ...changes },
      capacity: {
        suspect: 1,
        index: 2,
        fetch: 2,
        poll: 1,
        purge: 1,
        background: 1,
        backfill: 1,
        entities: 1,
        ...capacity,
      },
      held: () => this.held(),
      incarnation: 'this life',
      now: () => this.now,
      random: () => 0.5,
      log: this.#log,
    };
  }

  start(...settings: Parameters<Workshop['dependencies']>): void {
    this.#scheduler = createActor(schedulerMachine(this.dependencies(...settings)), { clock: this.clock }).start();
  }

  async enqueue(kind: JobKind = 'index_page', max_attempts = 3): Promise<number> {
    const job = await this.commit((transaction) =>
      createJob(transaction, { kind, page_no: null, max_attempts, at: this.now }),
    );
    return job.no;
  }

  job(no: number): Job {
    const job = this.temporary.reader.jobs.get(no);
    assert.ok(job, `job ${no} exists`);
    return job;
  }

  /** The newest work at this job. */
  work(no: number): Work {
    const work = this.works.findLast(({ job }) => job.no === no);
    assert.ok(work, `job ${no} is worked at`);
    return work;
  }
  /** The newest work at this job ends well. */
  async done(no: number, completion?: Completion): Promise<void> {
    this.work(no).done(completion);
    await this.settle();
  }

  async fail(no: number, error: unknown): Promise<void> {
    this.work(no).fail(error);
    await this.settle();
  }

  /** Let everything that needs no time happen. */
  async settle(): Promise<void> {
    let quiet = 0;
    await turnUntil(() => {
      quiet = this.#busy === 0 ? quiet + 1 : 0;
      return quiet > 5;
    }, 'it comes to rest');
  }

  /** Let time pass, in small steps. */
  async pass(ms: number, step = 100): Promise<void> {
    for (let left = ms; left > 0; left -= step) {
      this.clock.increment(Math.min(step, left));
      await this.settle();
    }
  }

  /** Ids of the job actors that live. */
  actors(): string[] {
    const children: Record<string, unknown> = this.scheduler.getSnapshot().children;
    return Object.keys(children).filter((id) => id.startsWith('job.'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#scheduler?.stop();
    this.breakDisk(false);
    await this.settle();
    await this.temporary[Symbol.asyncDispose]();
  }
}
