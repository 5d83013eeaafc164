/**
 * Accepts pages: canonicalises, extracts readable text on a thread, and has the writer decide. Answers when the decision is durable.
 * Pages without text become findable by their facts.
 */
import pLimit from 'p-limit';
import { type IngestDecision, ingestPage } from '../../commands/ingest-page.ts';
import { DomainError } from '../../domain/errors.ts';
import { idOf } from '../../domain/ids.ts';
import type { IngestOutcome } from '../../domain/messages.ts';
import { type IngestBatchResult, type IngestPageRequest, lacksBareChunk, mayBeBare } from '../../domain/page.ts';
import type { Handlers, LibraryParts, StartService } from '../system/service.ts';
import type { PageIndexer } from './index-page.ts';
import { type PreparerDependencies, submissionPreparer } from './prepare-submission.ts';

interface IntakeDependencies
  extends PreparerDependencies,
    BarePagesDependencies,
    Pick<LibraryParts, 'commit' | 'metrics'> {
  /** `storage.max_bytes`, and a reader of the store's size. */
  quotaBytes: number | null;
  usedBytes: () => number;
}

/** Why nothing new is stored, or null. */
export function overQuota(quotaBytes: number | null, usedBytes: () => number): string | null {
  if (quotaBytes === null || usedBytes() < quotaBytes) return null;
  return `the store has reached storage.max_bytes, ${quotaBytes} bytes`;
}

const metricOutcome = { accepted: 'queued', revisit: 'revisit', blacklisted: 'blacklisted' } as const;

export function intakeService(dependencies: IntakeDependencies): StartService<'page.ingest' | 'page.ingestBatch'> {
  const { commit, quotaBytes, usedBytes, metrics } = dependencies;
  const { prepare, prepareItem } = submissionPreparer(dependencies);

  const refuseOverQuota = () => {
    const reason = overQuota(quotaBytes, usedBytes);
    if (reason !== null) throw new DomainError('over_quota', reason);
  };

  const count = (decision: IngestDecision) => metrics.ingestPages.inc({ outcome: metricOutcome[decision.outcome] });

  const handlers: Handlers<'page.ingest' | 'page.ingestBatch'> = {
    'page.ingest': async (request: IngestPageRequest): Promise<IngestOutcome> => {
      refuseOverQuota();
      const decision = await commit(ingestPage(await prepare(request)));
      count(decision);
      return outcomeOf(decision);
    },
    'page.ingestBatch': async ({ pages }: { pages: unknown[] }): Promise<IngestBatchResult[]> => {
      refuseOverQuota();
      const items = await Promise.all(pages.map(prepareItem));
      const decisions = await commit(
        (transaction) => items.map((item) => ('rejected' in item ? item : ingestPage(item)(transaction))),
        items.length,
      );
      return decisions.map((decision, index) => {
        if ('rejected' in decision) return { outcome: 'rejected', index, detail: decision.rejected };
        count(decision);
        return { ...outcomeOf(decision), index };
      });
    },
  };

  const start = async () => {
    const bare = new BarePages(dependencies);
    return { handlers, stop: () => bare.stop() };
  };
  return start;
}

function outcomeOf(decision: IngestDecision): IngestOutcome {
  switch (decision.outcome) {
    case 'accepted':
      return { outcome: 'accepted', page_id: idOf('page', decision.page_no), status: 'queued' };
    case 'revisit':
      return {
        outcome: 'revisit',
        page_id: idOf('page', decision.page_no),
        status: decision.status,
        revisit: true,
        content_hash_differs: decision.content_hash_differs,
      };
    case 'blacklisted':
      return { outcome: 'blacklisted', error: 'blacklisted', pattern: decision.pattern };
  }
}

/*
 * Makes pages without indexed text findable: not yet fetched, failed, or without words. They get a bare chunk with title, author, host,
 * tags and note, which the text later replaces. No jobs: rows show which pages lack a chunk, at start and after each commit.
 */

interface BarePagesDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'feed' | 'log'> {
  index: PageIndexer;
}

/** Four batches, so pages with text never wait long. */
const width = 32;
/** Retry time after a provider's or disk's failure, ms; doubles each time. */
const firstWaitMs = 60_000;
const maxWaitMs = 24 * 3_600_000;

class BarePages {
  readonly #dependencies: BarePagesDependencies;
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;
  readonly #waiting = new Set<number>();
  /** Their chunk may be in the store but not in the index. */
  readonly #failed = new Set<number>();
  #running: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;
  #waitMs = firstWaitMs;

  constructor(dependencies: BarePagesDependencies) {
    this.#dependencies = dependencies;
    this.#unsubscribe = dependencies.feed.subscribe('durable', ({ pages }) => {
      for (const page of pages) if (lacksBareChunk(page)) this.#waiting.add(page.no);
      this.#start();
    });
    this.#running = this.#takeUp().finally(() => {
      this.#running = undefined;
      this.#start();
    });
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#again);
    this.#stop.abort(new Error('the service is stopping'));
    await this.#running;
  }

  /** Pages of earlier runs. */
  async #takeUp(): Promise<void> {
    const { ask, log } = this.#dependencies;
    try {
      for (const no of await ask('index.pagesWithoutChunks', {})) this.#waiting.add(no);
    } catch (error) {
      log.error({ err: error }, 'pages without a text that came before are made findable at the next start');
    }
  }

  #start(): void {
    if (this.#running !== undefined || this.#waiting.size === 0 || this.#stop.signal.aborted) return;
    this.#running = this.#indexAll().finally(() => {
      this.#running = undefined;
      this.#start();
    });
  }

  /** Errors: none. */
  async #indexAll(): Promise<void> {
    const some = [...this.#waiting];
    this.#waiting.clear();
    const limit = pLimit(width);
    const errors = await Promise.all(some.map((no) => limit(() => this.#index(no))));
    const failures = errors.filter((error) => error !== null);
    if (failures.length === 0) this.#waitMs = firstWaitMs;
    if (failures.length === 0 || this.#stop.signal.aborted) return;
    const { log } = this.#dependencies;
    const [waitMs, again_in_s] = [this.#waitMs, this.#waitMs / 1000];
    this.#waitMs = Math.min(maxWaitMs, 2 * waitMs);
    log.warn(
      { err: failures[0], pages: failures.length, again_in_s },
      'pages without a text could not be made findable',
    );
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      for (const no of this.#failed) this.#waiting.add(no);
      this.#start();
    }, waitMs).unref();
  }

  /** Returns the error, or null. */
  async #index(no: number): Promise<unknown> {
    const { reader, index } = this.#dependencies;
    const { signal } = this.#stop;
    const page = signal.aborted ? undefined : reader.pages.get(no);
    const isWanted = page !== undefined && (this.#failed.has(no) ? mayBeBare(page) : lacksBareChunk(page));
    this.#failed.delete(no);
    if (page === undefined || !isWanted) return null;
    try {
      await index({ page, attempt: null, signal, readText: () => '' });
      return null;
    } catch (error) {
      this.#failed.add(no);
      return error;
    }
  }
}
