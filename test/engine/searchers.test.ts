import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SearcherPool, Searchers } from '../../src/engine/searchers.ts';

/** A searcher that answers each task as told, with so much to do. */
function searcher(load: number, answers: Record<string, () => unknown>): SearcherPool & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    run: async (name: string) => {
      asked.push(name);
      return (await answers[name]?.()) as never;
    },
    inTurn: (piece) => piece(),
    queued: 0,
    load,
  };
}

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const never = () => Promise.reject(new Error('not lost'));
const query = { query: 'ant', dim: null, spelling: true, k: 1 };
const analyzed = {
  forms: [{ stem: 'ant', of: 0, row: -1 }],
  vector: null,
  wordPart: null,
  knownWords: 0,
  denseWeight: 1,
};
const labels = Uint32Array.of(1);
const whole = { analyzed, found: { labels, scores: new Float64Array(1), known: 1 }, beside: [], searchMs: 1 };

test('a task goes to the searcher with the least to do, whether its tasks run or wait', async () => {
  const busy = searcher(1, {});
  const idle = searcher(0, { find: () => whole, judge: () => ({ relevance: null, scores: null }) });
  const searchers = new Searchers([busy, idle], 'one', never, log);
  assert.equal(await searchers.find(query), whole);
  const candidates = { labels, cosine: null, wordCosine: null, outsideModel: false, floor: null };
  const judged = { relevance: null, scores: null };
  assert.deepEqual(await searchers.judge([], candidates, { order: true, relevance: false, reranked: 1 }), judged);
  assert.deepEqual([busy.asked, idle.asked], [[], ['find', 'judge']]);
});

test('a searcher without a snapshot is given it, and asked again', async () => {
  let held = false;
  const renewed = searcher(0, { find: () => (held ? whole : null) });
  const republish = async () => {
    held = true;
  };
  assert.equal(await new Searchers([renewed], 'one', republish, log).find(query), whole);
  assert.deepEqual(renewed.asked, ['find', 'find']);
  const lost = searcher(0, { find: () => null });
  const asking = new Searchers([lost], 'one', async () => undefined, log).find(query);
  await assert.rejects(asking, /did not take the segments/);
});

test('a searcher that has lost its segments is given them before it says which passages hold something', async () => {
  let republished = 0;
  const lost = searcher(0, { locate: () => (republished === 0 ? null : [Uint32Array.of(3)]) });
  const republish = async () => {
    republished++;
  };
  const held = [{ in: 'phrase', text: 'ant' }] as const;
  assert.deepEqual(await new Searchers([lost], 'one', republish, log).locate(held), [Uint32Array.of(3)]);
  assert.deepEqual([lost.asked, republished], [['locate', 'locate'], 1]);
});
