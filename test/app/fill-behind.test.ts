/** Vectors of the built-in model come behind the words: order, restart, refusals, pause, forgetting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { jobListQuery } from '../../src/domain/job.ts';
import { until } from '../process/service.ts';
import { encoderOfWords } from './encoder-of-words.ts';
import { library, WholeSystem } from './whole-system.ts';

const modelOf = async (system: WholeSystem) => (await system.ask('model.list', {})).models[0];
const filled = (system: WholeSystem) =>
  until(async () => (await modelOf(system)).vectors_pending === 0, 'all vectors are there');
const longText = (word: string) => Array.from({ length: 1500 }, (_, at) => `${word} number ${at} rests.`).join(' ');

test('a page is indexed before it has vectors, and first chunks come before the others', async (t) => {
  const asked: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const encode = async (texts: readonly string[]) => {
    await gate;
    asked.push(...texts);
  };
  const system = await WholeSystem.start(t, {}, { aroundEmbedders: encoderOfWords(encode) });
  const texts = { one: { title: 'One', text: longText('heron') }, two: { title: 'Two', text: longText('stork') } };
  const { two } = await system.read(texts);
  const { vectors_pending = 0, pages_pending } = await modelOf(system);
  assert.equal(pages_pending, 2);
  assert.ok(vectors_pending > 4);
  assert.equal(await system.counted('vectors_pending'), vectors_pending);
  open();
  await filled(system);
  const [{ id }] = (await system.ask('model.list', {})).models;
  const progress = async () => {
    const { embedded_chunks, total_chunks } = await system.ask('model.backfill', { model_id: id });
    return [embedded_chunks, total_chunks];
  };
  assert.deepEqual(await progress(), [vectors_pending, vectors_pending]);
  await system.ask('page.forget', { url: (await system.page(two)).canonical_url });
  await until(async () => (await progress())[1] < vectors_pending, 'the forgotten page does not count');
  const [embedded, total] = await progress();
  assert.equal(embedded, total);
  const titles = asked.map((text) => text.split('\n')[0]);
  assert.deepEqual(new Set(titles.slice(0, 2)), new Set(['One', 'Two']), 'the first chunk of each page');
  assert.equal(titles.length, vectors_pending, 'each chunk once');
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.waiting], [[], [], 0]);
});

test('a stop between batches loses nothing, and what is half filled is sound', async (t) => {
  let batches = 0;
  let isStuck = true;
  const encode = async () => {
    if (isStuck && ++batches > 2) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
  };
  const system = await WholeSystem.start(t, {}, { aroundEmbedders: encoderOfWords(encode) });
  await system.read({ one: { title: 'One', text: longText('heron') } });
  await until(() => batches > 2, 'two batches are stored');
  const { vectors_pending: before = 0 } = await modelOf(system);
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.waiting], [[], [], 1]);
  isStuck = false;
  await system.start();
  assert.ok(((await modelOf(system)).vectors_pending ?? 0) <= before);
  await filled(system);
});

test('a text that the encoder refuses is noted, and the others have their vectors', async (t) => {
  const refuse = (texts: readonly string[]) => !texts.some((text) => text.includes('frogs'));
  const system = await WholeSystem.start(t, {}, { aroundEmbedders: encoderOfWords(refuse) });
  await system.read(library);
  await filled(system);
  const { id } = await modelOf(system);
  await until(
    async () => (await system.ask('model.backfill', { model_id: id })).status === 'complete',
    'it is complete',
  );
  assert.match((await system.ask('model.backfill', { model_id: id })).last_error ?? '', /2 chunks have no vector/);
});

test('a pause lasts over a restart, and ends', async (t) => {
  const system = await WholeSystem.start(t, {}, { aroundEmbedders: encoderOfWords() });
  await system.ask('model.pauseFill', { paused: true });
  await system.read(library);
  await system.stop();
  await system.start();
  const { vectors_pending, paused } = await modelOf(system);
  assert.deepEqual([vectors_pending, paused], [6, true]);
  const jobs = async () => (await system.ask('job.list', jobListQuery.parse({ kind: 'backfill_model' }))).jobs;
  assert.deepEqual(
    (await jobs()).map(({ status, attempts }) => [status, attempts]),
    [['pending', 0]],
  );
  await system.ask('model.pauseFill', { paused: false });
  await filled(system);
});
