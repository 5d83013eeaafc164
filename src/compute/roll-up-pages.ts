/** From ranked chunks to ranked pages. Pure; called by the retriever. */
import type { FusedHit } from './fuse-rrf.ts';

export interface RankedPage {
  page_no: number;
  score: number;
  /** The page's hits, best first. */
  hits: FusedHit[];
}

/**
 * Pool chunk hits into pages by the best chunk (`max`).
 * Shapes: hits best first; result best first, ties by page number, one entry per page; hits without a page are dropped.
 * Units:  the score of a page is the score of its best chunk.
 * Source: contract "RollupStrategy".
 */
export function rollUpPages(hits: readonly FusedHit[], pageOf: (label: number) => number): RankedPage[] {
  const pages = new Map<number, RankedPage>();
  for (const hit of hits) {
    const page_no = pageOf(hit.label);
    if (page_no === 0) continue;
    const page = pages.get(page_no);
    if (page === undefined) pages.set(page_no, { page_no, score: hit.score, hits: [hit] });
    else page.hits.push(hit);
  }
  return [...pages.values()].sort((a, b) => b.score - a.score || a.page_no - b.page_no);
}
