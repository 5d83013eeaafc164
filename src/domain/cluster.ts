/** Clusters: the contract's bodies of "Clusters", and the stored rows. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import { listPart, queryBoolean, queryInteger } from './query-values.ts';
import { idText } from './texts.ts';

const clusterTriggers = ['manual', 'idle', 'cron'] as const;
export type ClusterTrigger = (typeof clusterTriggers)[number];

export const clusterSummary = z.strictObject({
  id: z.string(),
  label: z.string().nullable(),
  keywords: z.array(z.string()),
  size: z.int(),
  tombstoned: z.boolean(),
  projection_x: z.number().nullable(),
  projection_y: z.number().nullable(),
});
export type ClusterSummary = z.infer<typeof clusterSummary>;

export const clusterListQuery = z.object({
  include_tombstoned: queryBoolean({ byDefault: false }),
});
export const clusterListResponse = z.strictObject({ clusters: z.array(clusterSummary) });
export type ClusterListResponse = z.infer<typeof clusterListResponse>;

export const clusterDetailQuery = z.object(listPart);
export const clusterDetailResponse = z.strictObject({
  cluster: clusterSummary,
  pages: z.array(
    z.strictObject({
      page_id: z.string(),
      canonical_url: z.string(),
      title: z.string().nullable(),
      probability: z.number().nullable(),
    }),
  ),
  /** Of all its pages, where a part was asked for. */
  total: z.int().optional(),
});
export type ClusterDetailResponse = z.infer<typeof clusterDetailResponse>;
export type ClusterPage = ClusterDetailResponse['pages'][number];

export const clusterRunResponse = z.strictObject({
  id: z.string(),
  trigger: z.string(),
  algorithm: z.string(),
  params: z.record(z.string(), z.unknown()),
  started_at: datetime,
  finished_at: datetime.nullable(),
  duration_ms: z.int().nullable(),
  n_pages: z.int().nullable(),
  n_clusters: z.int().nullable(),
  n_noise: z.int().nullable(),
});
export type ClusterRunResponse = z.infer<typeof clusterRunResponse>;

export const clusterRunsQuery = z.object({ limit: queryInteger({ min: 1, max: 1000, byDefault: 100 }) });
export const clusterRunsResponse = z.strictObject({ runs: z.array(clusterRunResponse) });
export type ClusterRunsResponse = z.infer<typeof clusterRunsResponse>;

export const clusterProjectionQuery = z.object({ run_id: idText.min(1) });
export const clusterProjectionResponse = z.strictObject({
  run_id: z.string(),
  points: z.array(
    z.strictObject({ page_id: z.string(), x: z.number(), y: z.number(), cluster_id: z.string().nullable() }),
  ),
});
export type ClusterProjectionResponse = z.infer<typeof clusterProjectionResponse>;

export const recomputeResponse = z.strictObject({ accepted: z.boolean(), detail: z.string().nullable() });
export type RecomputeResponse = z.infer<typeof recomputeResponse>;

/** The row of a cluster. It stays when the cluster is gone, so that its id resolves. */
export interface Cluster {
  no: number;
  label: string | null;
  /** Whether a language model gave the label; else it is made of the keywords. */
  labelled: boolean;
  keywords: string[];
  size: number;
  tombstoned: boolean;
  /** Middle of its pages on the map. */
  x: number | null;
  y: number | null;
  /** Pages of it were forgotten: its keywords are to be found again. */
  stale: boolean;
}

/** What a run found, until it is named and takes over. */
export interface ClusterDraft {
  no: number;
  size: number;
  x: number;
  y: number;
}

/** The row of a run. */
export interface ClusterRun {
  no: number;
  job_no: number;
  trigger: ClusterTrigger;
  params: Record<string, unknown>;
  started_at: number;
  finished_at: number | null;
  n_pages: number | null;
  n_clusters: number | null;
  n_noise: number | null;
  /** Null before the pages are clustered, and when the run is over. */
  draft: ClusterDraft[] | null;
}

/** Where a run has put a page. */
export interface ClusterPoint {
  page_no: number;
  /** 0: in no cluster. */
  cluster_no: number;
  /** 0..1. */
  probability: number;
  x: number;
  y: number;
  /** Not clustered by the run but put to the nearest cluster since. */
  since: boolean;
}

/** Keywords in a label. */
const labelWords = 3;

/** What a cluster is called where nobody says better; null without keywords. */
export function labelOf(keywords: readonly string[]): string | null {
  return keywords.length === 0 ? null : keywords.slice(0, labelWords).join(', ');
}
