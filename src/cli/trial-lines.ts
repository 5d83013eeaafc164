/** How a trial of a model is told: a table for each source of queries, and a sentence. */
import type { Verdict } from '../compute/measures/verdict.ts';
import { fewestQueries } from '../compute/measures/verdict.ts';
import type { ReplayReport, ReplaySource } from '../domain/evaluation.ts';
import { counted } from './page-lines.ts';
import { bytesText, plain } from './terminal.ts';
import { fitted, fittedWithin, padded } from './text-width.ts';

/** Columns of what stands behind the names. */
const columns = [
  ['nDCG@10', 9],
  ['recall@10', 11],
  ['p50', 9],
  ['memory', 9],
  ['1,000 pages', 13],
] as const;
/** What names have beside them at least. */
const leastRoom = 20;

/** A head, a row for each arm, their difference and its interval; lines of `width` at most. `names`: what the arms are called. */
export function trialLines(
  source: ReplaySource,
  report: ReplayReport,
  names: { a: string; b: string },
  width: number,
): string[] {
  const { queries } = report;
  const what =
    source === 'log'
      ? counted(queries, 'judged query', 'judged queries')
      : `${counted(queries, 'query', 'queries')} of pages`;
  let shown = 0;
  for (let used = leastRoom; shown < columns.length && used + columns[shown][1] <= width; shown++)
    used += columns[shown][1];
  const columnsWidth = columns.slice(0, shown).reduce((sum, [, each]) => sum + each, 0);
  const room = Math.min(
    width - columnsWidth,
    Math.max(what.length, ...[names.a, names.b, 'difference'].map(({ length }) => 2 + length)),
  );
  const line = (first: string, cells: readonly string[]) =>
    padded(fitted(first, room), room) +
    cells
      .slice(0, shown)
      .map((cell, at) => cell.padStart(columns[at][1]))
      .join('');
  const arm = (side: 'a' | 'b') => {
    const { ndcg, recall, p50_ms, vectors_bytes, cost_usd_per_1000_pages: cost } = report[side];
    return line(`  ${fittedWithin(plain(names[side], 200), room - 2)}`, [
      ...[ndcg.toFixed(3), recall.toFixed(3)],
      p50_ms == null ? '-' : `${p50_ms < 10 ? p50_ms.toFixed(1) : Math.round(p50_ms)} ms`,
      vectors_bytes === undefined ? '-' : bytesText(vectors_bytes),
      cost == null ? '-' : `$${cost.toFixed(2)}`,
    ]);
  };
  const { difference, interval } = report;
  const apart = (first: string, ndcg: number, recall: number) => line(first, [signed(ndcg), signed(recall)]);
  const bounds =
    interval == null
      ? []
      : [
          apart('  95 %: from', interval.ndcg.low, interval.recall.low),
          apart('        to', interval.ndcg.high, interval.recall.high),
        ];
  return [
    line(
      what,
      columns.map(([title]) => title),
    ),
    arm('a'),
    arm('b'),
    apart('  difference', difference.ndcg, difference.recall),
    ...bounds,
  ];
}

export function verdictLine({ queries, difference, interval }: ReplayReport, verdict: Verdict): string {
  if (verdict === 'too_few' || interval == null)
    return `Too few queries to tell: ${queries}, and ${fewestQueries} are needed.`;
  const { low, high } = interval.ndcg;
  const says = { better: 'Better', worse: 'Worse', no_difference: 'No difference shown' }[verdict];
  return `${says} on ${counted(queries, 'query', 'queries')}: nDCG@10 ${signed(difference.ndcg)}, between ${signed(low)} and ${signed(high)} with 95 % confidence.`;
}

/** Three digits, and a sign where one of them counts. */
function signed(value: number): string {
  const text = value.toFixed(3);
  if (Number(text) === 0) return '0.000';
  return value > 0 ? `+${text}` : text;
}
