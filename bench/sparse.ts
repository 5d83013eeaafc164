/**
 * Measures the sparse side in process, on the shared workload (seed 42): modelling, merging, searching, memory, and whether
 * the pruned search gives what reading every list whole gives. Prints one JSON object per size.
 * `node --expose-gc --import ./scripts/tsx-in-threads.mjs bench/sparse.ts [chunks …]`
 */

import { lookupTerm } from '../src/compute/structures/term-table.ts';
import { TopK } from '../src/compute/structures/top-k.ts';
import { contribution } from '../src/engine/words/bm25f.ts';
import { type CorpusSegment, corpusSegment, planQuery, type QueryPlan } from '../src/engine/words/corpus.ts';
import { mergeSegments } from '../src/engine/words/merge-segments.ts';
import { createScratch, type SparseHits, searchSegments } from '../src/engine/words/search-segments.ts';
import { createDeletions, MAX_SEGMENT_DOCS, openSegment, type Segment } from '../src/engine/words/segment.ts';
import { buildSegment, eachAWord } from '../test/engine/words/small-corpus.ts';
import { describeMachine } from './machine.ts';
import { openWorkload } from './workload.ts';

const SEED = 42;
const QUERIES = 300;
const TOP = 100;
const BATCH = 64;
/** Minis merged at a time, as the index does in its first tier. */
const FAN_IN = 8;

const wholeScores = new Float64Array(MAX_SEGMENT_DOCS);
const workload = openWorkload({ seed: SEED });
const sizes = process.argv.slice(2).map(Number);

for (const chunks of sizes.length > 0 ? sizes : [10_000, 100_000]) measure(chunks);

function measure(chunks: number): void {
  const { minis, modelMs } = modelAll(chunks);
  const mergeStarted = performance.now();
  const segments = mergeAll(minis);
  const mergeMs = performance.now() - mergeStarted;
  const corpus = segments.map((segment, id) => corpusSegment(id, segment, createDeletions(segment.docs)));
  const scratch = createScratch();
  const queries = Array.from({ length: QUERIES }, (_, i) => workload.query(i).words);
  const pruned = timeAll(queries, (words) => searchSegments(corpus, planQuery(corpus, eachAWord(words)), TOP, scratch));
  const whole = timeAll(queries, (words) => searchWhole(corpus, planQuery(corpus, eachAWord(words))));
  const planned = timeAll(queries, (words) => planQuery(corpus, eachAWord(words)));
  const postings = segments.reduce((sum, segment) => sum + segment.postings.length, 0);
  const postingsOfQuery = queries.map((words) => postingsOf(corpus, words)).sort((a, b) => a - b);
  console.log(
    JSON.stringify({
      seed: SEED,
      machine: describeMachine(),
      chunks,
      segments: segments.length,
      build: {
        model_chunks_per_s: Math.round(chunks / (modelMs / 1000)),
        merge_ms: Math.round(mergeMs),
        chunks_per_s: Math.round(chunks / ((modelMs + mergeMs) / 1000)),
      },
      memory: {
        postings,
        segment_mb: round4(segments.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) / 1e6),
      },
      search_ms: pruned.times,
      whole_lists_ms: whole.times,
      plan_ms: planned.times,
      postings_per_query_p50: postingsOfQuery[QUERIES >> 1],
      equal_to_whole_lists: sameHits(pruned.results, whole.results),
    }),
  );
}

function modelAll(chunks: number): { minis: Segment[]; modelMs: number } {
  const minis: Segment[] = [];
  let modelMs = 0;
  for (let first = 0; first < chunks; first += BATCH) {
    const count = Math.min(BATCH, chunks - first);
    const documents = Array.from({ length: count }, (_, i) => ({
      title: [],
      section: [],
      body: workload.chunkWords(first + i),
    }));
    const started = performance.now();
    const mini = buildSegment(documents);
    modelMs += performance.now() - started;
    for (let i = 0; i < count; i++) mini.labels[i] = first + i;
    minis.push(openSegment(mini.buffer));
  }
  return { minis, modelMs };
}

/** Merge in tiers of FAN_IN until no merge fits in a segment. */
function mergeAll(minis: readonly Segment[]): Segment[] {
  let tier = [...minis];
  for (;;) {
    const next: Segment[] = [];
    for (let first = 0; first < tier.length; ) {
      let end = first;
      for (let docs = 0; end < tier.length && end < first + FAN_IN; end++) {
        docs += tier[end].docs;
        if (docs > MAX_SEGMENT_DOCS) break;
      }
      const inputs = tier.slice(first, end).map((segment) => ({ segment, deletions: createDeletions(segment.docs) }));
      next.push(inputs.length === 1 ? inputs[0].segment : mergeSegments(inputs));
      first = end;
    }
    if (next.length === tier.length) return next;
    tier = next;
  }
}

/** The search without any pruning: each list whole into one array of scores, then every document offered. */
function searchWhole(corpus: readonly CorpusSegment[], plan: QueryPlan): SparseHits {
  const top = new TopK(new Float64Array(TOP));
  const { base, slope } = plan.norm;
  for (const { segment } of corpus) {
    const { docs, labels, lengths, postings, starts } = segment;
    const scores = wholeScores.fill(0, 0, docs);
    for (const { term, weight } of plan.terms) {
      const id = lookupTerm(segment.terms, term);
      if (id < 0) continue;
      for (let i = starts[id]; i < starts[id + 1]; i++) {
        const ordinal = postings[i] >>> 16;
        scores[ordinal] += contribution(weight, postings[i] & 0xffff, lengths[ordinal], base, slope);
      }
    }
    for (let doc = 0; doc < docs; doc++) if (scores[doc] > 0) top.offer(labels[doc], scores[doc]);
  }
  return top.take();
}

function postingsOf(corpus: readonly CorpusSegment[], words: readonly string[]): number {
  let count = 0;
  for (const { segment } of corpus) {
    for (const word of words) {
      const id = lookupTerm(segment.terms, word);
      if (id >= 0) count += segment.starts[id + 1] - segment.starts[id];
    }
  }
  return count;
}

/** Runs every query five times after a warm-up round; times in milliseconds. */
function timeAll<Result>(queries: readonly string[][], search: (words: readonly string[]) => Result) {
  const results = queries.map(search);
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (const words of queries) {
      const started = performance.now();
      search(words);
      times.push(performance.now() - started);
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => round4(times[Math.floor(share * (times.length - 1))]);
  return { results, times: { p50: at(0.5), p95: at(0.95), max: at(1) } };
}

function sameHits(a: readonly SparseHits[], b: readonly SparseHits[]): boolean {
  return a.every(({ labels, scores }, i) => sameNumbers(labels, b[i].labels) && sameNumbers(scores, b[i].scores));
}

function sameNumbers(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.from(a).every((value, i) => value === b[i]);
}

function round4(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
