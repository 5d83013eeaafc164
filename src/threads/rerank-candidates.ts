/**
 * The local reranker over a searcher's snapshot: finds the candidates in the segments' forward indexes, takes the live
 * statistics of the whole corpus, and scores (compute/rerank). One per searcher thread, which reads the word vectors in place.
 */
import { type CorpusSegment, corpusTotals, documentFrequency, planQuery } from '../compute/bm25/corpus.ts';
import { scoreLabels } from '../compute/bm25/search-segments.ts';
import { ordinalOf, type Segment } from '../compute/bm25/segment.ts';
import { isDeleted } from '../compute/bm25/tombstones.ts';
import {
  type CandidatePlace,
  type ForwardPart,
  gatherCandidates,
  type QueryForm,
} from '../compute/rerank/gather-candidates.ts';
import { rerank } from '../compute/rerank/rerank.ts';
import { createWordSimilarity } from '../compute/rerank/word-similarity.ts';
import { termOf } from '../compute/term-table.ts';
import type { WordVectors } from '../compute/word-vectors.ts';

/** What is known of the candidates beside their words. Aligned arrays. */
export interface CandidateScores {
  /** Distinct. */
  readonly labels: Uint32Array;
  /** Cosines with the query, and the part of them that comes from the word vectors; null where there is none. */
  readonly cosine: Float32Array | null;
  readonly wordCosine: Float32Array | null;
}

/**
 * Scores of the candidates of a query, in their order, by `rerank`. `forms`: the query's words, repeated ones repeated.
 * Null when it cannot be said of all of them: a candidate is in no segment of the snapshot, or in one whose forward index is
 * missing or of other word vectors.
 */
export type CandidateReranker = (
  corpus: readonly CorpusSegment[],
  forms: readonly QueryForm[],
  candidates: CandidateScores,
) => Float64Array | null;

/** Errors: as of `createWordSimilarity`. */
export function createCandidateReranker(vectors: WordVectors): CandidateReranker {
  const similarity = createWordSimilarity(vectors);
  const parts = new WeakMap<Segment, ForwardPart>();
  /** Document frequencies that were asked for, as long as the corpus has the same segments and live documents. */
  let counted = { corpus: [] as readonly CorpusSegment[], docs: 0, frequencies: new Map<string, number>() };

  const partOf = (segment: Segment): ForwardPart | null => {
    if (segment.forward === null || segment.vocabulary !== vectors.fingerprint) return null;
    const known = parts.get(segment);
    if (known !== undefined) return known;
    const part = { index: segment.forward, stemText: rememberedTexts(segment) };
    parts.set(segment, part);
    return part;
  };

  /** A candidate that was deleted a moment ago may have brought a term that no live chunk holds: 1 then. */
  const frequencyOf = (corpus: readonly CorpusSegment[], docs: number) => {
    if (counted.corpus !== corpus || counted.docs !== docs) counted = { corpus, docs, frequencies: new Map() };
    const { frequencies } = counted;
    return (term: string): number => {
      let df = frequencies.get(term);
      if (df === undefined) {
        df = Math.max(1, documentFrequency(corpus, term));
        frequencies.set(term, df);
      }
      return df;
    };
  };

  return (corpus, forms, { labels, cosine, wordCosine }) => {
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
    const { query, words, stemTexts } = gatherCandidates(used, labels, places, forms);
    const plan = planQuery(
      corpus,
      forms.map(({ stem }) => stem),
    );
    const frequency = frequencyOf(corpus, totals.docs);
    const statistics = {
      docs: totals.docs,
      meanLength: totals.meanLength,
      meanTitleLength: totals.meanTitleLength,
      documentFrequency: (stem: number) => frequency(stemTexts[stem]),
    };
    const bm25f = scoreLabels(corpus, plan, labels);
    return rerank(query, { ...words, bm25f, cosine, wordCosine }, statistics, similarity);
  };
}

/** Where each label is, live ones first; null if one is nowhere. */
function placesOf(corpus: readonly CorpusSegment[], labels: Uint32Array): CandidatePlace[] | null {
  const places: CandidatePlace[] = [];
  for (const label of labels) {
    let place: CandidatePlace | undefined;
    for (let part = 0; part < corpus.length; part++) {
      const { segment, tombstones } = corpus[part];
      if (segment.docs === 0 || label < segment.labels[0] || label > segment.labels[segment.docs - 1]) continue;
      const chunk = ordinalOf(segment, label);
      if (chunk < 0) continue;
      place = { part, chunk };
      if (!isDeleted(tombstones, chunk)) break;
    }
    if (place === undefined) return null;
    places.push(place);
  }
  return places;
}

/** The terms of a segment, each decoded once. */
function rememberedTexts({ terms }: Segment): (stem: number) => string {
  const texts: (string | undefined)[] = Array.from({ length: terms.offsets.length - 1 });
  return (stem) => {
    let text = texts[stem];
    if (text === undefined) {
      text = termOf(terms, stem);
      texts[stem] = text;
    }
    return text;
  };
}
