/** The query log and feedback: contract "QueryLogRunResponse" and "FeedbackRequest". */
import { z } from 'zod';
import { datetime, idText, queryInteger } from './values.ts';

export const runKinds = ['search', 'compare_arm'] as const;
const runKind = z.enum(runKinds);
export type RunKind = z.infer<typeof runKind>;

/** Chunks of one side, best first. The arrays have the same indexes. */
export interface LoggedHits {
  labels: Uint32Array;
  page_nos: Uint32Array;
  scores: Float64Array;
}

export interface QueryRun
  extends Omit<
    QueryLogRunResponse,
    'ts' | 'candidate_set' | 'dense_hits' | 'sparse_hits' | 'final_pages' | 'feedback'
  > {
  ts: number;
  candidate_set: LoggedHits;
  dense_hits: LoggedHits;
  sparse_hits: LoggedHits;
  /** `rank` from 1 at the first page of results. */
  final_pages: { page_no: number; score: number; rank: number }[];
}

const loggedHit = z.strictObject({ chunk_id: z.string(), page_id: z.string(), score: z.number() });
export type LoggedHit = z.infer<typeof loggedHit>;

export const queryLogRunResponse = z.strictObject({
  query_id: z.string(),
  ts: datetime,
  kind: runKind,
  compare_id: z.string().nullable(),
  query_text: z.string(),
  params: z.record(z.string(), z.unknown()),
  active_model: z.string(),
  reranker_model: z.string().nullable(),
  candidate_set: z.array(loggedHit),
  dense_hits: z.array(loggedHit),
  sparse_hits: z.array(loggedHit),
  final_pages: z.array(z.strictObject({ page_id: z.string(), score: z.number(), rank: z.int() })),
  timing_ms: z.record(z.string(), z.number()),
  /** Page id → whether it was relevant. */
  feedback: z.record(z.string(), z.boolean()),
});
export type QueryLogRunResponse = z.infer<typeof queryLogRunResponse>;
export const queryLogListResponse = z.strictObject({ runs: z.array(queryLogRunResponse) });
export type QueryLogListResponse = z.infer<typeof queryLogListResponse>;

export const queryLogQuery = z.object({
  since: datetime.optional(),
  limit: queryInteger({ min: 1, max: 1000, byDefault: 100 }),
  kind: runKind.optional(),
});
export type QueryLogQuery = z.infer<typeof queryLogQuery>;

export const feedbackRequest = z.strictObject({ query_id: idText, page_id: idText, relevant: z.boolean() });
export type FeedbackRequest = z.infer<typeof feedbackRequest>;
export const feedbackResponse = z.record(z.string(), z.string());
export type FeedbackResponse = z.infer<typeof feedbackResponse>;
