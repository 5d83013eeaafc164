import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { fusionLearner, fusionLearning, isLearningDue } from '../../../src/actors/models/learn-fusion.ts';
import { Shelf } from '../shelf.ts';

const words = 'alder birch cedar dogwood elm fir ginkgo hazel ivy juniper katsura larch'.split(' ');

/** Sixty pages of words that no other page has; the words of a query find them second, and vectors find them first or not at all. */
async function openShelf(vectorsKnow: boolean) {
  const shelf = await Shelf.open();
  for (let page = 1; page <= 60; page++)
    await shelf.add({ title: '', text: `${words.map((word) => `${word}${page}`).join(' ')}.` });
  const labelOf = (no: number) => shelf.reader.pages.head(no)?.first_label ?? 0;
  const state = { degraded: 0, asked: 0 };
  shelf.answers['index.retrieve'] = (({ query }: { query: string }) => {
    state.asked++;
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
      timing_ms: state.degraded === 1 ? { degraded_dense: 1 } : {},
    };
  }) as never;
  const commit = (command: never) => shelf.temporary.commit(command);
  const learn = fusionLearner({ ask: shelf.ask, reader: shelf.reader, commit: commit as never });
  const model = () => {
    const found = shelf.reader.models.get('m1');
    assert.ok(found !== undefined);
    return found;
  };
  return { shelf, state, learn, model };
}

const goOn = () => false;

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

test('nothing is learned where the provider does not answer, or the service stops', async () => {
  const { shelf, state, learn, model } = await openShelf(true);
  await using _ = shelf;
  state.degraded = 1;
  assert.equal(await learn(model(), goOn), false);
  assert.equal(state.asked, 31);
  state.degraded = 0;
  assert.equal(await learn(model(), () => state.asked > 40), false);
  assert.equal(model().fusion, undefined);
});

test('a model that cannot be learned is asked again later and later, until it answers', async () => {
  const { shelf, state, model } = await openShelf(true);
  await using _ = shelf;
  let now = 0;
  const commit = (command: never) => shelf.temporary.commit(command);
  const learnDue = fusionLearning({
    ask: shelf.ask,
    reader: shelf.reader,
    commit: commit as never,
    log: pino({ level: 'silent' }),
    now: () => now,
  });
  state.degraded = 1;
  const tries: number[] = [];
  for (; now < 1_000_000; now += 30_000) {
    const before = state.asked;
    await learnDue(goOn);
    if (state.asked > before) tries.push(now / 60_000);
  }
  assert.deepEqual(tries, [0, 1, 3, 7, 15]);
  state.degraded = 0;
  now = 31 * 60_000;
  await learnDue(goOn);
  assert.equal(model().fusion?.pages, 60);
});
