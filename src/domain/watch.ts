/** Contract "Watches", and the stored row. */
import { z } from 'zod';
import { datetime, listPart, maxTitleLength, maxUrlLength, storedText } from './values.ts';

const watchKinds = ['rss', 'video', 'podcast'] as const;
export const watchKind = z.enum(watchKinds);
export type WatchKind = z.infer<typeof watchKind>;

export const watchStatuses = ['pending', 'ok', 'error'] as const;
const watchStatus = z.enum(watchStatuses);
export type WatchStatus = z.infer<typeof watchStatus>;

/** The contract names no maximum; the design's is one year. */
export const maxIntervalHours = 8760;

const intervalHours = z.int().min(1).max(maxIntervalHours);
export const watchConfig = z.record(z.string(), z.string());
export type WatchConfig = z.infer<typeof watchConfig>;
/** A kind of watch uses at most four. */
const maxConfigKeys = 32;
const sentConfig = z
  .record(storedText(100), storedText(1000))
  .refine((config) => Object.keys(config).length <= maxConfigKeys, `config must have at most ${maxConfigKeys} keys`)
  .meta({ maxProperties: maxConfigKeys });

export const createWatchRequest = z.strictObject({
  url: storedText(maxUrlLength),
  kind: watchKind.default('rss'),
  title: storedText(maxTitleLength).nullable().optional(),
  interval_hours: intervalHours.nullable().optional(),
  enabled: z.boolean().default(true),
  config: sentConfig.nullable().optional(),
});
export type CreateWatchRequest = z.infer<typeof createWatchRequest>;

/** Omitted fields stay unchanged. Null clears `title` and `config`; it is not allowed elsewhere. */
export const updateWatchRequest = z.strictObject({
  enabled: z.boolean().nullable().optional(),
  interval_hours: intervalHours.nullable().optional(),
  title: storedText(maxTitleLength).nullable().optional(),
  config: sentConfig.nullable().optional(),
});
export type UpdateWatchRequest = z.infer<typeof updateWatchRequest>;

export const watchResponse = z.strictObject({
  id: z.string(),
  kind: watchKind,
  url: z.string(),
  title: z.string().nullable(),
  enabled: z.boolean(),
  interval_hours: z.int(),
  config: watchConfig.nullable(),
  next_run_at: datetime,
  last_run_at: datetime.nullable(),
  last_status: watchStatus,
  last_error: z.string().nullable(),
  last_item_count: z.int().nullable(),
  created_at: datetime,
});
export type WatchResponse = z.infer<typeof watchResponse>;
export const watchListQuery = z.object(listPart);
export const watchListResponse = z.strictObject({
  watches: z.array(watchResponse),
  total: z.int().optional(),
});
export type WatchListResponse = z.infer<typeof watchListResponse>;
export const watchRunAcceptedResponse = z.strictObject({ watch_id: z.string(), job_id: z.string().nullable() });
export type WatchRunAccepted = z.infer<typeof watchRunAcceptedResponse>;

export const checkWatchRequest = createWatchRequest.pick({ url: true, kind: true });
export type CheckWatchRequest = z.infer<typeof checkWatchRequest>;
export const watchCheckResponse = z.strictObject({
  /** The watch that has this address already. */
  watch_id: z.string().nullable(),
  title: z.string().nullable(),
  /** Address of the feed that a page announces. */
  feed_url: z.string().nullable(),
  items: z.int().nullable(),
  /** Why it cannot be followed; null if it can. */
  reason: z.string().nullable(),
});
export type WatchCheckResponse = z.infer<typeof watchCheckResponse>;

export interface Validators {
  url: string;
  etag: string | null;
  last_modified: string | null;
}

/** Times are ms since the epoch. */
export interface Watch
  extends Omit<WatchResponse, 'id' | 'next_run_at' | 'last_run_at' | 'last_status' | 'created_at'> {
  no: number;
  next_run_at: number;
  last_run_at: number | null;
  status: WatchStatus;
  created_at: number;
  /** The latest poll_watch job; 0 before the first. */
  poll_job: number;
  validators: Validators | null;
  /** The feed announced by the page at `url`; null if `url` is the feed, or until known. */
  feed_url: string | null;
}

/** The fields that a poll needs. */
export type WatchedSource = Pick<Watch, 'url' | 'config' | 'validators' | 'feed_url'>;
