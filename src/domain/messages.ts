/**
 * The messages that routes (and tests, the demo, fsck) may send into the actor system: name → request and reply. Names are
 * imperative. `ask(name, request)` is typed by this map; the library routes by it (`answeredBy`). Expected outcomes are replies;
 * a rejected ask is a DomainError. Those between actors: src/actors/system/system-messages.ts.
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
  EntityMergeListResponse,
  EntityMergeResponse,
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
  /** Whether it can be read. */
  store: boolean;
  /** Why the last write was refused; null where it was not. */
  trouble: string | null;
  /** Its id. */
  activeModel: string | null;
  index: IndexState;
}

/** `rebuilding`: something that is stored is not searchable yet. Chunks that both sides have, of all. */
export interface IndexState {
  state: 'whole' | 'rebuilding';
  indexed_chunks: number;
  total_chunks: number;
}

export interface Messages {
  'page.ingest': { request: IngestPageRequest; reply: IngestOutcome };
  /** Items as they came: each is validated by itself. */
  'page.ingestBatch': { request: { pages: unknown[] }; reply: IngestBatchResult[] };
  /**
   * Take a file in; answered when it is here and understood, and goes on from then. `bytes`: the file in pieces.
   * Errors: `invalid` for what cannot be imported, `conflict` while the same file is, `overloaded`, `over_quota`, `store_unavailable` where there is no room; those of the bytes.
   */
  'import.begin': { request: ImportQuery & { bytes: AsyncIterable<Buffer> }; reply: ImportResponse };
  /** Of this process, newest first. */
  'import.list': { request: Record<string, never>; reply: ImportListResponse };
  'import.get': { request: { import_id: string }; reply: ImportResponse };
  /** Answered when it has stopped; one that is over stays as it is. */
  'import.stop': { request: { import_id: string }; reply: undefined };
  /** Newest first. */
  'page.list': { request: PageListQuery; reply: PageListResponse };
  'page.get': { request: { page_id: string }; reply: PageFacts };
  /** The whole text, read while it is taken; null while it is still to be fetched. Errors of its parts: `not_found` when the page is forgotten meanwhile. */
  'page.text': { request: { page_id: string } & PageQuery; reply: PageText };
  'page.chunks': { request: { page_id: string }; reply: InRows<PageChunksResponse> };
  'page.visits': { request: { page_id: string }; reply: PageVisitsResponse };
  'page.status': { request: { page_id: string }; reply: PageStatusResponse };
  'page.statusBatch': { request: { page_ids: string[] }; reply: PageStatusBatchResponse };
  'page.entities': { request: { page_id: string }; reply: PageEntitiesResponse };
  /** Those of most pages first. */
  'entity.list': { request: EntityListQuery; reply: EntityListResponse };
  'entity.get': { request: { ref: string }; reply: EntityDetailResponse };
  'entity.merge': { request: MergeEntityRequest & { ref: string }; reply: EntityMergeResponse };
  'entity.undoMerge': { request: { merge_id: string }; reply: UndoMergeResponse };
  'entity.merges': { request: Record<string, never>; reply: EntityMergeListResponse };
  /** Forget a page or a domain for good. Answered when all of it is gone from every answer. */
  'page.forget': { request: ForgetRequest; reply: ForgetResponse };
  /** Newest first. */
  'blacklist.list': { request: Record<string, never>; reply: InRows<BlacklistResponse> };
  'blacklist.remove': { request: { blacklist_id: string }; reply: undefined };
  'job.list': { request: JobListQuery; reply: JobListResponse };
  'job.retry': { request: { job_id: string }; reply: JobResponse };
  'job.retryBatch': { request: JobRetryBatchRequest; reply: JobRetryBatchResponse };
  /** A place in the stream of job changes. Errors: overloaded when all places are taken. */
  'events.subscribe': { request: Record<string, never>; reply: EventSubscription };
  'metrics.timeseries': { request: TimeseriesQuery; reply: MetricsTimeseriesResponse };
  'metrics.summary': { request: SummaryQuery; reply: MetricsSummaryResponse };
  'disk.usage': { request: Record<string, never>; reply: DiskResponse };
  'search.query': { request: SearchRequest; reply: SearchResponse };
  'search.batch': { request: SearchBatchRequest; reply: SearchBatchResponse };
  'search.similar': { request: SimilarQuery & { page_id: string }; reply: SimilarResponse };
  'search.compare': { request: CompareRequest; reply: CompareResponse };
  /** Newest first; 1,000 runs of 1,000 candidates are 271 MB of JSON. */
  'queryLog.list': { request: QueryLogQuery; reply: InRows<QueryLogListResponse> };
  'queryLog.get': { request: { query_id: string }; reply: QueryLogRunResponse };
  /** Unknown query ids are accepted and noted nowhere. */
  'feedback.give': { request: FeedbackRequest; reply: FeedbackResponse };
  'eval.score': { request: EvalScoreRequest; reply: ScoreReport };
  'eval.startReplay': { request: EvalReplayRequest; reply: EvalReplayAccepted };
  'eval.replay': { request: { job_id: string }; reply: EvalReplayResult };
  /** Newest first. */
  'eval.replays': { request: { limit: number }; reply: EvalReplayList };
  'cluster.list': { request: { include_tombstoned: boolean }; reply: ClusterListResponse };
  'cluster.runs': { request: { limit: number }; reply: ClusterRunsResponse };
  'cluster.get': { request: { cluster_id: string } & ListPart; reply: InRows<ClusterDetailResponse> };
  'cluster.projection': { request: { run_id: string }; reply: ClusterProjectionResponse };
  'cluster.recompute': { request: Record<string, never>; reply: RecomputeResponse };
  /** Oldest first. */
  'watch.list': { request: ListPart; reply: InRows<WatchListResponse> };
  'watch.get': { request: { watch_id: string }; reply: WatchResponse };
  /** A known URL: the watch that is there, unchanged. */
  'watch.create': { request: CreateWatchRequest; reply: WatchResponse };
  'watch.update': { request: UpdateWatchRequest & { watch_id: string }; reply: WatchResponse };
  'watch.delete': { request: { watch_id: string }; reply: null };
  'watch.run': { request: { watch_id: string }; reply: WatchRunAccepted };
  'model.list': { request: Record<string, never>; reply: ModelListResponse };
  'model.register': { request: RegisterModelRequest; reply: ModelInfo };
  'model.activate': { request: { model_id: string }; reply: ModelInfo };
  /** Answered when its vectors and files are gone. */
  'model.retire': { request: { model_id: string }; reply: undefined };
  'model.backfill': { request: { model_id: string }; reply: ModelBackfillResponse };
  'model.estimateBackfill': { request: { model_id: string }; reply: BackfillEstimateResponse };
  /** One that runs already goes on. */
  'model.startBackfill': { request: { model_id: string }; reply: BackfillStartedResponse };
  'system.readiness': { request: Record<string, never>; reply: Readiness };
}

export type MessageName = keyof Messages;
export type RequestOf<Name extends MessageName> = Messages[Name]['request'];
export type ReplyOf<Name extends MessageName> = Messages[Name]['reply'];

/** Send a message into the system and wait for its reply; `signal` gives up waiting and frees what the work holds. */
export type Ask = <Name extends MessageName>(
  name: Name,
  request: RequestOf<Name>,
  options?: { signal?: AbortSignal },
) => Promise<ReplyOf<Name>>;
