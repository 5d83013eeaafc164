/** What a search reads of long pages: a passage costs its own length, wherever it lies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOutsideReranker } from '../../../src/actors/search/outside-reranker.ts';
import { presentPage, textsOf } from '../../../src/actors/search/present-page.ts';
import { CountedReads } from '../../store/counted-reads.ts';
import { LongPage } from './long-page.ts';

const why = { exact: null, keyword_rank: 1, vector_rank: null, reranked: false };
/** A part of a text, a part of a list of chunks. */
const [textPart, chunkPart] = [8000, 64];

test('a passage of a page of two megabytes costs one or two parts of its text, wherever it lies', async () => {
  await using long = await LongPage.make();
  await using counted = CountedReads.open(long.path);
  for (const ordinal of [0, 1, long.chunks.length >> 1, long.chunks.length - 1]) {
    const ordered = { ...long.ordered(ordinal), exact: null, relevance: null };
    const presentation = {
      chunks_per_page: 2,
      quoting: new Set<number>(),
      explain: () => why,
      relevanceOf: () => 0.5,
      readText: textsOf(counted.reader),
    };
    const [passage] = presentPage(counted.reader, ordered, presentation)?.chunks ?? [];
    const { char_start, char_end } = long.chunks[ordinal];
    assert.deepEqual([passage.ordinal, passage.text], [ordinal, long.text.slice(char_start, char_end)]);
    const read = counted.take();
    assert.ok(sum(read, 'bodies', 'body_parts') <= 2 * textPart, JSON.stringify(read));
    assert.ok(sum(read, 'chunks', 'chunk_parts') <= chunkPart, JSON.stringify(read));
    assert.equal(sum(read, 'page_sections'), 0);
  }
});

test('a reranker outside is sent passages that cost their own length', async () => {
  await using long = await LongPage.make();
  await using counted = CountedReads.open(long.path);
  const sent: string[] = [];
  const reranker = openOutsideReranker({
    reranker: {
      rerank: async (_, texts) => {
        sent.push(...texts);
        return new Float64Array(texts.length);
      },
    },
    name: 'outside',
    reader: counted.reader,
    maxCandidates: 100,
    deadlineMs: 1000,
    onScored: () => {},
    log: long.log,
  });
  const [ordered] = [long.ordered(900)];
  await reranker.rerank('words', ordered.hits, new Map(ordered.hits.map(({ label }) => [label, 1])), undefined);
  const { char_start, char_end } = long.chunks[900];
  assert.deepEqual(sent, [`A long page\n${long.text.slice(char_start, char_end)}`]);
  const read = counted.take();
  assert.ok(sum(read, 'bodies', 'body_parts') <= 2 * textPart, JSON.stringify(read));
  assert.ok(sum(read, 'chunks', 'chunk_parts') <= chunkPart, JSON.stringify(read));
});

test('the length of a text, and its beginning, cost one part', async () => {
  await using long = await LongPage.make();
  await using counted = CountedReads.open(long.path);
  const { pages } = counted.reader;
  assert.equal(pages.bodyLength(1), long.text.length);
  assert.equal(pages.bodySlice(1, 0, 4000), long.text.slice(0, 4000));
  assert.equal(pages.hasBody(1), true);
  const read = counted.take();
  assert.ok(sum(read, 'bodies', 'body_parts') <= 2 * textPart, JSON.stringify(read));
});

function sum(read: Record<string, number>, ...names: string[]): number {
  return names.reduce((total, name) => total + (read[name] ?? 0), 0);
}
