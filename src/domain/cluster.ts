/** Contract "Clusters", and the stored rows. */
import { z } from 'zod';
import { pageName } from './page.ts';
import { datetime, idText, listPart, queryBoolean, queryInteger } from './values.ts';

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
export const clusterListResponse = z.strictObject({
  clusters: z.array(clusterSummary),
  pages: z.int().optional().describe('pages with text and vectors; only while there are no topics'),
  min_pages: z.int().optional().describe('min pages for topics; only while there are no topics'),
});
export type ClusterListResponse = z.infer<typeof clusterListResponse>;

export const clusterDetailQuery = z.object(listPart);
export const clusterDetailResponse = z.strictObject({
  cluster: clusterSummary,
  pages: z.array(z.strictObject({ ...pageName, probability: z.number().nullable() })),
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

export interface Cluster {
  no: number;
  label: string | null;
  labelled: boolean;
  keywords: string[];
  size: number;
  tombstoned: boolean;
  x: number | null;
  y: number | null;
  /** Whether pages of it were forgotten, so that its keywords must be computed again. */
  stale: boolean;
}

/** The result of a run until it is named and activated. */
export type ClusterDraft = Pick<Cluster, 'no' | 'size'> & Pick<ClusterPoint, 'x' | 'y'>;

export interface ClusterRun extends Pick<ClusterRunResponse, 'params' | 'n_pages' | 'n_clusters' | 'n_noise'> {
  no: number;
  job_no: number;
  trigger: ClusterTrigger;
  started_at: number;
  finished_at: number | null;
  /** Null before clustering and after the run. */
  draft: ClusterDraft[] | null;
}

export interface ClusterPoint {
  page_no: number;
  cluster_no: number;
  probability: number;
  x: number;
  y: number;
  /** Whether it was assigned to the nearest cluster after the run. */
  since: boolean;
}

const leastLabelWords = 2;

/** The first keywords, at least two words; more, or a number, if `taken` (lower case). Null without keywords. */
export function labelOf(keywords: readonly string[], taken: ReadonlySet<string> = new Set()): string | null {
  let count = 1;
  while (count < keywords.length && keywords.slice(0, count).join(' ').split(' ').length < leastLabelWords) count++;
  const label = () => {
    const text = keywords.slice(0, count).join(', ');
    return text.slice(0, 1).toUpperCase() + text.slice(1);
  };
  const isTaken = (text: string) => taken.has(text.toLowerCase());
  if (keywords.length === 0) return null;
  while (count < keywords.length && isTaken(label())) count++;
  if (!isTaken(label())) return label();
  let number = 2;
  while (isTaken(`${label()} ${number}`)) number++;
  return `${label()} ${number}`;
}
