/** The smaller record kinds: models, rules, vectors, counters. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { installModel } from '../../src/commands/manage-models.ts';
import { watchRow } from '../machines/rows.ts';
import { TemporaryStore } from './temporary-store.ts';

const model = { id: 'local-wink-8', provider: 'local', model_name: 'wink', dim: 8, max_input_tokens: 100, floor: 0.25 };

/** As it was given, and canonical. */
const address = (url: string, domain: string) => ({ canonical_url: url, original_url: url, domain });

const start = { at: 1000, max_attempts: 3 };

test('the first model becomes the active one; later ones do not take its place', async () => {
  await using temporary = await TemporaryStore.open();
  const installed = { ...model, space: 1, status: 'ready' };
  assert.equal(temporary.reader.models.activeId(), null);
  assert.deepEqual(await temporary.commit(installModel(model, start)), installed);
  await temporary.reopen();
  assert.deepEqual(await temporary.commit(installModel({ ...model, id: 'other', floor: null }, start)), installed);
  assert.deepEqual(temporary.reader.models.all(), [installed]);
  assert.equal(temporary.reader.models.activeId(), 'local-wink-8');
});

test('a model that is made active where pages were read without one is filled with them, in the space that it has', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(({ counters }) => counters.take('page', 3));
  const { models, backfills, jobs } = temporary.reader;
  const installed = await temporary.commit(installModel(model, start));
  assert.deepEqual(installed, { ...model, space: 1, status: 'backfilling' });
  const { job_no, status, last_page } = backfills.get(1) ?? {};
  assert.deepEqual([models.activeId(), status, last_page], [model.id, 'running', 3]);
  assert.deepEqual([jobs.get(job_no ?? 0)?.kind, jobs.get(job_no ?? 0)?.status], ['backfill_model', 'pending']);
});

test('a model that was registered under the configured id is made active as it is', async () => {
  for (const [before, after] of [
    ['registered', 'backfilling'],
    ['failed', 'backfilling'],
    ['ready', 'ready'],
  ] as const) {
    await using temporary = await TemporaryStore.open();
    await temporary.commit(({ models, counters }) => {
      models.put({ ...model, max_input_tokens: 77, space: counters.take('space'), status: before });
    });
    const expected = { ...model, max_input_tokens: 77, space: 1, status: after };
    assert.deepEqual(await temporary.commit(installModel(model, start)), expected);
    assert.deepEqual(temporary.reader.models.all(), [expected]);
    assert.equal(temporary.reader.models.activeId(), model.id);
  }
});

test('a model id of any length is looked up: one that no model can have is unknown', async () => {
  await using temporary = await TemporaryStore.open();
  const longest = '𝕎'.repeat(200);
  await temporary.commit(installModel({ ...model, id: longest }, start));
  const { models } = temporary.reader;
  assert.equal(models.get(longest)?.id, longest);
  for (const id of ['x'.repeat(801), 'x'.repeat(5000), '𝕎'.repeat(2000)]) assert.equal(models.get(id), undefined);
});

test('vectors come back bit by bit, by space and page', async () => {
  await using temporary = await TemporaryStore.open();
  const whole = Float32Array.from({ length: 24 }, (_, i) => Math.fround(i / 7));
  await temporary.commit((transaction) => {
    transaction.vectors.put(1, 5, whole);
    transaction.vectors.put(1, 3, whole.subarray(8, 16));
    transaction.vectors.put(2, 5, new Float32Array(0));
  });
  await temporary.reopen();
  const { vectors } = temporary.reader;
  assert.deepEqual(vectors.get(1, 5), whole);
  assert.deepEqual(vectors.get(1, 3), whole.slice(8, 16));
  assert.deepEqual(vectors.get(2, 5), new Float32Array(0));
  assert.equal(vectors.get(2, 3), undefined);
  assert.deepEqual([[...vectors.pageNumbers(1)], vectors.count(1), vectors.count(3)], [[3, 5], 2, 0]);
  await temporary.commit((transaction) => transaction.vectors.remove(1, 3));
  assert.deepEqual([vectors.get(1, 3), vectors.count(1)], [undefined, 1]);
});

test('pages that come in meet a rule whatever became of the transactions before: put, taken back, removed', async () => {
  await using temporary = await TemporaryStore.open();
  const rule = { no: 1, pattern: 'a.example', kind: 'domain', reason: null, created_at: 5, purging: false } as const;
  const met = () =>
    temporary.commit(({ blacklist }) => blacklist.match(address('https://a.example/', 'a.example'))?.pattern ?? null);
  const failing = (change: 'put' | 'remove') =>
    temporary.commit(({ blacklist }) => {
      blacklist[change](rule);
      throw new Error('taken back');
    });
  assert.equal(await met(), null);
  await assert.rejects(failing('put'), { message: 'taken back' });
  assert.equal(await met(), null);
  await temporary.commit(({ blacklist }) => blacklist.put(rule));
  assert.equal(await met(), 'a.example');
  await assert.rejects(failing('remove'), { message: 'taken back' });
  assert.equal(await met(), 'a.example');
  await temporary.reopen();
  await assert.rejects(failing('remove'), { message: 'taken back' });
  assert.equal(await met(), 'a.example');
  await temporary.commit(({ blacklist }) => blacklist.remove(rule));
  assert.equal(await met(), null);
});

test('numbers are taken in a row, never twice over restarts, and are taken back with their transaction', async () => {
  await using temporary = await TemporaryStore.open();
  const taken = await temporary.commit(({ counters }) => [
    ...[counters.take('label', 3), counters.take('label'), counters.peek('label'), counters.take('page')],
  ]);
  assert.deepEqual(taken, [1, 4, 5, 1]);
  const takenBack = temporary.commit(({ counters }) => {
    counters.take('label', 10);
    throw new Error('taken back');
  });
  await assert.rejects(takenBack, { message: 'taken back' });
  await temporary.reopen();
  assert.deepEqual([temporary.reader.counters.peek('label'), temporary.reader.counters.peek('page')], [5, 2]);
  assert.equal(await temporary.commit(({ counters }) => counters.take('label')), 5);
});

test('a rule matches one URL exactly or a domain by label suffix, patterns of any length', async () => {
  await using temporary = await TemporaryStore.open();
  const long = `https://example.com/${'x'.repeat(5000)}`;
  const url = { no: 1, kind: 'url', pattern: long, reason: 'private', created_at: 1, purging: false } as const;
  const domain = { no: 2, kind: 'domain', pattern: 'co.example', reason: null, created_at: 2, purging: false } as const;
  const { blacklist } = temporary.reader;
  assert.equal(blacklist.match(address(long, 'example.com')), undefined);
  await temporary.commit((transaction) => {
    transaction.blacklist.put(url);
    transaction.blacklist.put(domain);
  });
  assert.deepEqual(blacklist.match(address(long, 'example.com')), url);
  assert.equal(blacklist.match(address(`${long}x`, 'example.com')), undefined);
  assert.deepEqual(blacklist.match(address('https://a.co.example/', 'a.co.example')), domain);
  assert.deepEqual(blacklist.match(address('https://co.example/', 'co.example')), domain);
  for (const other of ['example', 'xco.example', 'co.example.com', '']) {
    assert.equal(blacklist.match(address('https://x/', other)), undefined, other);
  }
});

test('a host of any number of labels is looked up as often as one that could be', async () => {
  await using temporary = await TemporaryStore.open();
  const { blacklist } = temporary.reader;
  const rule = { no: 1, kind: 'domain', pattern: 'b.com', reason: null, created_at: 2, purging: false } as const;
  await temporary.commit((transaction) => transaction.blacklist.put(rule));
  const lookedUp = mock.method(blacklist, 'find');
  assert.equal(blacklist.match(address('https://x/', `${'a.'.repeat(50_000)}com`)), undefined);
  assert.ok(lookedUp.mock.callCount() <= 128, `${lookedUp.mock.callCount()} rules looked up`);
});

test('a watch is found by its URL, by its latest poll and, enabled, when it is due', async () => {
  await using temporary = await TemporaryStore.open();
  const row = { ...watchRow({ no: 1, next_run_at: 5000, poll_job: 4 }), identity: 'https://example.com/feed' };
  await temporary.commit(({ watches }) => watches.put(row, undefined));
  const moved = { ...row, next_run_at: 9000, poll_job: 6 };
  await temporary.commit(({ watches }) => watches.put(moved, row));
  await temporary.reopen();
  const { watches } = temporary.reader;
  assert.deepEqual([watches.find(row.identity), watches.ofJob(6), watches.ofJob(4)], [moved, moved, undefined]);
  assert.deepEqual([watches.dueAt(8999, 10), watches.dueAt(9000, 10)], [[], [moved]]);
  const resting = { ...moved, enabled: false };
  await temporary.commit((transaction) => transaction.watches.put(resting, moved));
  assert.deepEqual([temporary.reader.watches.dueAt(9000, 10), temporary.reader.watches.list()], [[], [resting]]);
  await temporary.commit((transaction) => transaction.watches.remove(resting));
  const left = temporary.reader.watches;
  assert.deepEqual([left.find(row.identity), left.ofJob(6), left.list()], [undefined, undefined, []]);
});
