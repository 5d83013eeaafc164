import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SearcherPool, Searchers } from '../../src/index/searchers.ts';

/** A searcher that answers each task as told, with so much to do. */
function searcher(load: number, answers: Record<string, () => unknown>): SearcherPool & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    run: async (name: string) => {
      asked.push(name);
      return answers[name]?.() as never;
    },
    queued: 0,
    load,
    close: async () => undefined,
  };
}

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const never = () => Promise.reject(new Error('not lost'));
const query = { terms: ['ant'], k: 1 };
const found = { labels: Uint32Array.of(1), scores: new Float64Array(1), known: 1 };

test('a task goes to the searcher with the least to do, whether its tasks run or wait', async () => {
  const busy = searcher(1, {});
  const idle = searcher(0, { analyze: () => 'analyzed', search: () => found, rerank: () => null });
  const searchers = new Searchers([busy, idle], never, log);
  assert.equal(await searchers.analyze('ant', null), 'analyzed');
  assert.equal(await searchers.search(query), found);
  assert.equal(
    await searchers.rerank([], { labels: found.labels, cosine: null, wordCosine: null, outsideModel: false }),
    null,
  );
  assert.deepEqual([busy.asked, idle.asked], [[], ['analyze', 'search', 'rerank']]);
});

test('a searcher without a snapshot is given it, and asked again', async () => {
  let held = false;
  const renewed = searcher(0, { search: () => (held ? found : null) });
  const republish = async () => {
    held = true;
  };
  assert.equal(await new Searchers([renewed], republish, log).search(query), found);
  assert.deepEqual(renewed.asked, ['search', 'search']);
  const lost = searcher(0, { search: () => null });
  await assert.rejects(new Searchers([lost], async () => undefined, log).search(query), /did not take the segments/);
});
