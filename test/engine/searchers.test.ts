import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCandidates } from '../../src/engine/retrieve.ts';
import { type SearcherPool, Searchers } from '../../src/engine/searchers.ts';
import { VectorRows } from '../../src/engine/vectors/vector-rows.ts';
import { createMember } from '../../src/engine/words/segment.ts';
import { buildSegment } from './words/small-corpus.ts';
import { documentOf, wordsOnly } from './words/sparse-harness.ts';

type Answers = Record<string, (task: never) => unknown>;

/** A searcher that answers each task as told, with so much to do. */
function searcher(load: number, answers: Answers): SearcherPool & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    run: async (name: string, task: unknown, { signal } = {}) => {
      signal?.throwIfAborted();
      asked.push(name);
      return (await answers[name]?.(task as never)) as never;
    },
    inTurn: (piece) => piece(),
    queued: 0,
    load,
  };
}

/** A searcher as a thread is: it answers once it has segment 1 and rows, and `replace` makes it another, without both. */
function thread() {
  const held = { segments: new Set<number>(), rows: new Map<number, unknown>() };
  const isReady = () => held.segments.size > 0 && held.rows.size > 0;
  const pool = searcher(0, {
    publish({ ids, added }: { ids: number[]; added: { id: number }[] }) {
      for (const { id } of added) held.segments.add(id);
      return ids.filter((id) => !held.segments.has(id));
    },
    openRows: ({ id, shared, reader }: { id: number; shared: unknown; reader: number }) =>
      void held.rows.set(id, { shared, reader }),
    closeRows: ({ id }: { id: number }) => void held.rows.delete(id),
    find: () => (isReady() ? noCandidates : null),
    locate: () => (isReady() ? [] : null),
    match: () => (isReady() ? new Uint32Array(0) : null),
    nearest: () => (isReady() ? noCandidates.dense : null),
    related: () => (isReady() ? [] : null),
    mark: () => (isReady() ? [] : null),
    sketch: () => (isReady() ? new Map() : null),
  });
  const replace = () => {
    held.segments.clear();
    held.rows.clear();
    pool.asked.length = 0;
  };
  return { pool, held, replace };
}

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const query = { ...wordsOnly, query: 'ant', k: 1 };
const words = { query: 'ant', prefix: false, spelling: true, end: 64, least: 0, vectors: null };
const near = { rows: 1, to: Float32Array.of(1), k: 1, minScore: -1 };
const related = { rows: 1, to: Uint32Array.of(1), k: 1, few: 1, minScore: -1, except: new Set<number>() };
const passages = { passages: [], stems: [] };

test('a task goes to the searcher with the least to do, whether its tasks run or wait', async () => {
  const busy = searcher(1, {});
  const idle = searcher(0, { find: () => noCandidates });
  const searchers = new Searchers([busy, idle], 'one', log);
  assert.equal(await searchers.find(query), noCandidates);
  assert.deepEqual([busy.asked, idle.asked], [[], ['find']]);
});

test('a searcher that was replaced is given all segments and open rows, and asked again, whatever the task', async () => {
  const { pool, held, replace } = thread();
  const searchers = new Searchers([searcher(1, { publish: () => [] }), pool], 'one', log);
  await searchers.publish([createMember(1, buildSegment([documentOf('ant')]))]);
  const { shared } = VectorRows.create(2);
  const closed = await searchers.openRows(shared);
  const open = await searchers.openRows(shared);
  await searchers.closeRows(closed);
  const tasks = {
    find: () => searchers.find(query),
    locate: () => searchers.locate([{ in: 'phrase', text: 'ant' }]),
    match: () => searchers.match(words),
    sketch: () => searchers.sketch([1]),
    nearest: () => searchers.nearest(near),
    related: () => searchers.related(related),
    mark: () => searchers.mark(passages),
  };
  for (const [name, ask] of Object.entries(tasks)) {
    replace();
    await ask();
    // It is asked which segments it lacks first.
    assert.deepEqual(pool.asked, [name, 'publish', 'publish', 'openRows', name]);
    assert.deepEqual([...held.rows], [[open, { shared, reader: 2 }]]);
  }
});

test('a searcher that has nothing after it was given all fails the task', async () => {
  const lost = searcher(0, { find: () => null, publish: () => [] });
  await assert.rejects(new Searchers([lost], 'one', log).find(query), /could not open its segments/);
});

test('no task is given to a searcher for a client that has left', async () => {
  const idle = searcher(0, {});
  const searchers = new Searchers([idle], 'one', log);
  const gone = AbortSignal.abort();
  for (const asking of [
    searchers.find(query, gone),
    searchers.locate([], gone),
    searchers.match(words, gone),
    searchers.sketch([1], gone),
    searchers.nearest(near, gone),
    searchers.related(related, gone),
    searchers.mark(passages, gone),
  ])
    await assert.rejects(asking, { name: 'AbortError' });
  assert.deepEqual(idle.asked, []);
});

test('a search whose rows were copied meanwhile is repeated with the copy', async () => {
  const asked: number[] = [];
  const { shared } = VectorRows.create(2);
  let first = 0;
  const pool = searcher(0, {
    publish: () => [],
    nearest: async ({ rows }: { rows: number }) => {
      asked.push(rows);
      if (rows !== first) return noCandidates.dense;
      const copy = await searchers.openRows(shared, first);
      await searchers.openRows(shared, copy);
      await searchers.closeRows(first);
      return null;
    },
  });
  const searchers = new Searchers([pool], 'one', log);
  first = await searchers.openRows(shared);
  assert.equal(await searchers.nearest({ ...near, rows: first }), noCandidates.dense);
  assert.deepEqual(asked, [first, first + 2]);
});

test('what needs a graph goes to the searcher that has it, also after the rows were copied', async () => {
  const answers = { openGraph: () => true, nearest: () => noCandidates.dense, find: () => noCandidates };
  const [owner, idle] = [searcher(3, answers), searcher(0, answers)];
  const searchers = new Searchers([owner, idle], 'one', log);
  const { shared } = VectorRows.create(2);
  const rows = await searchers.openRows(shared);
  assert.equal(await searchers.openGraph(rows, 'path'), true);
  const copy = await searchers.openRows(shared, rows);
  const vectors = { rows: copy, vector: new SharedArrayBuffer(12), floor: null };
  const askedOf = async (ask: () => Promise<unknown>) => {
    for (const each of [owner, idle]) each.asked.length = 0;
    await ask();
    return [owner.asked.length, idle.asked.length];
  };
  assert.deepEqual(await askedOf(() => searchers.nearest({ ...near, rows: copy })), [1, 0]);
  assert.deepEqual(await askedOf(() => searchers.find({ ...query, vectors })), [1, 0]);
  assert.deepEqual(await askedOf(() => searchers.find(query)), [0, 1]);
  await searchers.closeGraph(copy);
  assert.deepEqual(await askedOf(() => searchers.nearest({ ...near, rows: copy })), [0, 1]);
});
