/**
 * What the reranker is given: a query, the candidates as bags of words, and numbers of the whole collection. Words and stems
 * are small whole numbers that hold within one call: whoever gathers the candidates gives them out (gather-candidates.ts).
 */

/** A distinct word form of the query. */
export interface QueryWord {
  /** Its number among the candidates' words, -1 where no candidate holds this form. */
  readonly word: number;
  /** Number of its stem, -1 where no candidate holds the stem. */
  readonly stem: number;
  /** Its row in the word vectors, -1 for none. */
  readonly row: number;
  /** How often it is in the query, at least 1. */
  readonly count: number;
  /** Below 1: a guess at what was meant, which weighs so much. */
  readonly share?: number;
  /** Live chunks that hold it, by this stem or by one that it has in another language. */
  readonly frequency: number;
}

/** Which stem and which word vector each word of the candidates has. */
export interface WordTable {
  /** Shape: words. Stems are numbered from 0 without gaps. */
  readonly stems: Uint32Array;
  /** Shape: words; rows of the word vectors, -1 for none. */
  readonly rows: Int32Array;
  readonly stemCount: number;
}

/** The candidates of one query; candidate i has the entries starts[i] .. starts[i + 1], one per distinct word. */
export interface Candidates {
  /** Chunk labels, distinct; ties are broken by them. */
  readonly labels: Uint32Array;
  readonly starts: Uint32Array;
  readonly words: Uint32Array;
  /** Occurrences in the chunk's text and in the page's title; a word with none of both is among the facts of the page. */
  readonly bodyCounts: Uint8Array;
  readonly titleCounts: Uint8Array;
  readonly table: WordTable;
  /** BM25F of each candidate, as the sparse side scores it; 0 where it has no query term. */
  readonly bm25f: ArrayLike<number>;
  /** Cosine to the query in the active model, or null without one. */
  readonly cosine: ArrayLike<number> | null;
  /** The part of that cosine that comes from the word vectors; null for an outside model, and where they know no word of the query. */
  readonly wordCosine: ArrayLike<number> | null;
  /** Whether the cosine is an outside model's. */
  readonly outsideModel: boolean;
  /** Whether the query is in another language than the embedded model's. */
  readonly isForeign?: boolean;
}

export interface CollectionStatistics {
  /** Live chunks. */
  readonly docs: number;
  /** Mean length of a chunk, its title counted as BM25F does; above 0. */
  readonly meanLength: number;
  /** Mean length of a chunk's title; 0 where none has one. */
  readonly meanTitleLength: number;
  /** Live chunks with a stem of the candidates, 1..docs. Asked for the query's stems and those of the feedback chunks. */
  readonly documentFrequency: (stem: number) => number;
}
