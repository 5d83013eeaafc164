/**
 * The sparse side's reference: BM25 over whole texts, counted and summed here from the formula in docs/storage.md, with
 * nothing of src/engine. Texts of this bench have one field, so BM25F is BM25. Only words of the queries are counted.
 */
import { Ranking } from './ranking.ts';

const K1 = 1.2;
const B = 0.75;

export class ExactBm25 {
  readonly #postings = new Map<string, { chunks: number[]; frequencies: number[] }>();
  readonly #lengths: number[] = [];

  constructor(words: Iterable<string>) {
    for (const word of words) this.#postings.set(word, { chunks: [], frequencies: [] });
  }

  /** Chunks come in the order of their numbers. */
  add(words: readonly string[]): void {
    const chunk = this.#lengths.length;
    this.#lengths.push(words.length);
    for (const word of words) {
      const list = this.#postings.get(word);
      if (list === undefined) continue;
      const last = list.chunks.length - 1;
      if (list.chunks[last] === chunk) list.frequencies[last]++;
      else {
        list.chunks.push(chunk);
        list.frequencies.push(1);
      }
    }
  }

  /**
   * The best k of the chunks that `listed` says yes to, for each query. Statistics are those of the live chunks.
   * Parts of a score are added rarest word first, as the index documents it: sums of doubles depend on their order.
   */
  search(
    queries: readonly (readonly string[])[],
    k: number,
    live: (chunk: number) => boolean,
    listed: (chunk: number) => boolean,
  ): number[][] {
    let docs = 0;
    let total = 0;
    this.#lengths.forEach((length, chunk) => {
      if (!live(chunk)) return;
      docs++;
      total += length;
    });
    const mean = total / docs;
    return queries.map((query) => {
      const weighted = [...new Set(query)].flatMap((word) => {
        const list = this.#postings.get(word);
        const df = list === undefined ? 0 : list.chunks.reduce((count, chunk) => count + Number(live(chunk)), 0);
        return list === undefined || df === 0 ? [] : [{ ...list, df }];
      });
      weighted.sort((a, b) => a.df - b.df);
      const scores = new Map<number, number>();
      for (const { chunks, frequencies, df } of weighted) {
        const weight = Math.log(1 + (docs - df + 0.5) / (df + 0.5)) * (K1 + 1);
        for (let i = 0; i < chunks.length; i++) {
          const chunk = chunks[i];
          if (!live(chunk) || !listed(chunk)) continue;
          const saturation = frequencies[i] + K1 * (1 - B) + ((K1 * B) / mean) * this.#lengths[chunk];
          scores.set(chunk, (scores.get(chunk) ?? 0) + (weight * frequencies[i]) / saturation);
        }
      }
      const ranking = new Ranking(k);
      for (const [chunk, score] of scores) ranking.offer(chunk, score);
      return ranking.labels();
    });
  }
}
