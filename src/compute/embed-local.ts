/**
 * The embedded embedding model: a text as the weighted mean of its word vectors beside a hashed sketch of its stems. No
 * corpus takes part: weights come from the words' frequency ranks in general English, so vectors made at any time, in any
 * order, on any machine compare. One embedder per thread; it keeps bounded caches and reads the shared word vectors.
 *
 *   part     dims               of a word (tf = its count, share = its Zipf share)      share of the cosine
 *   words    dim of the vectors tf × a / (a + share) × (vector − mean), a = 3e-5,       0.35 (1 when dim is that alone)
 *                               then the sum whitened (whitening.ts)
 *   sketch   all the rest       √tf × a / (a + share) × 8 signed cells, a = 1e-3        0.65
 *
 * Each part is made unit length, then scaled by the root of its share; a part without any word leaves its place zero and
 * the other is the whole vector. Choices and measurements: docs/embedded-model.md.
 */
import { addStemToSketch } from './stem-sketch.ts';
import { lookupTerm } from './term-table.ts';
import type { WordVectors } from './word-vectors.ts';
import { sifWeight, WORD_SIF_A, zipfShares } from './zipf-weight.ts';

/** Raised with any change that moves a vector: stored vectors of another version must be embedded again. */
export const LOCAL_MODEL_VERSION = 1;

/** Measured: 5e-4 to 2e-3 are alike, steeper weights lose up to 25 % on questions. */
const SKETCH_SIF_A = 1e-3;
/** Measured: 0.25, 0.35 and 0.45 give .614, .616 and .607. */
const WORD_SHARE = 0.35;
/** The title of a page counts this often in each of its passages; measured: once more than the text alone is +2 %. */
const TITLE_COUNT = 2;
/** About 10 MB; past it the cache starts anew. */
const MAX_CACHED_WORDS = 100_000;

export interface TermSequence {
  /** Lower-cased surface forms, '' for punctuation; aligned with `stems`. */
  words: readonly string[];
  stems: readonly string[];
}

export interface LocalEmbedder {
  dim: number;
  /**
   * Embed the tokens from..to of an analyzed text into out[offset .. offset + dim), unit length.
   * `title`: terms of the page's title; they take part in every passage of the page.
   * Returns false and a row of zeros when there is no term in it at all: such a row must not be indexed.
   */
  embedDocument(
    words: readonly string[],
    stems: readonly string[],
    from: number,
    to: number,
    out: Float32Array,
    offset: number,
    title?: TermSequence,
  ): boolean;
  /**
   * Embed a query. `known`: how many of its words are in the vocabulary of the word vectors; a stem that is only hashed is
   * not known. All zeros when the query has no term.
   */
  embedQuery(words: readonly string[], stems: readonly string[]): { vector: Float32Array; known: number };
}

/**
 * Make an embedder of `dim` dimensions: that of the vectors (words only) or at least twice that.
 * Errors: RangeError for any other dim.
 */
export function createLocalEmbedder(vectors: WordVectors, dim: number): LocalEmbedder {
  if (!Number.isInteger(dim) || (dim !== vectors.dim && dim < 2 * vectors.dim)) {
    throw new RangeError(`dim is ${dim}, must be ${vectors.dim} or at least ${2 * vectors.dim}`);
  }
  const wordDim = vectors.dim;
  const sketchDim = dim - wordDim;
  const wordIds = new Map<string, number>();
  const wordSum = new Float64Array(wordDim);
  const wordPart = new Float64Array(wordDim);
  const sketch = new Float64Array(sketchDim);
  const stemCounts = new Map<string, { count: number; weight: number }>();
  const shareOf = zipfShares(vectors.count);
  let wordWeight = 0;
  let known = 0;
  let terms = 0;

  function wordId(word: string): number {
    let id = wordIds.get(word);
    if (id === undefined) {
      id = lookupTerm(vectors.vocabulary, word);
      if (wordIds.size >= MAX_CACHED_WORDS) wordIds.clear();
      wordIds.set(word, id);
    }
    return id;
  }

  function addTerms(words: readonly string[], stems: readonly string[], from: number, to: number, times: number): void {
    for (let at = from; at < to; at++) {
      const word = words[at];
      const stem = stems[at];
      if (stem === '' && word === '') continue;
      const id = word === '' ? -1 : wordId(word);
      if (id >= 0) {
        known++;
        addWord(id, times);
      }
      if (stem !== '' && sketchDim > 0) addStem(stem, id, times);
      terms++;
    }
  }

  function addWord(id: number, times: number): void {
    const weight = times * sifWeight(shareOf(id), WORD_SIF_A);
    wordWeight += weight;
    const { rows } = vectors;
    const scale = weight * vectors.scales[id];
    const row = id * wordDim;
    for (let k = 0; k < wordDim; k++) wordSum[k] += scale * rows[row + k];
  }

  /** A stem weighs as its commonest form in the text; a word outside the vocabulary as one just past its end. */
  function addStem(stem: string, id: number, times: number): void {
    const weight = sifWeight(shareOf(id < 0 ? vectors.count : id), SKETCH_SIF_A);
    const seen = stemCounts.get(stem);
    if (seen === undefined) stemCounts.set(stem, { count: times, weight });
    else {
      seen.count += times;
      seen.weight = Math.min(seen.weight, weight);
    }
  }

  function clear(): void {
    wordSum.fill(0);
    wordWeight = 0;
    sketch.fill(0);
    stemCounts.clear();
    known = 0;
    terms = 0;
  }

  function whitenWords(): void {
    const { whitening, mean } = vectors;
    for (let k = 0; k < wordDim; k++) wordSum[k] -= wordWeight * mean[k];
    for (let i = 0; i < wordDim; i++) {
      let sum = 0;
      for (let j = 0; j < wordDim; j++) sum += whitening[i * wordDim + j] * wordSum[j];
      wordPart[i] = sum;
    }
  }

  /** Write what was added as one row of unit length. */
  function finish(out: Float32Array, offset: number): boolean {
    for (const [stem, { count, weight }] of stemCounts) addStemToSketch(stem, Math.sqrt(count) * weight, sketch);
    whitenWords();
    const wordNorm = norm(wordPart);
    const sketchNorm = norm(sketch);
    const both = wordNorm > 0 && sketchNorm > 0;
    const wordScale = wordNorm > 0 ? Math.sqrt(both ? WORD_SHARE : 1) / wordNorm : 0;
    const sketchScale = sketchNorm > 0 ? Math.sqrt(both ? 1 - WORD_SHARE : 1) / sketchNorm : 0;
    for (let k = 0; k < wordDim; k++) out[offset + k] = wordPart[k] * wordScale;
    for (let k = 0; k < sketchDim; k++) out[offset + wordDim + k] = sketch[k] * sketchScale;
    return wordNorm > 0 || sketchNorm > 0;
  }

  return {
    dim,
    embedDocument(words, stems, from, to, out, offset, title) {
      clear();
      addTerms(words, stems, from, to, 1);
      // A title alone is no content: a passage without a term stays empty.
      if (terms > 0 && title !== undefined) addTerms(title.words, title.stems, 0, title.words.length, TITLE_COUNT);
      return finish(out, offset);
    },
    embedQuery(words, stems) {
      clear();
      addTerms(words, stems, 0, words.length, 1);
      const vector = new Float32Array(dim);
      finish(vector, 0);
      return { vector, known };
    },
  };
}

function norm(values: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k] * values[k];
  return Math.sqrt(sum);
}
