/** Contract "MetricsTimeseriesResponse", "MetricsSummaryResponse", "AdminConfigResponse". */
import { z } from 'zod';
import { breakerStates } from './breaker-state.ts';
import { datetime } from './values.ts';

/** A sample's identity: `http_request_duration_seconds_bucket` with labels; the metric has no suffix. */
export interface MetricSeries {
  metric: string;
  sample: string;
  labels: Record<string, string>;
  metric_type: string;
}

export interface SampleValue {
  series: MetricSeries;
  value: number;
}

const maxMetricLength = 200;
export const timeseriesQuery = z.object({
  metric: z.string().min(1).max(maxMetricLength),
  since: datetime.optional(),
  step: z.preprocess(
    (sent) => (typeof sent === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(sent) ? Number(sent) : sent),
    z.number().positive().default(60),
  ),
});
export type TimeseriesQuery = z.infer<typeof timeseriesQuery>;

const metricSeriesResponse = z.strictObject({
  sample: z.string(),
  labels: z.record(z.string(), z.string()),
  metric_type: z.string(),
  points: z.array(z.strictObject({ ts: datetime, value: z.number() })),
});
export type MetricSeriesResponse = z.infer<typeof metricSeriesResponse>;

export const metricsTimeseriesResponse = z.strictObject({
  metric: z.string(),
  series: z.array(metricSeriesResponse),
  current: z.array(metricSeriesResponse),
});
export type MetricsTimeseriesResponse = z.infer<typeof metricsTimeseriesResponse>;

export const summaryQuery = z.object({ since: datetime.optional() });
export type SummaryQuery = z.infer<typeof summaryQuery>;

const countByName = z.record(z.string(), z.int());

export const metricsSummaryResponse = z.strictObject({
  generated_at: datetime,
  tombstones: z.strictObject({ pending: z.int(), deleted: z.int(), verified: z.int() }),
  jobs: z.strictObject({
    by_status: countByName,
    queue_depth: z.int(),
    dead: z.int(),
    failures_by_kind: countByName,
  }),
  query_log_dropped_rows: z.int(),
  embedding_errors_by_provider: countByName,
  rerank_degraded_total: z.int(),
  search_latency: z
    .strictObject({ since: datetime.nullable(), runs: z.int(), p50_ms: z.number(), p95_ms: z.number() })
    .nullable(),
  breakers: z.array(z.strictObject({ name: z.string(), state: z.enum(breakerStates) })),
});
export type MetricsSummaryResponse = z.infer<typeof metricsSummaryResponse>;

export const adminConfigResponse = z.strictObject({
  settings: z.record(z.string(), z.unknown()),
  mutability: z.record(z.string(), z.literal('boot_only')),
});
