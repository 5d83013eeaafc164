/** Answers requests for pages and jobs from the store; edits pages, retries dead jobs, deletes old completed ones. */
import { setTimeout as delay } from 'node:timers/promises';
import { editPages } from '../../commands/edit-pages.ts';
import { type RetryOutcome, removeOldJobs, retryDeadJobs, retryJobs } from '../../commands/retry-jobs.ts';
import { refreshPages } from '../../commands/store-fetched.ts';
import { ownCopy } from '../../compute/structures/longer.ts';
import { dayMs } from '../../domain/durations.ts';
import { DomainError, required, unknownId } from '../../domain/errors.ts';
import {
  type Job,
  type JobListQuery,
  type JobResponse,
  type JobRetryBatchRequest,
  type JobRetryBatchResponse,
  type JobSubject,
  laneOf,
} from '../../domain/job.ts';
import type { IndexState, MessageName } from '../../domain/messages.ts';
import { isBare, type PageChunk, type PageStatusResponse } from '../../domain/page.ts';
import { TextInParts } from '../../domain/rows.ts';
import { idOf, isoOf, numberOf } from '../../domain/values.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background, type Every } from './background.ts';
import { clusterRefOf, pageLister, pageSummaryOf } from './list-pages.ts';
import type { OldBefore } from './retention.ts';
import type { LaneLimit } from './scheduler.ts';
import type { Handlers, LibraryParts, StartService } from './service.ts';

interface QueriesDependencies
  extends Pick<LibraryParts, 'reader' | 'commit' | 'canonicalize' | 'log' | 'now' | 'maxAttempts'> {
  /** Why the last write was refused, or null. */
  writeTrouble: () => Promise<string | null>;
  indexState: () => Promise<IndexState>;
  /** Why fetching is paused while there is no network, or null. */
  held?: () => LaneLimit | null;
  /** Age limit of completed jobs. */
  oldBefore: OldBefore;
  every?: Every;
}

/** UTF-16 code units per read of a whole text: some 0.1 ms. */
const partLength = 64 * 1024;
/** Max wait for the index, ms: it may be reopening after a fault, and pages are accepted anyway. */
const indexPatienceMs = 1000;
const unopened: IndexState = { state: 'rebuilding', indexed_chunks: 0, total_chunks: 0 };

type QueriesMessages = Exclude<
  Extract<MessageName, `job.${string}` | `page.${string}` | 'system.readiness'>,
  'page.ingest' | 'page.ingestBatch' | 'page.entities' | 'page.forget'
>;

export function queriesService(dependencies: QueriesDependencies): StartService<QueriesMessages> {
  const {
    reader,
    commit,
    writeTrouble,
    indexState,
    held = () => null,
    oldBefore,
    log,
    now,
    every,
    maxAttempts,
  } = dependencies;
  const listPages = pageLister(reader, dependencies.canonicalize);
  const findPage = (page_id: string): PageHead | undefined => {
    const no = reader.pages.numberOfId(page_id);
    return no === null ? undefined : reader.pages.head(no);
  };
  const requirePage = (page_id: string): PageHead => required(findPage(page_id), 'page', page_id);

  const statusOf = (page: PageHead): PageStatusResponse => {
    const failing = page.status === 'failed' || page.status === 'dead';
    const entityJob = page.entity_job === null ? undefined : reader.jobs.get(page.entity_job);
    return {
      page_id: idOf('page', page.no),
      status: page.status,
      last_error: failing ? (reader.jobs.get(page.index_job)?.last_error ?? null) : null,
      features: {
        entities: { status: entityJob?.status ?? 'not_queued', last_error: entityJob?.last_error ?? null },
      },
    };
  };

  const handlers: Handlers<QueriesMessages> = {
    'page.list': (query, signal) => listPages(query, signal),
    'page.get': ({ page_id }) => {
      const page = required(reader.pages.get(requirePage(page_id).no), 'page', page_id);
      return {
        ...pageSummaryOf(reader, page),
        original_url: page.original_url,
        headings: reader.pages.sections(page.no).flatMap(({ title }) => title ?? []),
        metadata: page.metadata,
        cluster: clusterRefOf(reader, page.no),
      };
    },
    'page.text': ({ page_id, offset = 0, length }) => {
      const { no } = requirePage(page_id);
      const body_length = reader.pages.bodyLength(no);
      if (body_length === undefined) return { body_text: null };
      const end = Math.min(body_length, length === undefined ? body_length : offset + length);
      const isShort = end - offset <= partLength;
      const body_text = isShort
        ? slicedText(reader, no, offset, end)
        : new TextInParts(textParts(reader, no, offset, end));
      return { body_text, body_length };
    },
    'page.chunks': ({ page_id }) => {
      const { no } = requirePage(page_id);
      return { page_id: idOf('page', no), chunks: chunkRows(reader, no) };
    },
    'page.status': ({ page_id }) => statusOf(requirePage(page_id)),
    'page.statusBatch': ({ page_ids }) => ({
      results: [...new Set(page_ids)].map((page_id) => {
        const page = findPage(page_id);
        return page === undefined ? { page_id, found: false } : { ...statusOf(page), page_id, found: true };
      }),
    }),
    'page.edit': async ({ page_ids, ...edit }) => {
      const numbers = page_ids.map((id) => reader.pages.numberOfId(id));
      const outcomes = await commit(editPages(numbers, edit, now()), page_ids.length);
      return { results: outcomes.map((outcome, at) => ({ page_id: page_ids[at], outcome })) };
    },
    'page.refresh': async ({ page_ids }) => {
      const numbers = page_ids.map((id) => reader.pages.numberOfId(id));
      const results = await commit(refreshPages(numbers, { at: now(), max_attempts: maxAttempts }), page_ids.length);
      return { results: results.map((result, at) => ({ page_id: page_ids[at], ...result })) };
    },
    'job.list': ({ status, status_filter, kind, limit, subject = false }: JobListQuery) => {
      const hold = held();
      const jobs = reader.jobs.list({ status: status ?? status_filter, kind, limit }).map((job) => ({
        ...jobResponseOf(job),
        ...(hold?.lane === laneOf(job) && job.status === 'pending' && { last_error: whyHeld(hold) }),
        ...(subject && { subject: jobSubjectOf(reader, job) }),
      }));
      return { jobs };
    },
    'job.retry': async ({ job_id }) => {
      const [outcome] = await commit(retryJobs([job_id], now()));
      if (outcome.outcome === 'not_found') throw unknownId('job', job_id);
      if (outcome.outcome === 'skipped') throw new DomainError('conflict', notDead(outcome.job));
      return jobResponseOf(outcome.job);
    },
    'job.retryBatch': async ({
      job_ids,
      kind,
      before,
      limit,
    }: JobRetryBatchRequest): Promise<JobRetryBatchResponse> => {
      const older = before == null ? undefined : numberOf('job', before);
      if (older === null) throw new DomainError('invalid', 'before: must be the id of a job');
      const meant = { kind: kind ?? undefined, before: older, limit };
      const command = job_ids == null ? retryDeadJobs(meant, now()) : retryJobs(job_ids, now());
      const outcomes = await commit<RetryOutcome[]>(command);
      const retried = outcomes.filter(({ outcome }) => outcome === 'retried').length;
      return { requested: outcomes.length, retried, results: outcomes.map(retryResultOf) };
    },
    'system.readiness': async () => {
      const [trouble, index] = await Promise.all([writeTrouble(), inTime(indexState())]);
      return { store: isReadable(), trouble, activeModel: reader.models.activeId(), index };
    },
  };

  const isReadable = () => {
    try {
      reader.counters.peek('opstamp');
      return true;
    } catch (error) {
      log.error({ err: error }, 'the store cannot be read');
      return false;
    }
  };

  return async () => {
    const background = new Background(log, every);
    background.purge(dayMs, 'old jobs could not be deleted', oldBefore, (from, before) =>
      commit(removeOldJobs(from, before)),
    );
    return { handlers, stop: () => background.stop() };
  };
}

/** Returns a copy, so that the rest of the text can be freed. A surrogate pair belongs to the piece where it begins. */
function slicedText({ pages }: StoreReader, no: number, from: number, to: number): string {
  const text = pages.bodySlice(no, from, to + 1);
  const isSecondHalf = (at: number) => /[\udc00-\udfff]/.test(text.charAt(at));
  return ownCopy(text.slice(from > 0 && isSecondHalf(0) ? 1 : 0, isSecondHalf(to - from) ? to - from + 1 : to - from));
}

/** The state, or `unopened` if it does not come in time. Errors: none. */
async function inTime(state: Promise<IndexState>): Promise<IndexState> {
  const told = new AbortController();
  try {
    return await Promise.race([state, delay(indexPatienceMs, unopened, { signal: told.signal })]);
  } catch {
    return unopened; // it is not running
  } finally {
    told.abort();
  }
}

const replaced = () => new DomainError('conflict', 'the text has been replaced');

/** Errors: DomainError `not_found`, or `conflict` if a refresh replaced the text. */
async function* textParts(reader: StoreReader, no: number, from: number, to: number): AsyncGenerator<string> {
  const hash = reader.pages.head(no)?.content_hash;
  for (let at = from; at < to; at += partLength) {
    const page = reader.pages.head(no);
    if (page === undefined) throw unknownId('page', idOf('page', no));
    if (page.content_hash !== hash) throw replaced();
    yield slicedText(reader, no, at, Math.min(at + partLength, to));
  }
}

/** Reads one chunk at a time, as the whole list is as long as the text. */
async function* chunkRows({ pages }: StoreReader, no: number): AsyncGenerator<PageChunk> {
  const label = pages.head(no)?.first_label;
  for (let ordinal = 0; ; ordinal++) {
    const page = pages.head(no);
    if (page === undefined) throw unknownId('page', idOf('page', no));
    if (page.first_label !== label) throw replaced();
    const chunk = pages.chunk(no, ordinal);
    if (chunk === undefined || isBare(chunk)) return;
    const text = pages.bodySlice(no, chunk.char_start, chunk.char_end);
    yield { chunk_id: idOf('chunk', page.first_label + ordinal), ordinal, text, ...chunk };
  }
}

export function jobResponseOf(job: Job): JobResponse {
  return {
    job_id: idOf('job', job.no),
    kind: job.kind,
    status: job.status,
    attempts: job.attempts,
    max_attempts: job.max_attempts,
    last_error: job.last_error,
    created_at: isoOf(job.created_at),
    updated_at: isoOf(job.updated_at),
  };
}

/** The job's page or watch; null if it has none, or the row is deleted. */
function jobSubjectOf({ pages, watches }: StoreReader, job: Job): JobSubject | null {
  const page = job.page_no === null ? undefined : pages.head(job.page_no);
  if (page !== undefined) return { id: idOf('page', page.no), url: page.canonical_url, title: page.title };
  const watch = job.kind === 'poll_watch' ? watches.ofJob(job.no) : undefined;
  return watch === undefined ? null : { id: idOf('watch', watch.no), url: watch.url, title: watch.title };
}

function whyHeld({ places, forMs }: LaneLimit): string {
  return `no network: waits, tried again ${places > 0 ? 'now' : `in ${Math.ceil(forMs / 1000)} s`}`;
}

function retryResultOf(outcome: RetryOutcome): JobRetryBatchResponse['results'][number] {
  switch (outcome.outcome) {
    case 'retried':
      return { ...jobResponseOf(outcome.job), outcome: 'retried' };
    case 'skipped':
      return {
        job_id: idOf('job', outcome.job.no),
        status: outcome.job.status,
        outcome: 'skipped',
        detail: notDead(outcome.job),
      };
    case 'not_found':
      return outcome;
  }
}

function notDead(job: Job): string {
  return `the job is ${job.status}; only dead jobs can be retried`;
}
