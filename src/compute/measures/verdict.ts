/** What a replay shows of its second arm beside the first. Pure. */
import type { ReplayReport } from '../../domain/evaluation.ts';

export type Verdict = 'better' | 'worse' | 'no_difference' | 'too_few';

/** With fewer queries the interval is narrower than its confidence allows. */
export const fewestQueries = 20;

/** By nDCG: better where the whole interval of the difference is above zero, worse where it is below. */
export function verdictOf({ queries, interval }: Pick<ReplayReport, 'queries' | 'interval'>): Verdict {
  if (queries < fewestQueries || interval == null) return 'too_few';
  if (interval.ndcg.low > 0) return 'better';
  return interval.ndcg.high < 0 ? 'worse' : 'no_difference';
}

/** Of several sources of queries: what one of them shows and none contradicts. */
export function commonVerdict(verdicts: readonly Verdict[]): Verdict {
  const shows = (verdict: Verdict) => verdicts.includes(verdict);
  if (shows('better') !== shows('worse')) return shows('better') ? 'better' : 'worse';
  return verdicts.every((verdict) => verdict === 'too_few') ? 'too_few' : 'no_difference';
}
