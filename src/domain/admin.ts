/** The service itself: backups, disk, external programs, metrics and settings. */
import { z } from 'zod';
import { datetime } from './values.ts';

export const backupResponse = z.strictObject({
  dir: z.string().describe('its folder, for `readback restore`'),
  taken_at: datetime,
  pages: z.int(),
  bytes: z.int(),
});
export type BackupResponse = z.infer<typeof backupResponse>;

export const newBackupResponse = backupResponse.extend({
  removed: z.array(z.string()).describe('folders of older backups that were deleted after it, and of unfinished ones'),
});
export type NewBackupResponse = z.infer<typeof newBackupResponse>;

export const backupListResponse = z.strictObject({
  dir: z.string().describe('the folder that backups are made in'),
  backups: z.array(backupResponse),
  running: z.boolean(),
});
export type BackupListResponse = z.infer<typeof backupListResponse>;

export const diskParts = ['store', 'words', 'passage_vectors', 'page_vectors', 'other'] as const;
export type DiskPart = (typeof diskParts)[number];

export const diskResponse = z.strictObject({
  dir: z.string().describe('the folder of the library'),
  parts: z
    .array(z.strictObject({ part: z.enum(diskParts), bytes: z.int() }))
    .describe('size of the files of each part: the store, the three parts of the index, and the rest of the folder'),
  store_used_bytes: z.int().describe('bytes of the store that are in use, which `storage.max_bytes` limits'),
  store_max_bytes: z.int().nullable().describe('`storage.max_bytes`'),
  free_bytes: z.int().describe('free disk space for the service'),
  disk_bytes: z.int().describe('size of the disk'),
});
export type DiskResponse = z.infer<typeof diskResponse>;

/** External programs that are optional and found at run time. */
export interface Capabilities {
  /** Null if missing or unusable. `guarded`: whether more than its own option keeps it to the proxy (docs/video.md). */
  yt_dlp: { version: string; guarded: boolean } | null;
  transcription: FoundTranscription;
}

export interface FoundTranscription {
  kind: 'command' | 'endpoint' | null;
  /** The program or address for transcription, or why nothing can be transcribed. */
  detail: string;
  /** Whether recordings of any format can be decoded and split. */
  ffmpeg: boolean;
}

export const breakerStates = ['closed', 'half_open', 'open'] as const;
export type BreakerState = (typeof breakerStates)[number];

/** Identifies a sample: `http_request_duration_seconds_bucket` with labels; the metric's name has no suffix. */
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
