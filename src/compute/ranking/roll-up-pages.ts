/** From ranked chunks to ranked pages. Pure; called by the retriever. */
import type { RollupStrategy } from '../../domain/search.ts';
import type { FusedHit } from './fuse-rrf.ts';

export interface RankedPage {
  page_no: number;
  score: number;
  /** The page's hits, best first. */
  hits: FusedHit[];
}

export interface RollUp {
  rollup: RollupStrategy;
  /** Chunks of a page that count at most; `max` counts one. */
  rollup_m: number;
}

/**
 * Pool chunk hits into pages. What a page's best `rollup_m` hits make of its score:
 * - `max`: the score of the best one
 * - `mean_top_m`: their mean; a page with fewer hits is not held to have worse ones
 * - `sum_rrf`: their sum, each being a sum of reciprocal ranks, so that several good passages outweigh one
 * Shapes: hits best first; result best first, ties by page number, one entry per page; hits without a page are dropped.
 * Units:  those of the hits' scores.
 * Source: contract "RollupStrategy"; nothing is added to a score.
 */
export function rollUpPages(
  hits: readonly FusedHit[],
  pageOf: (label: number) => number,
  { rollup, rollup_m }: RollUp,
): RankedPage[] {
  const pages = new Map<number, RankedPage>();
  for (const hit of hits) {
    const page_no = pageOf(hit.label);
    if (page_no === 0) continue;
    const page = pages.get(page_no);
    if (page === undefined) pages.set(page_no, { page_no, score: hit.score, hits: [hit] });
    else page.hits.push(hit);
  }
  const ranked = [...pages.values()];
  if (rollup !== 'max') {
    for (const page of ranked) {
      const counted = Math.min(page.hits.length, rollup_m);
      let sum = 0;
      for (let i = 0; i < counted; i++) sum += page.hits[i].score;
      page.score = rollup === 'sum_rrf' ? sum : sum / counted;
    }
  }
  return ranked.sort((a, b) => b.score - a.score || a.page_no - b.page_no);
}
