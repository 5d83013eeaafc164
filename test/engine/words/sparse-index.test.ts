import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { randomStream } from '../../../bench/workload.ts';
import { IndexClosedError } from '../../../src/engine/index-folder.ts';
import { createScratch } from '../../../src/engine/words/search-segments.ts';
import { createDeletions } from '../../../src/engine/words/segment.ts';
import type { SparseIndexOptions } from '../../../src/engine/words/sparse-index.ts';
import { SparseSearcher } from '../../../src/engine/words/sparse-searcher.ts';
import { QueueFullError, type SharedPool } from '../../../src/threads/thread-pool.ts';
import { buildSegment } from './small-corpus.ts';
import {
  closeThreads,
  documentOf,
  namespace,
  openThreads,
  type SearchTasks,
  SparseHarness,
  type Threads,
  temporaryFolder,
  wordsOnly,
} from './sparse-harness.ts';

const WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'constructor'];
let threads: Threads;
before(() => {
  threads = openThreads();
});
after(() => closeThreads(threads));

/** An empty index in a folder of its own, which are closed and deleted behind the test. */
async function openedIndex(t: TestContext, options: Partial<SparseIndexOptions> = {}, pools = threads) {
  const folder = await temporaryFolder();
  const harness = await SparseHarness.open(pools, folder.path, new Map(), options);
  t.after(async () => {
    await harness.index.close();
    await folder[Symbol.asyncDispose]();
  });
  return Object.assign(harness, { path: folder.path });
}
function randomDocument(random: () => number) {
  const words = (most: number) =>
    Array.from({ length: Math.floor(random() * most) }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)]);
  return { title: words(3), section: words(2), body: words(20) };
}

test('when add resolves, every searcher finds the documents', async (t) => {
  const harness = await openedIndex(t);
  await harness.add(7, [documentOf('ant', 'bee'), documentOf('bee', 'cat')]);
  await harness.assertExact(WORDS);
});

test('documents added and removed at once by many callers are all searchable exactly, in a bounded number of segments', async (t) => {
  const random = randomStream(1, 0, 0);
  const harness = await openedIndex(t, { maxSegments: 16 });
  let nextLabel = 1;
  for (let round = 0; round < 6; round++) {
    const adds = Array.from({ length: 60 }, () => {
      const documents = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomDocument(random));
      const first = nextLabel;
      nextLabel += documents.length + 1;
      return harness.add(first, documents);
    });
    harness.remove([...harness.documents.keys()].filter(() => random() < 0.2));
    await Promise.all(adds);
    harness.remove([...harness.documents.keys()].filter(() => random() < 0.1));
    await harness.assertExact(WORDS);
  }
  await harness.index.consolidate();
  await harness.assertExact(WORDS);
  const { segments, docs } = harness.index.stats();
  assert.equal(docs, harness.documents.size);
  assert.ok(segments <= 8, `${segments} segments`);
});

test('a document deleted while its segment is being merged stays deleted', async (t) => {
  const harness = await openedIndex(t);
  for (let label = 0; label < 5; label++) await harness.add(label, [documentOf('ant', WORDS[label])]);
  const consolidated = harness.index.consolidate();
  await threads.worker.run('mergeSegments', []);
  harness.remove([1, 3]);
  await consolidated;
  await harness.assertExact(WORDS);
  const { segments, docs } = harness.index.stats();
  assert.deepEqual({ segments, docs }, { segments: 1, docs: 3 });
});

test('a label removed before it is added is never found', async (t) => {
  const harness = await openedIndex(t);
  harness.index.remove([2]);
  await harness.add(1, [documentOf('ant'), documentOf('ant'), documentOf('ant')]);
  harness.documents.delete(2);
  await harness.assertExact(['ant']);
});

test('adding a label again changes nothing', async (t) => {
  const harness = await openedIndex(t);
  const documents = [documentOf('ant'), documentOf('ant', 'bee')];
  await Promise.all([harness.add(1, documents), harness.add(1, documents)]);
  await harness.add(2, [documentOf('ant', 'bee')]);
  await harness.assertExact(WORDS);
  assert.equal(harness.index.stats().docs, 2);
});

test('adds past the bound are refused and those before it are kept', async (t) => {
  const harness = await openedIndex(t, { maxWaiting: 3 });
  const { buffer } = buildSegment([documentOf('ant')]);
  const adds = Array.from({ length: 6 }, (_, label) => harness.index.add(buffer.slice(0), Uint32Array.of(label)));
  const outcomes = await Promise.allSettled(adds);
  outcomes.forEach((outcome, label) => {
    if (outcome.status === 'fulfilled') harness.documents.set(label, documentOf('ant'));
    else assert.ok(outcome.reason instanceof QueueFullError);
  });
  assert.ok(harness.documents.size >= 3 && harness.documents.size < 6);
  await harness.assertExact(['ant']);
});

test('labels that do not ascend or do not match the documents are refused', async () => {
  await using folder = await temporaryFolder();
  const harness = await SparseHarness.open(threads, folder.path, new Map());
  const { buffer } = buildSegment([documentOf('ant'), documentOf('bee')]);
  await assert.rejects(harness.index.add(buffer, Uint32Array.of(2, 1)), RangeError);
  await assert.rejects(harness.index.add(buffer, Uint32Array.of(1)), RangeError);
  await harness.index.close();
  await assert.rejects(harness.index.add(buffer, Uint32Array.of(1, 2)), IndexClosedError);
});

test('an add whose publication fails is not searchable, and succeeds when it is tried again', async (t) => {
  let failures = 0;
  const [reliable, flaky] = threads.searchers;
  const failing: SharedPool<SearchTasks> = {
    run: (name, argument, options) => {
      if (name === 'publish' && failures-- > 0) return Promise.reject(new Error('thread lost'));
      return flaky.run(name, argument, options);
    },
    inTurn: (piece) => piece(),
    queued: 0,
    load: 0,
  };
  const harness = await openedIndex(t, {}, { ...threads, searchers: [reliable, failing] as never });
  await harness.add(1, [documentOf('ant')]);
  failures = 1;
  const { buffer } = buildSegment([documentOf('ant', 'ant'), documentOf('bee')]);
  await assert.rejects(harness.index.add(buffer, Uint32Array.of(2, 3)), /thread lost/);
  harness.index.remove([3]);
  await harness.add(5, [documentOf('bee')]);
  await harness.assertExact(WORDS);
  await harness.add(2, [documentOf('ant', 'ant')]);
  await harness.index.add(buildSegment([documentOf('bee')]).buffer, Uint32Array.of(3));
  await harness.assertExact(WORDS);
});

test('a searcher that lost its segments gets them with the next publication, or when it is asked', async (t) => {
  const harness = await openedIndex(t);
  await harness.add(1, [documentOf('ant')]);
  await threads.searchers[0].run('publish', { namespace, ids: [], added: [] });
  await harness.add(2, [documentOf('ant')]);
  await harness.assertExact(WORDS);
  for (const searcher of threads.searchers) await searcher.run('release', { namespace });
  // One for each searcher, as the first is busy with its own.
  const asked = threads.searchers.map(() => harness.searchers.find({ ...wordsOnly, query: 'ant', k: 5 }));
  for (const { sparse, covered } of await Promise.all(asked))
    assert.deepEqual([[...sparse.labels], covered], [[1, 2], 1]);
  await harness.assertExact(WORDS);
});

test('a searcher has no corpus until all segments of the first snapshot are there', () => {
  const searcher = new SparseSearcher(createScratch(), null);
  assert.equal(searcher.corpus, null);
  assert.deepEqual(searcher.publish({ ids: [4], added: [] }), [4]);
  assert.equal(searcher.corpus, null);
  assert.deepEqual(searcher.publish({ ids: [], added: [] }), []);
  assert.deepEqual(searcher.corpus, []);
});

test('a searcher knows how much memory publications have made it drop', () => {
  const searcher = new SparseSearcher(createScratch(), null);
  const { buffer } = buildSegment([documentOf('ant')]);
  const deletions = createDeletions(1).buffer;
  searcher.publish({ ids: [1, 2], added: [1, 2].map((id) => ({ id, segment: buffer, deletions })) });
  assert.equal(searcher.droppedBytes, 0);
  searcher.publish({ ids: [2], added: [] });
  assert.equal(searcher.droppedBytes, buffer.byteLength);
});

test('after a purge no file and no segment holds a term of a removed document', async (t) => {
  const harness = await openedIndex(t);
  await harness.add(1, [documentOf('ant', 'secretword'), documentOf('ant')]);
  await harness.index.save();
  assert.ok((await filesHolding(harness.path, 'secretword')).length > 0);
  harness.remove([1]);
  await harness.index.purge();
  assert.deepEqual(await filesHolding(harness.path, 'secretword'), []);
  assert.equal(harness.index.stats().deletions, 0);
  await harness.assertExact(WORDS);
});

async function filesHolding(dir: string, word: string): Promise<string[]> {
  const holding: string[] = [];
  for (const file of await readdir(dir)) if ((await readFile(join(dir, file))).includes(word)) holding.push(file);
  return holding;
}
