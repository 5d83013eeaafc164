/**
 * The embedded embedding model: a text as the weighted mean of its word vectors beside a hashed sketch of its stems. No
 * corpus takes part: weights come from the words' frequency ranks in general English, so vectors made at any time, in any
 * order, on any machine compare. One embedder per thread; it keeps bounded caches and reads the shared word vectors.
 *
 *   part     dims               of a word (tf = its count, share = its Zipf share)      share of the cosine
 *   words    dim of the vectors tf × a / (a + share) × (vector − mean), a = 3e-5,       0.35 (1 when dim is that alone)
 *                               then the sum whitened
 *   sketch   all the rest       √tf × a / (a + share) × 8 signed cells, a = 1e-3        0.65
 *
 * Each part is made unit length, then scaled by the root of its share; a part without any word leaves its place zero and
 * the other is the whole vector. Choices and measurements: docs/embedded-model.md.
 */
import { lookupTerm } from '../structures/term-table.ts';
import { Lexicon } from '../text/lexicon.ts';
import { addStemToSketch } from './stem-sketch.ts';
import { addVector, type WordVectors } from './word-vectors.ts';
import { sifWeight, WORD_SIF_A, zipfShares } from './zipf-weight.ts';

/** Raised with any change that moves a vector: stored vectors of another version must be embedded again. */
export const LOCAL_MODEL_VERSION = 5;

/** Measured: 5e-4 to 2e-3 are alike, steeper weights lose up to 25 % on questions. */
const SKETCH_SIF_A = 1e-3;
/** Measured: 0.25, 0.35 and 0.45 give .614, .616 and .607. */
const WORD_SHARE = 0.35;
/** The title of a page counts this often in each of its passages; measured: once more than the text alone is +2 %. */
const TITLE_COUNT = 2;
/** Terms given as strings that are remembered, about 20 MB; past it the cache starts anew. */
const MAX_REMEMBERED_TERMS = 100_000;
/** In place of a vector's number. */
const NOT_LOOKED_UP = -2;

export interface TermSequence {
  /** Lower-cased surface forms, '' for punctuation; aligned with `stems`. */
  words: readonly string[];
  stems: readonly string[];
}

export interface LocalEmbedder {
  dim: number;
  /**
   * Embed the tokens from..to of an analyzed text into out[offset .. offset + dim), unit length.
   * `terms`, `title`: terms of `lexicon`, 0 for punctuation; those of the page's title take part in every passage of the page.
   * Returns false and a row of zeros when there is no term in it at all: such a row must not be indexed.
   */
  embedTerms(
    lexicon: Lexicon,
    terms: Uint32Array,
    from: number,
    to: number,
    out: Float32Array,
    offset: number,
    title?: Uint32Array,
  ): boolean;
  /** The same for terms given as strings. */
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
  const wordSum = new Float64Array(wordDim);
  const wordPart = new Float64Array(wordDim);
  const sketch = new Float64Array(sketchDim);
  const shareOf = zipfShares(vectors.count);
  const wordWeights = (id: number) => sifWeight(shareOf(id), WORD_SIF_A);
  let wordWeight = 0;
  let known = 0;

  /** Terms given as strings. */
  let ownLexicon = new Lexicon();
  /** The lexicon that the columns below belong to. */
  let lexicon = ownLexicon;
  /** By term: its word's place among the vectors, -1 for none; its count in what is being embedded. */
  let wordIds = new Int32Array(0);
  let termCounts = new Float64Array(0);
  /** By stem number: its count, and the weight of its commonest form. */
  let stemCounts = new Float64Array(0);
  let stemWeights = new Float64Array(0);
  /** The terms and stems that have a count, in the order of the text. */
  const counted: number[] = [];
  const countedStems: number[] = [];

  function useLexicon(wanted: Lexicon): void {
    if (wanted === lexicon && wanted.size <= wordIds.length) return;
    const kept = wanted === lexicon ? wordIds : new Int32Array(0);
    const size = Math.max(1024, wanted.size * 2);
    wordIds = new Int32Array(size).fill(NOT_LOOKED_UP);
    wordIds.set(kept);
    termCounts = new Float64Array(size);
    stemCounts = new Float64Array(size);
    stemWeights = new Float64Array(size);
    lexicon = wanted;
  }

  function wordId(term: number): number {
    let id = wordIds[term];
    if (id === NOT_LOOKED_UP) {
      const word = lexicon.words[term];
      id = word === '' ? -1 : lookupTerm(vectors.vocabulary, word);
      wordIds[term] = id;
    }
    return id;
  }

  function countTerms(terms: Uint32Array, from: number, to: number, times: number): void {
    for (let at = from; at < to; at++) {
      const term = terms[at];
      if (term === 0) continue;
      if (termCounts[term] === 0) counted.push(term);
      termCounts[term] += times;
    }
  }

  function addWord(id: number, times: number): void {
    const weight = times * wordWeights(id);
    wordWeight += weight;
    addVector(vectors, id, weight, wordSum);
  }

  /** A stem weighs as its commonest form in the text; a word outside the vocabulary as one just past its end. */
  function addStem(stem: number, id: number, times: number): void {
    const weight = sifWeight(shareOf(id < 0 ? vectors.count : id), SKETCH_SIF_A);
    if (stemCounts[stem] === 0) {
      countedStems.push(stem);
      stemWeights[stem] = weight;
    } else stemWeights[stem] = Math.min(stemWeights[stem], weight);
    stemCounts[stem] += times;
  }

  /** Take the counts into the sums, and leave them clean. */
  function sumUp(): void {
    wordSum.fill(0);
    sketch.fill(0);
    wordWeight = 0;
    known = 0;
    for (const term of counted) {
      const times = termCounts[term];
      termCounts[term] = 0;
      const id = wordId(term);
      if (id >= 0) {
        known += times;
        addWord(id, times);
      }
      const stem = lexicon.stemOf[term];
      if (stem !== 0 && sketchDim > 0) addStem(stem, id, times);
    }
    for (const stem of countedStems) {
      addStemToSketch(lexicon.stems[stem], Math.sqrt(stemCounts[stem]) * stemWeights[stem], sketch);
      stemCounts[stem] = 0;
    }
    counted.length = 0;
    countedStems.length = 0;
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
    sumUp();
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

  function embedTerms(
    of: Lexicon,
    terms: Uint32Array,
    from: number,
    to: number,
    out: Float32Array,
    offset: number,
    title?: Uint32Array,
  ): boolean {
    useLexicon(of);
    countTerms(terms, from, to, 1);
    // A title alone is no content: a passage without a term stays empty.
    if (counted.length > 0 && title !== undefined) countTerms(title, 0, title.length, TITLE_COUNT);
    return finish(out, offset);
  }

  /** Terms of the own lexicon for strings. */
  function termsOf({ words, stems }: TermSequence, from: number, to: number): Uint32Array {
    return Uint32Array.from({ length: to - from }, (_, i) => ownLexicon.term(words[from + i], stems[from + i]));
  }

  function forgetIfLarge(): void {
    if (ownLexicon.size > MAX_REMEMBERED_TERMS) ownLexicon = new Lexicon();
  }

  return {
    dim,
    embedTerms,
    embedDocument(words, stems, from, to, out, offset, title) {
      forgetIfLarge();
      const terms = termsOf({ words, stems }, from, to);
      const titleTerms = title === undefined ? undefined : termsOf(title, 0, title.words.length);
      return embedTerms(ownLexicon, terms, 0, terms.length, out, offset, titleTerms);
    },
    embedQuery(words, stems) {
      forgetIfLarge();
      const vector = new Float32Array(dim);
      embedTerms(ownLexicon, termsOf({ words, stems }, 0, words.length), 0, words.length, vector, 0);
      return { vector, known };
    },
  };
}

/** Embedders by dimension, each made when it is first asked for. Errors: as of createLocalEmbedder. */
export function createEmbedderShelf(vectors: WordVectors): (dim: number) => LocalEmbedder {
  const embedders = new Map<number, LocalEmbedder>();
  return (dim) => {
    const embedder = embedders.get(dim) ?? createLocalEmbedder(vectors, dim);
    embedders.set(dim, embedder);
    return embedder;
  };
}

function norm(values: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k] * values[k];
  return Math.sqrt(sum);
}
