import { dayMs } from '../../domain/durations.ts';
import type { RollupStrategy } from '../../domain/search.ts';
import type { FusedHit } from './fuse-rrf.ts';

export interface RankedPage {
  page_no: number;
  score: number;
  hits: FusedHit[];
}

export interface RollUp {
  rollup: RollupStrategy;
  /** Max chunks that count per page; for `max`, one counts. */
  rollup_m: number;
}

/**
 * Score of a page by its best `rollup_m` hits (contract "RollupStrategy"): `max`, `mean_top_m` (fewer hits are no
 * disadvantage), or `sum_rrf`, the sum of reciprocal ranks: several good passages outweigh one.
 * Shapes: hits best first; result best first, ties by page number; hits without a page are dropped.
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

/** 1 for a page seen now or later, halved per half-life (above 0). Times in ms. Contract "recency_half_life_days". */
export function recencyFactor(lastSeenAt: number, now: number, halfLifeDays: number): number {
  return 2 ** (-Math.max(0, now - lastSeenAt) / (halfLifeDays * dayMs));
}
