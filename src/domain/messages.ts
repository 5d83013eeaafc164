/**
 * The messages of routes, tests, the demo and fsck to the actor system: name → request and reply. `ask(name, request)`
 * is typed by this map; the library routes by it (`answeredBy`). Expected outcomes are replies; a rejected ask is a
 * DomainError. Messages between actors: src/actors/system/system-messages.ts.
 */
import type { z } from 'zod';
import type { BlacklistResponse, ForgetRequest, ForgetResponse } from './blacklist.ts';
import type {
  ClusterDetailResponse,
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunsResponse,
  RecomputeResponse,
} from './cluster.ts';
import type { CompareRequest, CompareResponse } from './compare.ts';
import type { DiskResponse } from './disk.ts';
import type {
  EntityDetailResponse,
  EntityListQuery,
  EntityListResponse,
  EntityMergeListQuery,
  EntityMergeListResponse,
  EntityMergeResponse,
  EntitySuggestionListQuery,
  EntitySuggestionListResponse,
  MergeEntityRequest,
  PageEntitiesResponse,
  UndoMergeResponse,
} from './entity.ts';
import type {
  EvalReplayAccepted,
  EvalReplayList,
  EvalReplayRequest,
  EvalReplayResult,
  EvalScoreRequest,
  ScoreReport,
} from './evaluation.ts';
import type { EventSubscription } from './events.ts';
import type { ImportListResponse, ImportQuery, ImportResponse } from './import.ts';
import type { JobListQuery, JobListResponse, JobResponse, JobRetryBatchRequest, JobRetryBatchResponse } from './job.ts';
import type { MetricsSummaryResponse, MetricsTimeseriesResponse, SummaryQuery, TimeseriesQuery } from './metrics.ts';
import type {
  BackfillEstimateResponse,
  BackfillStartedResponse,
  ModelBackfillResponse,
  ModelInfo,
  ModelListResponse,
  PauseFillRequest,
  RegisterModelRequest,
} from './model.ts';
import type {
  IngestBatchResult,
  IngestPageRequest,
  ingestAcceptedResponse,
  ingestRevisitResponse,
  PageChunksResponse,
  PageFacts,
  PageListQuery,
  PageListResponse,
  PageQuery,
  PageStatusBatchResponse,
  PageStatusResponse,
  PageText,
  PageVisitsResponse,
} from './page.ts';
import type {
  FeedbackRequest,
  FeedbackResponse,
  QueryLogListResponse,
  QueryLogQuery,
  QueryLogRunResponse,
} from './query-log.ts';
import type { ListPart } from './query-values.ts';
import type { InRows } from './rows.ts';
import type {
  SearchBatchRequest,
  SearchBatchResponse,
  SearchRequest,
  SearchResponse,
  SimilarQuery,
  SimilarResponse,
  SuggestQuery,
  SuggestResponse,
} from './search.ts';
import type {
  CreateWatchRequest,
  UpdateWatchRequest,
  WatchListResponse,
  WatchResponse,
  WatchRunAccepted,
} from './watch.ts';

export type IngestOutcome =
  | ({ outcome: 'accepted' } & z.infer<typeof ingestAcceptedResponse>)
  | ({ outcome: 'revisit' } & z.infer<typeof ingestRevisitResponse>)
  | { outcome: 'blacklisted'; error: 'blacklisted'; pattern: string };

export interface Readiness {
  store: boolean;
  trouble: string | null;
  activeModel: string | null;
  index: IndexState;
}

/** `rebuilding`: some stored chunks are not searchable yet. Counts: chunks on both sides, and all. */
export interface IndexState {
  state: 'whole' | 'rebuilding';
  indexed_chunks: number;
  total_chunks: number;
}

export interface Messages {
  'page.ingest': { request: IngestPageRequest; reply: IngestOutcome };
  'page.ingestBatch': { request: { pages: unknown[] }; reply: IngestBatchResult[] };
  /**
   * Import a file; answered when it is received and recognized. `bytes`: the file in pieces. Errors: `invalid` for an unsupported file,
   * `conflict` while it is imported, `overloaded`, `over_quota`, `store_unavailable` without disk space; those of the bytes.
   */
  'import.begin': { request: ImportQuery & { bytes: AsyncIterable<Buffer> }; reply: ImportResponse };
  /** Of this process, newest first. */
  'import.list': { request: Record<string, never>; reply: ImportListResponse };
  'import.get': { request: { import_id: string }; reply: ImportResponse };
  /** Answered when it has stopped; a finished one stays unchanged. */
  'import.stop': { request: { import_id: string }; reply: undefined };
  'page.list': { request: PageListQuery; reply: PageListResponse };
  'page.get': { request: { page_id: string }; reply: PageFacts };
  /** The whole text, read lazily; null if not fetched yet. Errors of its parts: `not_found` when the page is forgotten meanwhile. */
  'page.text': { request: { page_id: string } & PageQuery; reply: PageText };
  'page.chunks': { request: { page_id: string }; reply: InRows<PageChunksResponse> };
  'page.visits': { request: { page_id: string }; reply: PageVisitsResponse };
  'page.status': { request: { page_id: string }; reply: PageStatusResponse };
  'page.statusBatch': { request: { page_ids: string[] }; reply: PageStatusBatchResponse };
  'page.entities': { request: { page_id: string }; reply: PageEntitiesResponse };
  'entity.list': { request: EntityListQuery; reply: EntityListResponse };
  'entity.get': { request: { ref: string }; reply: EntityDetailResponse };
  'entity.merge': { request: MergeEntityRequest & { ref: string }; reply: EntityMergeResponse };
  'entity.undoMerge': { request: { merge_id: string }; reply: UndoMergeResponse };
  'entity.splitMerge': { request: { merge_id: string }; reply: UndoMergeResponse };
  'entity.suggestions': { request: EntitySuggestionListQuery; reply: EntitySuggestionListResponse };
  'entity.reject': { request: MergeEntityRequest & { ref: string }; reply: EntityMergeResponse };
  'entity.merges': { request: EntityMergeListQuery; reply: EntityMergeListResponse };
  /** Delete a page or domain permanently. Answered when no answer contains it. */
  'page.forget': { request: ForgetRequest; reply: ForgetResponse };
  'blacklist.list': { request: Record<string, never>; reply: InRows<BlacklistResponse> };
  'blacklist.remove': { request: { blacklist_id: string }; reply: undefined };
  'job.list': { request: JobListQuery; reply: JobListResponse };
  'job.retry': { request: { job_id: string }; reply: JobResponse };
  'job.retryBatch': { request: JobRetryBatchRequest; reply: JobRetryBatchResponse };
  /** Errors: `overloaded` at the maximum number of subscriptions. */
  'events.subscribe': { request: Record<string, never>; reply: EventSubscription };
  'metrics.timeseries': { request: TimeseriesQuery; reply: MetricsTimeseriesResponse };
  'metrics.summary': { request: SummaryQuery; reply: MetricsSummaryResponse };
  'disk.usage': { request: Record<string, never>; reply: DiskResponse };
  'search.query': { request: SearchRequest; reply: SearchResponse };
  'search.batch': { request: SearchBatchRequest; reply: SearchBatchResponse };
  'search.similar': { request: SimilarQuery & { page_id: string }; reply: SimilarResponse };
  /** At most 8, by kind. Not logged. */
  'search.suggest': { request: SuggestQuery; reply: SuggestResponse };
  'search.compare': { request: CompareRequest; reply: CompareResponse };
  /** Newest first; 1,000 runs of 1,000 candidates are 271 MB of JSON. */
  'queryLog.list': { request: QueryLogQuery; reply: InRows<QueryLogListResponse> };
  'queryLog.get': { request: { query_id: string }; reply: QueryLogRunResponse };
  /** Unknown query ids are accepted and ignored. */
  'feedback.give': { request: FeedbackRequest; reply: FeedbackResponse };
  'eval.score': { request: EvalScoreRequest; reply: ScoreReport };
  'eval.startReplay': { request: EvalReplayRequest; reply: EvalReplayAccepted };
  'eval.replay': { request: { job_id: string }; reply: EvalReplayResult };
  'eval.replays': { request: { limit: number }; reply: EvalReplayList };
  'cluster.list': { request: { include_tombstoned: boolean }; reply: ClusterListResponse };
  'cluster.runs': { request: { limit: number }; reply: ClusterRunsResponse };
  'cluster.get': { request: { cluster_id: string } & ListPart; reply: InRows<ClusterDetailResponse> };
  'cluster.projection': { request: { run_id: string }; reply: ClusterProjectionResponse };
  'cluster.recompute': { request: Record<string, never>; reply: RecomputeResponse };
  'watch.list': { request: ListPart; reply: InRows<WatchListResponse> };
  'watch.get': { request: { watch_id: string }; reply: WatchResponse };
  /** For a known URL the unchanged watch. */
  'watch.create': { request: CreateWatchRequest; reply: WatchResponse };
  'watch.update': { request: UpdateWatchRequest & { watch_id: string }; reply: WatchResponse };
  'watch.delete': { request: { watch_id: string }; reply: null };
  'watch.run': { request: { watch_id: string }; reply: WatchRunAccepted };
  'model.list': { request: Record<string, never>; reply: ModelListResponse };
  'model.register': { request: RegisterModelRequest; reply: ModelInfo };
  'model.activate': { request: { model_id: string }; reply: ModelInfo };
  /** Answered when its vectors and files are gone. */
  'model.pauseFill': { request: PauseFillRequest; reply: ModelListResponse };
  'model.retire': { request: { model_id: string }; reply: undefined };
  'model.backfill': { request: { model_id: string }; reply: ModelBackfillResponse };
  'model.estimateBackfill': { request: { model_id: string }; reply: BackfillEstimateResponse };
  /** A running one continues. */
  'model.startBackfill': { request: { model_id: string }; reply: BackfillStartedResponse };
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
