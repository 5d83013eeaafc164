/** Contract "EvalScoreRequest" and "EvalReplayRequest". */
import { z } from 'zod';
import { jobStatus } from './job.ts';
import { sentModelId } from './model.ts';
import { datetime, queryInteger } from './values.ts';

export const evalScoreRequest = z.strictObject({
  k: z.int().min(1).max(1000).default(10),
  since: datetime.nullable().optional(),
  model: sentModelId.nullable().optional(),
});
export type EvalScoreRequest = z.infer<typeof evalScoreRequest>;

const measures = {
  ndcg: z.number(),
  reciprocal_rank: z.number(),
  recall: z.number(),
  recall_candidates: z.number(),
};
export type Measures = { [Name in keyof typeof measures]: number };

export const scoreReport = z.strictObject({
  k: z.int(),
  logged: z.int(),
  labeled: z.int(),
  scored: z.int(),
  skipped_no_positive: z.int(),
  models: z.array(
    z.strictObject({ model: z.string(), queries: z.int(), ...measures, rerank_lift: z.number().nullable() }),
  ),
  queries: z.array(
    z.strictObject({
      query_id: z.string(),
      query_text: z.string(),
      model: z.string(),
      ...measures,
      rerank_lift: z.number().nullable(),
    }),
  ),
});
export type ScoreReport = z.infer<typeof scoreReport>;

const replaySource = z
  .enum(['log', 'library'])
  .describe(
    '`log`: judged queries; `library`: queries made from pages (a title or heading without one word, words of a sentence), which should find that page',
  );

const rerankLocally = z.boolean().describe('use only score fusion, even if the settings name a reranker');

export const evalReplayRequest = z.strictObject({
  source: replaySource.default('log'),
  model_a: sentModelId.nullable().optional(),
  model_b: sentModelId.nullable().optional(),
  rerank_a: z.boolean().default(true),
  rerank_b: z.boolean().default(true),
  rerank_locally_a: rerankLocally.default(false),
  rerank_locally_b: rerankLocally.default(false),
  k: z.int().min(1).max(1000).default(10),
  candidates: z.int().min(1).max(10_000).default(100),
  limit: z.int().min(1).nullable().optional(),
});
export type EvalReplayRequest = z.infer<typeof evalReplayRequest>;
export const evalReplayAcceptedResponse = z.strictObject({ job_id: z.string(), result_url: z.string() });
export type EvalReplayAccepted = z.infer<typeof evalReplayAcceptedResponse>;

const arm = z.strictObject({
  model: z.string(),
  rerank: z.boolean(),
  reranker_model: z.string().nullable(),
  ...measures,
  p50_ms: z.number().nullable().optional().describe('median time to rank a query, ms'),
  vectors_bytes: z.int().optional().describe("memory of the library's vectors"),
  cost_usd_per_1000_pages: z
    .number()
    .nullable()
    .optional()
    .describe('cost of making the vectors; null if no price is set'),
});
const interval = z.strictObject({ low: z.number(), high: z.number() });
export type Interval = z.infer<typeof interval>;
const agreement = z.strictObject({
  jaccard_at_k: z.number(),
  rbo: z.number(),
  kendall_tau: z.number().nullable(),
  intersection_size: z.number(),
});
/** Means over the replayed queries; differences are b minus a. Optional fields are absent in reports of earlier versions. */
const replayReport = z.strictObject({
  source: replaySource.optional(),
  k: z.int(),
  candidates: z.int(),
  queries: z.int(),
  /** Number of planned queries that could no longer be replayed. */
  skipped: z.int(),
  a: arm,
  b: arm,
  difference: z.strictObject(measures),
  interval: z
    .strictObject({ ndcg: interval, recall: interval })
    .nullable()
    .optional()
    .describe('95 % confidence intervals of the difference; null without queries'),
  /** Number of queries in which one arm has the higher nDCG. */
  better: z.strictObject({ a: z.int(), b: z.int(), neither: z.int() }),
  agreement,
});
export type ReplayReport = z.infer<typeof replayReport>;

export const evalReplayResultResponse = z.strictObject({
  job_id: z.string(),
  status: jobStatus,
  report: replayReport.nullable(),
  error: z.string().nullable(),
});
export type EvalReplayResult = z.infer<typeof evalReplayResultResponse>;

export const evalReplaysQuery = z.object({ limit: queryInteger({ min: 1, max: 100, byDefault: 20 }) });

const evalReplayItem = z.strictObject({
  job_id: z.string(),
  status: jobStatus,
  created_at: datetime,
  updated_at: datetime,
  source: replaySource,
  model_a: z.string(),
  model_b: z.string(),
  rerank_a: z.boolean(),
  rerank_b: z.boolean(),
  rerank_locally_a: rerankLocally,
  rerank_locally_b: rerankLocally,
  k: z.int(),
  candidates: z.int(),
  limit: z.int().nullable(),
  planned: z.int().nullable().describe('number of queries; null until they are chosen'),
  replayed: z.int(),
  report: replayReport.nullable(),
  last_error: z.string().nullable(),
});
export type EvalReplayItem = z.infer<typeof evalReplayItem>;
export const evalReplayListResponse = z.strictObject({ replays: z.array(evalReplayItem) });
export type EvalReplayList = z.infer<typeof evalReplayListResponse>;

/** A stored replay, next to its job; models are resolved. */
export interface Replay
  extends Pick<
      EvalReplayItem,
      'model_a' | 'model_b' | 'rerank_a' | 'rerank_b' | 'k' | 'candidates' | 'limit' | 'report'
    >,
    Partial<Pick<EvalReplayItem, 'source' | 'rerank_locally_a' | 'rerank_locally_b'>> {
  /** Per query: its logged runs, newest first; for the library: page and seed. Null until planned. */
  plan: number[][] | null;
}

export interface ReplayedQuery extends z.infer<typeof agreement> {
  a: ReplayedArm;
  b: ReplayedArm;
}

export interface ReplayedArm extends Measures {
  reranker_model: string | null;
  ms?: number;
}
