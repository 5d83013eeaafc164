import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textWidth } from '../../src/cli/text-width.ts';
import { trialLines, verdictLine } from '../../src/cli/trial-lines.ts';
import type { ReplayReport } from '../../src/domain/evaluation.ts';

const arm = (ndcg: number, rest: Partial<ReplayReport['a']>): ReplayReport['a'] => ({
  ...{ model: 'm', rerank: true, reranker_model: null, ndcg, reciprocal_rank: 0, recall: 1, recall_candidates: 1 },
  ...rest,
});
const report: ReplayReport = {
  ...{ source: 'log', k: 10, candidates: 100, queries: 42, skipped: 0 },
  a: arm(0.5, { p50_ms: 4.24, vectors_bytes: 1_200_000, cost_usd_per_1000_pages: 0 }),
  b: arm(0.25, { p50_ms: 123.4, vectors_bytes: 2_400_000_000, cost_usd_per_1000_pages: null }),
  difference: { ndcg: -0.25, reciprocal_rank: 0, recall: 0.0001, recall_candidates: 0 },
  interval: { ndcg: { low: -0.3, high: -0.2 }, recall: { low: -0.01, high: 0.02 } },
  better: { a: 20, b: 1, neither: 21 },
  agreement: { jaccard_at_k: 1, rbo: 1, kendall_tau: 1, intersection_size: 10 },
};

test('the table of a trial has both models, their difference and its interval, within 80 columns', () => {
  assert.deepEqual(trialLines('log', report, { a: 'local-wink-1024', b: 'nomic' }, 80), [
    '42 judged queries  nDCG@10  recall@10      p50   memory  1,000 pages',
    '  local-wink-1024    0.500      1.000   4.2 ms   1.2 MB        $0.00',
    '  nomic              0.250      1.000   123 ms   2.4 GB            -',
    '  difference        -0.250      0.000',
    '  95 %: from        -0.300     -0.010',
    '        to          -0.200     +0.020',
  ]);
  const long = trialLines('library', report, { a: 'a'.repeat(90), b: '\x1b[31mred' }, 80);
  assert.ok(
    long.every((line) => textWidth(line) <= 80 && !line.includes('\x1b')),
    long.join('\n'),
  );
  assert.match(long[0], /^42 queries of pages/);
});

test('in a narrow terminal names are told apart, and columns are left out from the right', () => {
  const names = { a: 'ollama-snowflake-arctic-embed-110m-768', b: 'ollama-snowflake-arctic-embed-335m-1024' };
  assert.deepEqual(trialLines('log', report, names, 40).slice(0, 3), [
    '42 judged queries     nDCG@10  recall@10',
    '  ollama-sn…110m-768    0.500      1.000',
    '  ollama-sn…35m-1024    0.250      1.000',
  ]);
  for (const width of [50, 60, 72]) {
    const [head, a, b] = trialLines('log', report, names, width);
    assert.ok(
      [head, a, b].every((line) => textWidth(line) <= width),
      `${width}\n${head}\n${a}\n${b}`,
    );
    assert.notEqual(a.slice(0, 20), b.slice(0, 20));
  }
});

test('the sentence of a trial', () => {
  assert.equal(
    verdictLine(report, 'worse'),
    'Worse on 42 queries: nDCG@10 -0.250, between -0.300 and -0.200 with 95 % confidence.',
  );
  assert.match(verdictLine(report, 'no_difference'), /^No difference shown on 42 queries: /);
  assert.equal(verdictLine({ ...report, queries: 3 }, 'too_few'), 'Too few queries to tell: 3, and 20 are needed.');
});
