/** How far two rankings of pages agree, by every measure there is. Pure; called by compare and by replays. */
import { overlapAtK } from './jaccard.ts';
import { rankCorrelation } from './kendall-tau.ts';
import { rankBiasedOverlap } from './rank-biased-overlap.ts';

export interface Agreement {
  jaccard_at_k: number;
  rbo: number;
  /** Null below two shared pages. */
  kendall_tau: number | null;
  intersection_size: number;
}

/** Agreement of two lists' first k, each best first without repetition. */
export function agreementAtK<Item>(a: readonly Item[], b: readonly Item[], k: number): Agreement {
  const [first, second] = [a.slice(0, k), b.slice(0, k)];
  return {
    ...overlapAtK(first, second, k),
    rbo: rankBiasedOverlap(first, second),
    kendall_tau: rankCorrelation(first, second),
  };
}
