import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from '../../src/threads/collect-garbage.ts';
import { openThreadPool, QueueFullError, TaskTimeoutError } from '../../src/threads/thread-pool.ts';
import { markThread } from '../../src/threads/time-limits.ts';
import { compiledEntry } from '../app/compiled.ts';
import { until } from '../process/service.ts';
import type { Scope } from '../scope.ts';

const [entry, loadingEntry] = await Promise.all(
  ['./spinning-thread.ts', './loading-thread.ts'].map((name) => compiledEntry(new URL(name, import.meta.url))),
);
type Tasks = typeof import('./spinning-thread.ts');

const notCounted = markThread() === null ? 'this kernel does not count the processor time of threads' : false;

/** Closed at the end of the test, at the latest. */
function open(
  scope: Scope,
  options: { threads?: number; tasksPerThread?: number; maxQueue?: number; uninterrupted?: boolean } = {},
) {
  const pool = openThreadPool<Tasks>({
    ...{ entry, name: 'spinning', threads: 1, maxQueue: 100, data: { base: 40 } },
    ...options,
  });
  scope.after(() => pool.close());
  return pool;
}

/** What a task waits at, and how to let it go on. */
function gate() {
  const closed = new Int32Array(new SharedArrayBuffer(8));
  const letGo = () => {
    Atomics.store(closed, 0, 1);
    Atomics.notify(closed, 0);
  };
  return { closed, letGo };
}

test('a pinned thread keeps its state and runs its tasks in the order given', async (t) => {
  const pool = open(t);
  const order = await Promise.all(Array.from({ length: 20 }, () => pool.run('next', undefined)));
  assert.equal(order.join(), Array.from({ length: 20 }, (_, i) => 41 + i).join());
});

const openLoading = (closed: Int32Array | null) =>
  openThreadPool<typeof import('./loading-thread.ts')>({
    ...{ entry: loadingEntry, name: 'loading', threads: 1, maxQueue: 100, data: { closed } },
  });

test('no thread is ended while it loads: neither by a task that is given up, nor by closing', async () => {
  const { closed, letGo } = gate();
  const pool = openLoading(closed);
  const giveUp = new AbortController();
  const given = assert.rejects(pool.run('answer', undefined, { signal: giveUp.signal }), { name: 'AbortError' });
  await until(async () => Atomics.load(closed, 1) === 1, 'the thread loads');
  giveUp.abort();
  await given;
  const order: string[] = [];
  const closing = pool.close().then(() => order.push('closed'));
  setImmediate(() => {
    order.push('let go');
    letGo();
  });
  await closing;
  assert.deepEqual(order, ['let go', 'closed']);
});

test('a task whose thread cannot be loaded is refused, and the pool can be closed', async () => {
  const pool = openLoading(null);
  for (let tries = 0; tries < 2; tries++)
    await assert.rejects(pool.run('answer', undefined), { message: 'loading: no thread could be started' });
  await pool.close();
});

test('of bulk work one piece at a time is in the pool: another task waits for that one only', async (t) => {
  const pool = open(t);
  const ended: string[] = [];
  const { closed, letGo } = gate();
  const pieces = [1, 2, 3].map((piece) =>
    pool
      .inTurn(() => pool.run('hold', closed))
      .then(() => {
        ended.push(`piece ${piece}`);
      }),
  );
  await new Promise(setImmediate);
  const task = pool.run('next', undefined).then(() => ended.push('task'));
  letGo();
  await Promise.all([task, ...pieces]);
  assert.deepEqual(ended, ['piece 1', 'task', 'piece 2', 'piece 3']);
});

test('a piece of bulk work that fails is told to the one who asked, and the next one has its turn', async (t) => {
  const pool = open(t);
  const failed = pool.inTurn(() => Promise.reject(new Error('no')));
  const next = pool.inTurn(() => pool.run('next', undefined));
  await assert.rejects(failed, { message: 'no' });
  assert.equal(await next, 41);
});

test('a result that is moved comes whole, and leaves nothing in the thread', async (t) => {
  const pool = open(t);
  assert.deepEqual(await pool.run('give', 3), new Float32Array([3, 3, 3]));
  assert.equal(await pool.run('left', undefined), 0);
});

test('tasks that wait hold up no others in their thread, and no more begin than may', async (t) => {
  const tasksPerThread = 16;
  const pool = open(t, { tasksPerThread, uninterrupted: true });
  const [first, others] = [gate(), gate()];
  const warnings: Error[] = [];
  const hear = (warning: Error) => warnings.push(warning);
  process.on('warning', hear);
  try {
    assert.equal(await pool.run('next', undefined), 41);
    const waiting = Array.from({ length: tasksPerThread - 1 }, () => pool.run('wait', others.closed));
    assert.equal(await pool.run('next', undefined), 42);
    const held = pool.run('wait', first.closed);
    await until(() => Atomics.load(first.closed, 1) === 1, 'all wait');
    assert.equal(Atomics.load(others.closed, 1), tasksPerThread - 1);
    const next = pool.run('next', undefined);
    await new Promise(setImmediate);
    assert.equal(pool.queued, 1);
    first.letGo();
    await held;
    assert.equal(await next, 43);
    others.letGo();
    await Promise.all(waiting);
    assert.deepEqual(warnings, []);
  } finally {
    process.off('warning', hear);
    first.letGo();
    others.letGo();
  }
});

test('tasks beyond the queue’s bound are refused as retryable', async (t) => {
  const pool = open(t, { maxQueue: 2 });
  const { closed, letGo } = gate();
  const running = Array.from({ length: 10 }, () => pool.run('hold', closed));
  await Promise.any(running.map((run) => run.catch((error: unknown) => error))); // the first that is refused
  letGo();
  const runs = await Promise.allSettled(running);
  const refused = runs.filter((run) => run.status === 'rejected').map((run) => run.reason);
  assert.ok(refused.length >= 6, `${refused.length} refused`);
  for (const error of refused) assert.ok(error instanceof QueueFullError);
});

test('tasks that are given up while they wait make room for others at once', async (t) => {
  const pool = open(t, { maxQueue: 2 });
  const { closed, letGo } = gate();
  try {
    const held = pool.run('hold', closed);
    for (let round = 0; round < 5; round++) {
      const abort = new AbortController();
      const waiting = [1, 2].map(() => pool.run('next', undefined, { signal: abort.signal }));
      assert.equal(pool.queued, 2);
      await assert.rejects(pool.run('next', undefined, { signal: abort.signal }), QueueFullError);
      abort.abort();
      assert.equal(pool.queued, 0);
      for (const run of waiting) await assert.rejects(run, { name: 'AbortError' });
    }
    const live = [1, 2].map(() => pool.run('next', undefined, { timeoutMs: 60_000 }));
    letGo();
    await held;
    assert.deepEqual(await Promise.all(live), [41, 42], 'none of those that were given up has run');
  } finally {
    letGo();
  }
});

test('the arguments of a task that is given up while it waits are not kept', async (t) => {
  const pool = open(t);
  const { closed, letGo } = gate();
  try {
    const held = pool.run('hold', closed);
    const abort = new AbortController();
    const waitFor = async () => {
      const argument = { idleMs: 0, ms: 0 };
      await assert.rejects(pool.run('beginAndSpin', argument, { signal: abort.signal }), { name: 'AbortError' });
      return new WeakRef(argument);
    };
    const given = waitFor();
    abort.abort();
    const kept = await given;
    await until(() => {
      collectGarbage();
      return kept.deref() === undefined;
    }, 'the argument is collected');
    letGo();
    await held;
  } finally {
    letGo();
  }
});

test('what was given to a task that is done is not kept until its time limit', async (t) => {
  const pool = open(t);
  const run = async () => {
    const argument = { idleMs: 0, ms: 0, page: {} };
    await pool.run('beginAndSpin', argument, { timeoutMs: 600_000, processorMs: 600_000 });
    return new WeakRef(argument.page);
  };
  const kept = await run();
  await until(() => {
    collectGarbage();
    return kept.deref() === undefined;
  }, 'the argument is collected');
});

for (const uninterrupted of [false, true]) {
  const kind = uninterrupted ? 'that are not to be interrupted' : 'that may be ended';
  test(`in threads ${kind}, tasks with and without a signal share one queue, in the order given`, async (t) => {
    const pool = open(t, { maxQueue: 4, uninterrupted });
    const { closed, letGo } = gate();
    try {
      const held = pool.run('hold', closed);
      const { signal } = new AbortController();
      const mixed = [{}, { signal }, {}, { signal }].map((options) => pool.run('next', undefined, options));
      for (const options of [{}, { signal }])
        await assert.rejects(pool.run('next', undefined, options), QueueFullError);
      letGo();
      await held;
      assert.deepEqual(await Promise.all(mixed), [41, 42, 43, 44]);
    } finally {
      letGo();
    }
  });
}

test('a pool that is closed finishes what runs and refuses what waits and what comes', async (t) => {
  const pool = open(t);
  const { closed, letGo } = gate();
  await pool.run('next', undefined); // the thread has started
  const held = pool.run('hold', closed);
  const { signal } = new AbortController();
  const waiting = Promise.allSettled([{}, { signal }].map((options) => pool.run('next', undefined, options)));
  await new Promise(setImmediate);
  const closing = pool.close();
  for (const run of await waiting) assert.equal(run.status === 'rejected' && run.reason.name, 'AbortError');
  await assert.rejects(pool.run('next', undefined), { name: 'AbortError' });
  letGo();
  await held;
  await closing;
});

test('a task over its time is stopped, and the pool goes on with another thread', async (t) => {
  const pool = open(t);
  await assert.rejects(pool.run('spin', 60_000, { timeoutMs: 200 }), TaskTimeoutError);
  assert.equal(await pool.run('next', undefined), 41);
});

test('time that a thread waits is none of its processor time, and work is', { skip: notCounted }, async (t) => {
  const pool = open(t);
  const limits = { timeoutMs: 600_000, processorMs: 300 };
  assert.equal(await pool.run('beginAndSpin', { idleMs: 600, ms: 0 }, limits), 'done');
  const message = 'spinning.beginAndSpin took longer than 300 ms of processor time';
  const tooLong = { name: 'Error', code: 'task_timeout', message, limitMs: 300, ofProcessor: true };
  await assert.rejects(pool.run('beginAndSpin', { idleMs: 0, ms: 600_000 }, limits), tooLong);
  // A thread that has worked before begins anew.
  await pool.run('spin', 600);
  assert.equal(await pool.run('beginAndSpin', { idleMs: 0, ms: 0 }, limits), 'done');
});

test('a task that takes no processor time is ended by the clock', async (t) => {
  const pool = open(t);
  const waiting = pool.run('beginAndSpin', { idleMs: 600_000, ms: 0 }, { timeoutMs: 300, processorMs: 60_000 });
  const message = 'spinning.beginAndSpin took longer than 300 ms';
  await assert.rejects(waiting, { message, limitMs: 300, ofProcessor: false });
  assert.equal(await pool.run('next', undefined), 41);
});

test('the wait for its turn is none of the time of a task', async (t) => {
  const pool = open(t);
  const { closed, letGo } = gate();
  try {
    assert.equal(await pool.run('next', undefined), 41);
    const held = pool.run('hold', closed);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const waiting = pool.run('next', undefined, { timeoutMs: 1000 });
    await new Promise(setImmediate);
    t.mock.timers.tick(60_000);
    letGo();
    await held;
    assert.equal(await waiting, 42);
  } finally {
    t.mock.timers.reset();
    letGo();
  }
});

test('that a thread was ended is told where one was, not where its task was only given up', async (t) => {
  const [pool, kept] = [open(t), open(t, { uninterrupted: true })];
  const { closed, letGo } = gate();
  const warnings: string[] = [];
  const hear = ({ message }: Error) => warnings.push(message);
  process.on('warning', hear);
  try {
    await assert.rejects(kept.run('hold', closed, { timeoutMs: 20 }), TaskTimeoutError);
    letGo();
    assert.equal(await kept.run('next', undefined), 41);
    assert.deepEqual(warnings, []);
    assert.equal(await pool.run('next', undefined), 41);
    await assert.rejects(pool.run('spin', 60_000, { timeoutMs: 200 }), TaskTimeoutError);
    assert.equal(await pool.run('next', undefined), 41);
    assert.deepEqual(warnings, ['spinning: a task took too long and ended with its thread']);
  } finally {
    process.off('warning', hear);
    letGo();
  }
});

test('an abort at any moment of a task is no uncaught error', async (t) => {
  const pool = open(t);
  for (let round = 0; round < 60; round++) {
    const abort = new AbortController();
    const run = pool.run('spin', round % 4, { signal: abort.signal }).then(
      () => 'done',
      (error) => error.name,
    );
    setTimeout(() => abort.abort(), round % 6);
    assert.ok(['done', 'AbortError'].includes(await run));
  }
  assert.equal(typeof (await pool.run('next', undefined)), 'number');
});

test('among tasks that are aborted or too slow the others are done in the order given, and no more wait than may', async (t) => {
  const pool = open(t, { maxQueue: 40 });
  const done: number[] = [];
  const kept: number[] = [];
  const runs = Array.from({ length: 40 }, (_, no) => {
    if (no % 8 === 0) return pool.run('spin', 60_000, { timeoutMs: 50 }).catch((error) => error);
    const abort = new AbortController();
    if (no % 8 === 1) setTimeout(() => abort.abort(), (no * 7) % 40);
    else kept.push(no);
    return pool.run('spin', 1, { signal: abort.signal }).then(
      () => void done.push(no),
      (error) => error,
    );
  });
  const { signal } = new AbortController();
  const more = await Promise.allSettled(Array.from({ length: 5 }, () => pool.run('spin', 1, { signal })));
  assert.ok(more.slice(1).every((run) => run.status === 'rejected' && run.reason instanceof QueueFullError));
  const ends = await Promise.all(runs);
  assert.ok(ends.every((end, no) => no % 8 !== 0 || end instanceof TaskTimeoutError));
  const seen = done.filter((no) => no % 8 > 1);
  assert.deepEqual(seen, kept);
  assert.equal(await pool.run('next', undefined), 41);
});

test('a thread that is not to be interrupted finishes a task that was given up, and keeps its state', async (t) => {
  const pool = open(t, { uninterrupted: true });
  assert.equal(await pool.run('next', undefined), 41);
  const { closed, letGo } = gate();
  await assert.rejects(pool.run('hold', closed, { timeoutMs: 20 }), TaskTimeoutError);
  const abort = new AbortController();
  const given = pool.run('spin', 10, { signal: abort.signal });
  abort.abort();
  await assert.rejects(given, { name: 'AbortError' });
  // The callers have not waited, for the first task is still held; whoever comes waits for it.
  let answered = false;
  const next = pool.run('next', undefined).finally(() => {
    answered = true;
  });
  await new Promise(setImmediate);
  assert.equal(answered, false);
  letGo();
  assert.equal(await next, 42);
  await assert.rejects(pool.run('next', undefined, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.equal(await pool.run('next', undefined), 43);
});
