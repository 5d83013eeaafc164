/** What goes wrong while a document is read becomes an error of the job: whose fault it is, and whether another try makes sense. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openParserPool, type ParserPoolOptions } from '../../../src/actors/fetching/parser-pool.ts';
import { JobError } from '../../../src/domain/errors.ts';
import { FetchError } from '../../../src/providers/fetch-error.ts';
import { markThread } from '../../../src/threads/time-limits.ts';
import { compiledEntry } from '../../app/compiled.ts';

const notCounted = markThread() === null && 'processor time is not counted here';
const hourMs = 3_600_000;

const entry = await compiledEntry(new URL('./failing-thread.ts', import.meta.url));
const open = (options: Partial<ParserPoolOptions> = {}) =>
  openParserPool<typeof import('./failing-thread.ts')>({
    entry,
    name: 'failing',
    maxQueue: 1,
    maxHeapMb: 32,
    limits: { processorMs: hourMs, timeoutMs: hourMs },
    sentences: { tooMany: 'too many wait', tooLong: 'took longer than', tooLarge: 'takes too much memory' },
    ...options,
  });

type Pool = ReturnType<typeof open>;

/** The kind of an error, its sentence, whether it is for good, and when to come back. */
async function failureOf(read: (pool: Pool) => Promise<unknown>, options: Partial<ParserPoolOptions> = {}) {
  const pool = open(options);
  try {
    const error: unknown = await read(pool).then(
      () => assert.fail('it was read'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof JobError, String(error));
    return [error instanceof FetchError ? error.code : 'job', error.message, error.permanent, error.retryAfterMs];
  } finally {
    await pool.close();
  }
}

test('a document that its task refuses, or that takes too much memory, is refused for good, and the next one is read', async () => {
  const pool = open();
  const unreadable = { code: 'unreadable', permanent: true };
  try {
    await assert.rejects(pool.run('refuse', {}), { ...unreadable, message: 'is no document' });
    await assert.rejects(pool.run('fill', {}), { ...unreadable, message: 'takes too much memory' });
    assert.equal(await pool.run('read', {}), 'read');
  } finally {
    await pool.close();
  }
});

test('too much work is refused for good', { skip: notCounted }, async () => {
  const limits = { processorMs: 20, timeoutMs: hourMs };
  for (const retriesLate of [false, true]) {
    const failure = await failureOf((pool) => pool.run('spin', {}), { limits, retriesLate });
    assert.deepEqual(failure, ['unreadable', 'took longer than 0.02 s to read', true, undefined]);
  }
});

test('where only time has passed, the pool says whether another try is made', async () => {
  const limits = { processorMs: hourMs, timeoutMs: 20 };
  const failed = (retriesLate: boolean) => failureOf((pool) => pool.run('wait', {}), { limits, retriesLate });
  assert.deepEqual(await failed(false), ['unreadable', 'took longer than 0.02 s to read', true, undefined]);
  assert.deepEqual(await failed(true), ['job', 'took longer than 0.02 s to read', false, undefined]);
});

test('one that finds too many waiting comes again', async () => {
  const abort = new AbortController();
  const crowd = async (pool: Pool) => {
    const ahead = [0, 1].map(() => pool.run('wait', {}, { signal: abort.signal }).catch(() => {}));
    try {
      await pool.run('read', {});
    } finally {
      abort.abort();
      await Promise.all(ahead);
    }
  };
  assert.deepEqual(await failureOf(crowd, { retryAfterMs: 1500 }), ['job', 'too many wait', false, 1500]);
});

test("a bug stays one, and what is aborted ends with the signal's reason", async () => {
  const pool = open();
  try {
    await assert.rejects(pool.run('crash', {}), { name: 'TypeError', message: 'a bug' });
    const abort = new AbortController();
    const waiting = pool.run('wait', {}, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await assert.rejects(waiting, { message: 'enough' });
  } finally {
    await pool.close();
  }
});
