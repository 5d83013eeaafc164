/** The real ledger against a plain model of it, after every command of random histories. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { claimJobs, expireLeases, recoverOrphans } from '../../src/commands/claim-jobs.ts';
import { completeJob, createJob, failJob, heartbeatJob, moveJob, releaseJob } from '../../src/commands/move-job.ts';
import { retryDeadJobs, retryJobs } from '../../src/commands/retry-jobs.ts';
import type { JobKind, JobStatus } from '../../src/domain/job.ts';
import { idOf } from '../../src/domain/values.ts';
import type { Command } from '../../src/store/store.ts';
import { pluck } from '../rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { LedgerModel } from './ledger-model.ts';

const kinds = ['index_page', 'fetch_and_index', 'cluster', 'poll_watch'] as const satisfies JobKind[];
const leaseMs = 300;
/** More in `npm run soak -- --only ledger`. */
const histories = Number(process.env.READBACK_TEST_HISTORIES ?? 20);

/** One step of a history; numbers are taken modulo what there is. */
const pick = fc.nat();
const delayMs = fc.nat(200);
const max_attempts = fc.integer({ min: 1, max: 3 });
const newest = {
  kind: fc.option(fc.constantFrom(...kinds), { nil: undefined }),
  limit: fc.integer({ min: 1, max: 4 }),
};
const steps: Record<Step['do'], [weight: number, fields: Record<string, fc.Arbitrary<unknown>>]> = {
  enqueue: [5, { kind: fc.constantFrom(...kinds), pick: max_attempts }],
  claim: [8, {}],
  beat: [3, { pick }],
  complete: [4, { pick }],
  fail: [6, { pick, permanent: fc.boolean(), delayMs }],
  release: [2, { pick, delayMs }],
  expire: [3, {}],
  restart: [2, {}],
  retry: [3, { pick }],
  retryList: [1, { picks: fc.array(pick, { maxLength: 5 }) }],
  retryNewest: [1, newest],
  cancel: [3, { pick }],
  wait: [4, { ms: fc.nat(400) }],
};
const step = fc.oneof(
  ...Object.entries(steps).map(([name, [weight, fields]]) => ({
    weight,
    arbitrary: fc.record({ do: fc.constant(name), ...fields }),
  })),
) as fc.Arbitrary<Step>;

type Step =
  | { do: 'enqueue'; kind: JobKind; pick: number }
  | { do: 'claim' | 'expire' | 'restart' }
  | { do: 'beat' | 'complete' | 'retry' | 'cancel'; pick: number }
  | { do: 'fail'; pick: number; permanent: boolean; delayMs: number }
  | { do: 'release'; pick: number; delayMs: number }
  | { do: 'retryList'; picks: number[] }
  | { do: 'retryNewest'; kind: JobKind | undefined; limit: number }
  | { do: 'wait'; ms: number };

/** Changes of status that the contract and the design know. */
const legal: Record<JobStatus, readonly JobStatus[]> = {
  pending: ['running', 'done'],
  running: ['done', 'failed', 'dead', 'pending'],
  failed: ['pending', 'done'],
  done: [],
  dead: ['pending', 'done'],
};

class History {
  readonly model = new LedgerModel();
  readonly temporary: TemporaryStore;
  readonly #last = new Map<number, JobStatus>();
  readonly #moves: Set<string>;

  constructor(temporary: TemporaryStore, moves: Set<string>) {
    this.temporary = temporary;
    this.#moves = moves;
  }

  async run<Reply>(command: Command<Reply>): Promise<Reply> {
    const { results, steps } = await this.temporary.store.transact([command]);
    for (const { no, status } of steps.flatMap(({ changes }) => changes.jobs)) {
      const before = this.#last.get(no);
      assert.ok(before === undefined ? status === 'pending' : legal[before].includes(status), `${before} → ${status}`);
      if (before !== undefined) this.#moves.add(`${before} → ${status}`);
      this.#last.set(no, status);
    }
    const [result] = results;
    if (!result.ok) throw result.error;
    return result.reply as Reply;
  }

  /** An attempt, mostly one of those that run. */
  attempt(pick: number) {
    const { model } = this;
    const running = model.running();
    if (running.length > 0 && pick % 4 > 0) {
      const { no, claim } = running[pick % running.length];
      return { job_no: no, claim };
    }
    return model.attempts[pick % Math.max(1, model.attempts.length)] ?? { job_no: 1 + (pick % 3), claim: 1 };
  }

  async take(step: Step): Promise<void> {
    const { model } = this;
    const at = model.now;
    const number = (pick: number) => 1 + (pick % (model.jobs.length + 1)); // one number too many: unknown
    switch (step.do) {
      case 'enqueue':
        await this.run((transaction) =>
          createJob(transaction, { kind: step.kind, page_no: null, max_attempts: step.pick, at }),
        );
        return model.enqueue(step.kind, step.pick);
      case 'claim': {
        const request = model.claimRequest(leaseMs);
        const { jobs } = await this.run(claimJobs(request));
        return assert.deepEqual(pluck(jobs, 'no'), model.claim(request));
      }
      case 'beat': {
        const attempt = this.attempt(step.pick);
        return assert.equal(await this.run(heartbeatJob(attempt, at, leaseMs)), model.beat(attempt, leaseMs));
      }
      case 'complete': {
        const attempt = this.attempt(step.pick);
        return assert.equal((await this.run(completeJob(attempt, at))) !== null, model.complete(attempt));
      }
      case 'fail': {
        const attempt = this.attempt(step.pick);
        const failure = { message: `failed at ${at}`, permanent: step.permanent, delayMs: step.delayMs };
        return assert.equal((await this.run(failJob(attempt, at, failure))) !== null, model.fail(attempt, failure));
      }
      case 'release': {
        const attempt = this.attempt(step.pick);
        const runAt = at + step.delayMs;
        return assert.equal((await this.run(releaseJob(attempt, at, runAt))) !== null, model.release(attempt, runAt));
      }
      case 'expire':
        await this.run(expireLeases(at));
        return model.expire();
      case 'restart':
        await this.temporary.reopen();
        model.restart();
        await this.run(recoverOrphans(model.incarnation, at));
        return;
      case 'retry': {
        const [{ outcome }] = await this.run(retryJobs([idOf('job', number(step.pick))], at));
        return assert.equal(outcome, model.retry(number(step.pick)));
      }
      case 'retryList': {
        const numbers = step.picks.map(number);
        const ids = numbers.map((no) => idOf('job', no));
        const outcomes = pluck(await this.run(retryJobs(ids, at)), 'outcome');
        const expected = [...new Set(numbers)].map((no) => model.retry(no));
        return assert.deepEqual(outcomes, expected);
      }
      case 'retryNewest': {
        const outcomes = await this.run(retryDeadJobs({ kind: step.kind, limit: step.limit }, at));
        const retried = outcomes.map((each) => (each.outcome === 'retried' ? each.job.no : each));
        return assert.deepEqual(retried, model.retryNewest(step.kind, step.limit));
      }
      case 'cancel': {
        const no = number(step.pick);
        const reason = 'cancelled: page forgotten';
        const moved = await this.run((transaction) => {
          const job = transaction.jobs.get(no);
          return job === undefined ? null : moveJob(transaction, job, { type: 'cancel', at, reason });
        });
        return assert.equal(moved !== null, model.cancel(no, reason));
      }
      case 'wait':
        model.now += step.ms;
        return;
    }
  }

  /** Every row, and what the indexes say of them. */
  check(): void {
    const { jobs } = this.temporary.reader;
    const rows = this.model.jobs;
    assert.deepEqual(jobs.list({ limit: 1000 }), rows.toReversed());
    for (const status of ['pending', 'running', 'failed', 'done', 'dead'] as const) {
      const expected = rows.filter((job) => job.status === status);
      assert.deepEqual([...jobs.withStatus(status)], expected, status);
    }
  }
}

test('the ledger does what the model does, whatever happens in whatever order', async () => {
  const moves = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      await using temporary = await TemporaryStore.open();
      const history = new History(temporary, moves);
      for (const each of steps) {
        await history.take(each);
        history.check();
      }
    }),
    { seed: 20_265, numRuns: histories },
  );
  const all = Object.entries(legal).flatMap(([before, after]) => after.map((each) => `${before} → ${each}`));
  assert.deepEqual([...moves].sort(), all.sort(), 'the histories show every change that there is');
});
