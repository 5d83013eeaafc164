import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SearcherPool, Searchers } from '../../src/engine/searchers.ts';

/** A searcher that answers each task as told, with so much to do. */
function searcher(load: number, answers: Record<string, () => unknown>): SearcherPool & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    run: async (name: string, _task: unknown, { signal } = {}) => {
      signal?.throwIfAborted();
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
const query = { query: 'ant', spelling: true, k: 1 };
const analyzed = {
  forms: [{ stem: 'ant', of: 0 }],
};
const labels = Uint32Array.of(1);
const whole = { analyzed, found: { labels, scores: new Float64Array(1) }, beside: [], searchMs: 1 };

test('a task goes to the searcher with the least to do, whether its tasks run or wait', async () => {
  const busy = searcher(1, {});
  const idle = searcher(0, { find: () => whole });
  const searchers = new Searchers([busy, idle], 'one', never, log);
  assert.equal(await searchers.find(query), whole);
  assert.deepEqual([busy.asked, idle.asked], [[], ['find']]);
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

test('no task is given to a searcher for a client that has left', async () => {
  const idle = searcher(0, {});
  const searchers = new Searchers([idle], 'one', never, log);
  const gone = AbortSignal.abort();
  for (const asking of [
    searchers.find(query, gone),
    searchers.locate([], gone),
    searchers.mark({ passages: [], stems: [] }, gone),
  ])
    await assert.rejects(asking, { name: 'AbortError' });
  assert.deepEqual(idle.asked, []);
});
