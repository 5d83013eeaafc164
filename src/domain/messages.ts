/**
 * The messages of routes, tests and fsck to the actor system: name → request and reply. `ask(name, request)`
 * is typed by this map; the library routes each to the service whose handlers name it. Expected outcomes are replies; a rejected ask is a
 * DomainError. Messages between actors: src/actors/system/service.ts.
 */

import type { z } from 'zod';
import type * as admin from './admin.ts';
import type * as asking from './ask.ts';
import type * as blacklist from './blacklist.ts';
import type * as cluster from './cluster.ts';
import type * as compare from './compare.ts';
import type * as entity from './entity.ts';
import type * as evaluation from './evaluation.ts';
import type * as imports from './import.ts';
import type * as job from './job.ts';
import type { MetadataEdit } from './metadata.ts';
import type * as model from './model.ts';
import type * as page from './page.ts';
import type * as queryLog from './query-log.ts';
import type { InRows } from './rows.ts';
import type * as search from './search.ts';
import type { ListPart } from './values.ts';
import type * as watch from './watch.ts';

export type IngestOutcome =
  | ({ outcome: 'accepted' } & z.infer<typeof page.ingestAcceptedResponse>)
  | ({ outcome: 'revisit' } & z.infer<typeof page.ingestRevisitResponse>)
  | { outcome: 'blacklisted'; error: 'blacklisted'; pattern: string };

export interface Readiness {
  store: boolean;
  trouble: string | null;
  activeModel: string | null;
  index: IndexState;
}

/** `rebuilding`: some stored chunks are not searchable yet. Counts: chunks in both sides, and all chunks. */
export interface IndexState {
  state: 'whole' | 'rebuilding';
  indexed_chunks: number;
  total_chunks: number;
}

export type ImportUpload = Omit<imports.ImportQuery, 'dry_run'> & { bytes: AsyncIterable<Buffer> };

export interface Messages {
  'page.ingest': { request: page.IngestPageRequest; reply: IngestOutcome };
  'page.ingestBatch': { request: { pages: unknown[] }; reply: page.IngestBatchResult[] };
  /** Errors: `conflict` in a library with pages, `over_quota`. */
  'demo.add': { request: Record<string, never>; reply: page.DemoAddedResponse };
  /**
   * Import a file; answered when it is received and recognized. `bytes`: the file in pieces. Errors: `invalid` for an unsupported file,
   * `conflict` while it is imported, `overloaded`, `over_quota`, `store_unavailable` without disk space; those of the bytes.
   */
  'import.begin': { request: ImportUpload; reply: imports.ImportResponse };
  /** What would be imported. Stores nothing. Errors: as `import.begin`. */
  'import.preview': { request: ImportUpload; reply: imports.ImportPreviewResponse };
  /** Imports of this process, newest first. */
  'import.list': { request: Record<string, never>; reply: imports.ImportListResponse };
  'import.get': { request: { import_id: string }; reply: imports.ImportResponse };
  /** Answers when it has stopped. A finished import does not change. */
  'import.stop': { request: { import_id: string }; reply: undefined };
  'page.list': { request: page.PageListQuery; reply: page.PageListResponse };
  'page.get': { request: { page_id: string }; reply: page.PageFacts };
  /** The whole text, read lazily; null if not fetched yet. Errors of its parts: `not_found` after a forget. */
  'page.text': { request: { page_id: string } & page.PageQuery; reply: page.PageText };
  'page.chunks': { request: { page_id: string }; reply: InRows<page.PageChunksResponse> };
  'page.status': { request: { page_id: string }; reply: page.PageStatusResponse };
  'page.statusBatch': { request: { page_ids: string[] }; reply: page.PageStatusBatchResponse };
  'page.refresh': { request: { page_ids: string[] }; reply: page.PageRefreshResponse };
  /** Change tags, notes and highlights in one commit. Results are in the order of the ids. */
  'page.edit': { request: MetadataEdit & { page_ids: string[] }; reply: page.PageEditBatchResponse };
  'page.entities': { request: { page_id: string }; reply: entity.PageEntitiesResponse };
  'entity.list': { request: entity.EntityListQuery; reply: entity.EntityListResponse };
  'entity.get': { request: { ref: string }; reply: entity.EntityDetailResponse };
  'entity.merge': { request: entity.MergeEntityRequest & { ref: string }; reply: entity.EntityMergeResponse };
  'entity.undoMerge': { request: { merge_id: string }; reply: entity.UndoMergeResponse };
  'entity.splitMerge': { request: { merge_id: string }; reply: entity.UndoMergeResponse };
  'entity.suggestions': { request: entity.EntitySuggestionListQuery; reply: entity.EntitySuggestionListResponse };
  'entity.reject': { request: entity.MergeEntityRequest & { ref: string }; reply: entity.EntityMergeResponse };
  'entity.merges': { request: entity.EntityMergeListQuery; reply: entity.EntityMergeListResponse };
  /** Delete a page or domain permanently. Answers when no search finds it any more. */
  'page.forget': { request: blacklist.ForgetRequest; reply: blacklist.ForgetResponse };
  /** Delete the demo pages, and every rule that blocks one of them. */
  'demo.remove': { request: Record<string, never>; reply: page.DemoRemovedResponse };
  'blacklist.list': { request: Record<string, never>; reply: InRows<blacklist.BlacklistResponse> };
  'blacklist.remove': { request: { blacklist_id: string }; reply: undefined };
  'job.list': { request: job.JobListQuery; reply: job.JobListResponse };
  'job.retry': { request: { job_id: string }; reply: job.JobResponse };
  'job.retryBatch': { request: job.JobRetryBatchRequest; reply: job.JobRetryBatchResponse };
  /** Errors: `overloaded` at the maximum number of subscriptions. */
  'events.subscribe': { request: Record<string, never>; reply: job.EventSubscription };
  'metrics.timeseries': { request: admin.TimeseriesQuery; reply: admin.MetricsTimeseriesResponse };
  'metrics.summary': { request: admin.SummaryQuery; reply: admin.MetricsSummaryResponse };
  'disk.usage': { request: Record<string, never>; reply: admin.DiskResponse };
  'search.query': { request: search.SearchRequest; reply: search.SearchResponse };
  'search.batch': { request: search.SearchBatchRequest; reply: search.SearchBatchResponse };
  'search.similar': { request: search.SimilarQuery & { page_id: string }; reply: search.SimilarResponse };
  /** At most 8 suggestions, by kind. Not logged. */
  'search.suggest': { request: search.SuggestQuery; reply: search.SuggestResponse };
  /** `report` gets intermediate results. After its first call, errors of the model are not thrown. */
  'search.ask': {
    request: asking.AskRequest & { report?: (event: asking.AskEvent) => void };
    reply: asking.AskResponse;
  };
  'search.compare': { request: compare.CompareRequest; reply: compare.CompareResponse };
  /** Newest first; 1,000 runs of 1,000 candidates are 271 MB of JSON. */
  'queryLog.list': { request: queryLog.QueryLogQuery; reply: InRows<queryLog.QueryLogListResponse> };
  'queryLog.get': { request: { query_id: string }; reply: queryLog.QueryLogRunResponse };
  /** Unknown query ids are accepted and ignored. */
  'feedback.give': { request: queryLog.FeedbackRequest; reply: queryLog.FeedbackResponse };
  'eval.score': { request: evaluation.EvalScoreRequest; reply: evaluation.ScoreReport };
  'eval.startReplay': { request: evaluation.EvalReplayRequest; reply: evaluation.EvalReplayAccepted };
  'eval.replay': { request: { job_id: string }; reply: evaluation.EvalReplayResult };
  'eval.replays': { request: { limit: number }; reply: evaluation.EvalReplayList };
  'cluster.list': { request: { include_tombstoned: boolean }; reply: cluster.ClusterListResponse };
  'cluster.runs': { request: { limit: number }; reply: cluster.ClusterRunsResponse };
  'cluster.get': { request: { cluster_id: string } & ListPart; reply: InRows<cluster.ClusterDetailResponse> };
  'cluster.projection': { request: { run_id: string }; reply: cluster.ClusterProjectionResponse };
  'cluster.recompute': { request: Record<string, never>; reply: cluster.RecomputeResponse };
  'watch.list': { request: ListPart; reply: InRows<watch.WatchListResponse> };
  'watch.get': { request: { watch_id: string }; reply: watch.WatchResponse };
  /** For a known URL, returns the unchanged watch. */
  'watch.create': { request: watch.CreateWatchRequest; reply: watch.WatchResponse };
  /** Reads the source once and stores nothing. */
  'watch.check': { request: watch.CheckWatchRequest; reply: watch.WatchCheckResponse };
  'watch.update': { request: watch.UpdateWatchRequest & { watch_id: string }; reply: watch.WatchResponse };
  'watch.delete': { request: { watch_id: string }; reply: null };
  'watch.run': { request: { watch_id: string }; reply: watch.WatchRunAccepted };
  'model.list': { request: Record<string, never>; reply: model.ModelListResponse };
  'model.register': { request: model.RegisterModelRequest; reply: model.ModelInfo };
  'model.activate': { request: { model_id: string }; reply: model.ModelInfo };
  /** Answers when the vectors and files are deleted. */
  'model.pauseFill': { request: model.PauseFillRequest; reply: model.ModelListResponse };
  'model.retire': { request: { model_id: string }; reply: undefined };
  'model.backfill': { request: { model_id: string }; reply: model.ModelBackfillResponse };
  'model.estimateBackfill': { request: { model_id: string }; reply: model.BackfillEstimateResponse };
  /** A running backfill continues. */
  'model.startBackfill': { request: { model_id: string }; reply: model.BackfillStartedResponse };
  'system.readiness': { request: Record<string, never>; reply: Readiness };
}

export type MessageName = keyof Messages;
export type RequestOf<Name extends MessageName> = Messages[Name]['request'];
export type ReplyOf<Name extends MessageName> = Messages[Name]['reply'];

/** Send a message and wait for its reply; `signal` aborts the wait and the work. */
export type Ask = <Name extends MessageName>(
  name: Name,
  request: RequestOf<Name>,
  options?: { signal?: AbortSignal },
) => Promise<ReplyOf<Name>>;
