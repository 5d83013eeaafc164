/** Watches: the contract's "Watches" bodies and the stored row. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import { listPart } from './query-values.ts';
import { maxTitleLength, maxUrlLength, storedText } from './texts.ts';

const watchKinds = ['rss', 'video', 'podcast'] as const;
export const watchKind = z.enum(watchKinds);
export type WatchKind = z.infer<typeof watchKind>;

export const watchStatuses = ['pending', 'ok', 'error'] as const;
const watchStatus = z.enum(watchStatuses);
export type WatchStatus = z.infer<typeof watchStatus>;

/** The design's answer to the contract's unnamed maximum: one year. */
export const maxIntervalHours = 8760;

const intervalHours = z.int().min(1).max(maxIntervalHours);
/** As it is stored. */
export const watchConfig = z.record(z.string(), z.string());
export type WatchConfig = z.infer<typeof watchConfig>;
/** Keys of a config that is sent; a kind of watch reads four at most. */
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

/** Omitted is unchanged; null clears `title` and `config` and leaves the others unchanged. */
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
  /** Of all watches, where a part was asked for. */
  total: z.int().optional(),
});
export type WatchListResponse = z.infer<typeof watchListResponse>;
export const watchRunAcceptedResponse = z.strictObject({ watch_id: z.string(), job_id: z.string().nullable() });
export type WatchRunAccepted = z.infer<typeof watchRunAcceptedResponse>;

/** What a server gave with a body, to be sent with the next request for the same address. */
export interface Validators {
  /** The address that answered. */
  url: string;
  etag: string | null;
  last_modified: string | null;
}

/** The stored row. Times are ms since the epoch. */
export interface Watch {
  no: number;
  /** As it was given. */
  url: string;
  kind: WatchKind;
  title: string | null;
  enabled: boolean;
  interval_hours: number;
  config: WatchConfig | null;
  next_run_at: number;
  /** When the latest attempt at a poll ended. */
  last_run_at: number | null;
  status: WatchStatus;
  last_error: string | null;
  last_item_count: number | null;
  created_at: number;
  /** The latest poll_watch job; 0 before the first. */
  poll_job: number;
  validators: Validators | null;
  /** The feed that the page at `url` announces; null where `url` is the feed itself, or before that is known. */
  feed_url: string | null;
}
