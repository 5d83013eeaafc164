import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { fusionLearner, fusionLearning, isLearningDue } from '../../../src/actors/models/learn-fusion.ts';
import type { EmbeddingModel } from '../../../src/domain/model.ts';
import { ProviderError } from '../../../src/providers/provider-error.ts';
import { Shelf } from '../shelf.ts';

const words = 'alder birch cedar dogwood elm fir ginkgo hazel ivy juniper katsura larch'.split(' ');

/** Sixty pages of words that no other page has; the words of a query find them second, and vectors find them first or not at all. */
async function openShelf(vectorsKnow: boolean) {
  const shelf = await Shelf.open();
  for (let page = 1; page <= 60; page++)
    await shelf.add({ title: '', text: `${words.map((word) => `${word}${page}`).join(' ')}.` });
  const labelOf = (no: number) => shelf.reader.pages.head(no)?.first_label ?? 0;
  const state = { asked: 0, vectors: [] as (Float32Array | undefined)[] };
  shelf.answers['index.retrieve'] = (({ query, vector }: { query: string; vector?: Float32Array }) => {
    state.asked++;
    state.vectors.push(vector);
    const no = Number(/\d+/.exec(query)?.[0]);
    const other = (no % 60) + 1;
    const found = [labelOf(other), labelOf(no)];
    return {
      sparse: { labels: Uint32Array.from(found), scores: Float64Array.of(2, 1.9) },
      dense: { labels: Uint32Array.from(vectorsKnow ? found.toReversed() : found), scores: Float32Array.of(0.9, 0.1) },
      language: 'en',
      pageOf: new Map([
        [found[0], other],
        [found[1], no],
      ]),
      timing_ms: {},
    };
  }) as never;
  const commit = (command: never) => shelf.temporary.commit(command);
  /** How many queries each call had, and what a call answers. */
  const calls: number[] = [];
  const provider = { answer: (_: readonly string[]): void => {} };
  const embedders = {
    queryVectors: async (_: unknown, texts: readonly string[]) => {
      calls.push(texts.length);
      provider.answer(texts);
      return Float32Array.from(texts.flatMap((text) => [Number(/\d+/.exec(text)?.[0]), 0]));
    },
  };
  const parts = { ask: shelf.ask, reader: shelf.reader, commit: commit as never, embedders };
  const learn = fusionLearner(parts);
  const outside = (): EmbeddingModel => ({ ...model(), provider: 'elsewhere' });
  const model = () => {
    const found = shelf.reader.models.get('m1');
    assert.ok(found !== undefined);
    return found;
  };
  return { shelf, state, learn, model, outside, calls, provider, parts };
}

/** Of a service that does not stop. */
const goOn = new AbortController().signal;

test('a model whose vectors find what words do not gets a weight, kept with the model; learned again when the pages are a third more', async () => {
  const { shelf, learn, model } = await openShelf(true);
  await using _ = shelf;
  assert.equal(isLearningDue(model(), 49), false);
  assert.equal(isLearningDue(model(), 60), true);
  assert.equal(await learn(model(), goOn), true);
  assert.equal(model().fusion?.pages, 60);
  assert.ok((model().fusion?.weights.en ?? 0) > 0);
  assert.equal(isLearningDue(model(), 79), false);
  assert.equal(isLearningDue(model(), 80), true);
});

test('a model that finds no more than words counts nothing beside them', async () => {
  const { shelf, learn, model } = await openShelf(false);
  await using _ = shelf;
  assert.equal(await learn(model(), goOn), true);
  assert.deepEqual(model().fusion, { weights: { en: 0 }, pages: 60 });
});

test('an outside model is asked for many queries at once, and its vectors are what is searched by', async () => {
  const { shelf, state, learn, outside, calls } = await openShelf(true);
  await using _ = shelf;
  assert.equal(await learn(outside(), goOn), true);
  assert.deepEqual(calls, [...Array(9).fill(32), 12]);
  assert.equal(state.vectors.length, 300);
  for (const vector of state.vectors) assert.ok(vector !== undefined && vector[0] >= 1 && vector[0] <= 60);
});

test('queries that the provider refuses are left out; nothing is learned where it refuses many, does not answer, or the service stops', async () => {
  const { shelf, state, learn, outside, model, provider, calls } = await openShelf(true);
  await using _ = shelf;
  const refusing = (isRefused: (text: string) => boolean) => (texts: readonly string[]) => {
    if (texts.some(isRefused)) throw new ProviderError('elsewhere', 'refused', 'no such words');
  };
  provider.answer = refusing((text) => /[a-z]30\b/.test(text));
  assert.equal(await learn(outside(), goOn), true);
  assert.ok(state.asked < 300 && state.asked >= 270, `${state.asked} were searched`);
  provider.answer = refusing((text) => /[a-z][1-3]\d\b/.test(text));
  assert.equal(await learn(outside(), goOn), false);
  [state.asked, calls.length] = [0, 0];
  provider.answer = () => {
    throw new ProviderError('elsewhere', 'unreachable', 'nobody is there');
  };
  assert.equal(await learn(outside(), goOn), false);
  assert.deepEqual([state.asked, calls], [0, [32]]);
  provider.answer = () => {};
  const stopping = new AbortController();
  const turns: number[] = [];
  const stopSoon = async () => {
    if (turns.push(state.asked) === 3) stopping.abort();
  };
  const learned = model().fusion;
  assert.equal(await learn(outside(), stopping.signal, stopSoon), false);
  assert.deepEqual([turns, state.asked], [[0, 32, 64], 64]);
  assert.deepEqual(model().fusion, learned);
});

test('a model that cannot be learned is asked again later and later, until it answers', async () => {
  const { shelf, model, parts } = await openShelf(true);
  await using _ = shelf;
  let now = 0;
  let asked = 0;
  const ask = shelf.answers['index.retrieve'];
  assert.ok(ask !== undefined);
  shelf.answers['index.retrieve'] = () => {
    asked++;
    throw new Error('too much work is waiting');
  };
  const learnDue = fusionLearning({ ...parts, log: pino({ level: 'silent' }), now: () => now });
  const tries: number[] = [];
  for (; now < 1_000_000; now += 30_000) {
    const before = asked;
    await learnDue(goOn);
    if (asked > before) tries.push(now / 60_000);
  }
  assert.deepEqual(tries, [0, 1, 3, 7, 15]);
  shelf.answers['index.retrieve'] = ask;
  now = 31 * 60_000;
  await learnDue(goOn);
  assert.equal(model().fusion?.pages, 60);
});
