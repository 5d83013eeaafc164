/** The dense side's reference: cosine in double precision with every vector, batch after batch. */
import { Ranking } from './ranking.ts';

export class ExactNearest {
  readonly #queries: readonly Float32Array[];
  readonly #lists: { listed: (chunk: number) => boolean; rankings: Ranking[] }[];

  /** One list of the best k per filter and query. */
  constructor(queries: readonly Float32Array[], k: number, filters: readonly ((chunk: number) => boolean)[]) {
    this.#queries = queries;
    this.#lists = filters.map((listed) => ({ listed, rankings: queries.map(() => new Ranking(k)) }));
  }

  /** Vectors of the chunks from `first` on, one after the other. */
  add(first: number, vectors: Float32Array): void {
    const dim = this.#queries[0].length;
    for (let at = 0, chunk = first; at < vectors.length; at += dim, chunk++) {
      let squares = 0;
      for (let i = 0; i < dim; i++) squares += vectors[at + i] ** 2;
      const norm = Math.sqrt(squares);
      const into = this.#lists.filter(({ listed }) => listed(chunk));
      this.#queries.forEach((query, number) => {
        let dot = 0;
        for (let i = 0; i < dim; i++) dot += query[i] * vectors[at + i];
        for (const { rankings } of into) rankings[number].offer(chunk, dot / norm);
      });
    }
  }

  /** Per filter and query the labels, best first. */
  results(): number[][][] {
    return this.#lists.map(({ rankings }) => rankings.map((ranking) => ranking.labels()));
  }
}
