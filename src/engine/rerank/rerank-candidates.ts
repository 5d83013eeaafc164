/**
 * The local reranker over a searcher's snapshot: finds the candidates in the segments' forward indexes, takes the live
 * statistics of the whole corpus, and scores (rerank.ts). A searcher thread has one for each library; what they know of word
 * vectors, which are read in place, they have in common.
 */

import type { WordVectors } from '../../compute/embedding/word-vectors.ts';
import { longer } from '../../compute/structures/longer.ts';
import {
  type CorpusSegment,
  corpusTotals,
  documentFrequency,
  documentFrequencyBy,
  planQuery,
} from '../words/corpus.ts';
import { isDeleted } from '../words/deletions.ts';
import type { ForwardIndex } from '../words/forward-index.ts';
import { scoreLabels } from '../words/search-segments.ts';
import { ordinalOf, type Segment } from '../words/segment.ts';
import { type CandidatePlace, createCandidateGatherer, isForwardStem, type QueryForm } from './gather-candidates.ts';
import { rerank, rerankPostings, WEIGHTS } from './rerank.ts';
import { Scratch } from './scratch.ts';
import { createWordCosines } from './word-cosines.ts';
import { type ForwardPart, WordNumbers } from './word-numbers.ts';
import type { WordSimilarity } from './word-similarity.ts';

/** More words than this and the numbering starts anew: about 25 MB, and more than most corpora have. */
const MAX_NUMBERED_WORDS = 400_000;
/** So many words are learnt ahead, so that there is room for those that a query brings. */
const MAX_LEARNT_WORDS = 200_000;

/** What is known of the candidates beside their words. Aligned arrays. */
export interface CandidateScores {
  /** Distinct. */
  readonly labels: Uint32Array;
  /** Cosines with the query, and the part of them that comes from the word vectors; null where there is none. */
  readonly cosine: Float32Array | null;
  readonly wordCosine: Float32Array | null;
  /** Whether the cosine is an outside model's. */
  readonly outsideModel: boolean;
  /** Whether the query is in another language than the embedded model's. */
  readonly isForeign?: boolean;
}

export interface CandidateReranker {
  /**
   * Scores of the candidates of a query, in their order, by `rerank`. `forms`: the query's words, repeated ones repeated.
   * Null when it cannot be said of all of them: a candidate is in no segment of the snapshot, or in one whose forward index is
   * missing or of other word vectors.
   */
  score(
    corpus: readonly CorpusSegment[],
    forms: readonly QueryForm[],
    candidates: CandidateScores,
  ): Float64Array | null;
  /**
   * Number the words of a corpus and count their stems until `isOver`, ahead of the queries that meet them first: these take a
   * millisecond or two longer. Changes no score. Gives whether something may be left. `isOver` is asked after each
   * step, so every call gets on by one at least and the learning of a corpus ends, however short its slices are.
   */
  learn(corpus: readonly CorpusSegment[], isOver: () => boolean): boolean;
}

/** What makes rerankers, each for the corpora of one library. */
export function candidateRerankers(vectors: WordVectors): () => CandidateReranker {
  const similarity = createWordCosines(vectors);
  const scratch = new Scratch();
  return () => createCandidateReranker(vectors, similarity, scratch);
}

function createCandidateReranker(
  vectors: WordVectors,
  similarity: WordSimilarity,
  scratch: Scratch,
): CandidateReranker {
  let numbering = startNumbering();

  const partOf = ({ forward, vocabulary, terms }: Segment): ForwardPart | null =>
    forward === null || vocabulary !== vectors.fingerprint ? null : { index: forward, terms };

  const score: CandidateReranker['score'] = (corpus, forms, { labels, ...scores }) => {
    const totals = corpusTotals(corpus);
    if (totals.docs === 0) return null;
    const found = placesOf(corpus, labels);
    if (found === null) return null;
    const numbers = new Map<number, number>();
    const used: ForwardPart[] = [];
    for (const { part } of found) {
      if (numbers.has(part)) continue;
      const opened = partOf(corpus[part].segment);
      if (opened === null) return null;
      numbers.set(part, used.push(opened) - 1);
    }
    const places = found.map(({ part, chunk }) => ({ part: numbers.get(part) ?? 0, chunk }));
    if (numbering.numbers.size > MAX_NUMBERED_WORDS) numbering = startNumbering();
    const { gather, frequencies } = numbering;
    const plan = planQuery(corpus, forms);
    const { scores: bm25f } = scoreLabels(corpus, plan, labels);
    if (isOfPostings(forms, corpus)) return rerankPostings({ labels, ...scores, bm25f });
    const { query, words, stemNumbers } = gather(used, labels, places, forms, plan);
    frequencies.of(corpus, totals.docs);
    const statistics = {
      docs: totals.docs,
      meanLength: totals.meanLength,
      meanTitleLength: totals.meanTitleLength,
      documentFrequency: (stem: number) => frequencies.get(stemNumbers[stem]),
    };
    return rerank(query, { ...words, ...scores, bm25f }, statistics, similarity, WEIGHTS, scratch);
  };

  const learn: CandidateReranker['learn'] = (corpus, isOver) => {
    const { numbers, learntTo, frequencies } = numbering;
    for (const { segment } of corpus) {
      const part = partOf(segment);
      if (part === null) continue;
      const { length } = part.index.wordStems;
      for (let from = learntTo.get(part.index) ?? 0; from < length; ) {
        const word = numbers.firstUnknown(part, from);
        if (word >= 0) {
          if (numbers.size >= MAX_LEARNT_WORDS) return false;
          numbers.numberOf(part, word);
        }
        from = word < 0 ? length : word + 1;
        learntTo.set(part.index, from);
        if (isOver()) return true;
      }
    }
    frequencies.of(corpus, corpusTotals(corpus).docs);
    return !frequencies.countAll(isOver);
  };

  return { score, learn };
}

/**
 * Whether forward indexes have no stem of most words of a query: postings alone have single ideographs, and words without the accents that tell them
 * apart. A word is one of these where more passages have it so than by its other stems; where none has it, by the query's own language.
 */
export function isOfPostings(forms: readonly QueryForm[], corpus: readonly CorpusSegment[]): boolean {
  const words = new Map<number, Set<string>>();
  for (const { of, stem } of forms) if (of >= 0) words.set(of, (words.get(of) ?? new Set()).add(stem));
  const passagesWith = (stems: readonly string[]) =>
    stems.reduce((sum, stem) => sum + documentFrequency(corpus, stem), 0);
  const isOfForward = (of: ReadonlySet<string>) => {
    const stems = [...of];
    const [forward, others] = [true, false].map((is) => stems.filter((stem) => isForwardStem(stem) === is));
    if (others.length === 0 || forward.length === 0) return forward.length > 0;
    const lead = passagesWith(forward) - passagesWith(others);
    return lead === 0 ? isForwardStem(stems[0]) : lead > 0;
  };
  return [...words.values()].filter(isOfForward).length < words.size / 2;
}

/** Where each label is, live ones first; null if one is nowhere. */
function placesOf(corpus: readonly CorpusSegment[], labels: Uint32Array): CandidatePlace[] | null {
  const places: CandidatePlace[] = [];
  for (const label of labels) {
    let place: CandidatePlace | undefined;
    for (let part = 0; part < corpus.length; part++) {
      const { segment, deletions } = corpus[part];
      const chunk = ordinalOf(segment, label);
      if (chunk < 0) continue;
      place = { part, chunk };
      if (!isDeleted(deletions, chunk)) break;
    }
    if (place === undefined) return null;
    places.push(place);
  }
  return places;
}

function startNumbering() {
  const numbers = new WordNumbers();
  return {
    numbers,
    gather: createCandidateGatherer(numbers),
    frequencies: new LiveFrequencies(numbers),
    /** By index: its words below have numbers, so that no call of `learn` looks through them again. */
    learntTo: new WeakMap<ForwardIndex, number>(),
  };
}

/** Live document frequencies by stem number, each counted once while the corpus has the same segments and live documents. */
class LiveFrequencies {
  readonly #numbers: WordNumbers;
  #corpus: readonly CorpusSegment[] = [];
  #docs = 0;
  /** 0: not counted yet. */
  #counted = new Uint32Array(1024);
  /** Stems below are counted. */
  #countedTo = 0;

  constructor(numbers: WordNumbers) {
    this.#numbers = numbers;
  }

  of(corpus: readonly CorpusSegment[], docs: number): void {
    if (corpus !== this.#corpus || docs !== this.#docs) {
      this.#counted.fill(0);
      this.#countedTo = 0;
    }
    this.#corpus = corpus;
    this.#docs = docs;
    const { size } = this.#numbers.stems;
    if (size <= this.#counted.length) return;
    this.#counted = longer(this.#counted, 2 * size);
  }

  /** Count the stems of all numbered words, one at least, until `isOver`; gives whether that was all. */
  countAll(isOver: () => boolean): boolean {
    const { size } = this.#numbers.stems;
    while (this.#countedTo < size) {
      this.get(this.#countedTo++);
      if (isOver()) break;
    }
    return this.#countedTo >= size;
  }

  /** At least 1: a candidate that was deleted a moment ago may have brought a term that no live chunk holds. */
  get(stem: number): number {
    if (this.#counted[stem] === 0) {
      const { stems } = this.#numbers;
      const df = documentFrequencyBy(this.#corpus, (terms) => stems.idIn(terms, stem));
      this.#counted[stem] = Math.max(1, df);
    }
    return this.#counted[stem];
  }
}
