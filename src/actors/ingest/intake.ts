/** Accepts pages, and answers when the decision is durable. Makes pages without text searchable by their facts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { type IngestDecision, ingestPage } from '../../commands/ingest-page.ts';
import { type DemoPage, demoSubmissions } from '../../domain/demo.ts';
import { DomainError } from '../../domain/errors.ts';
import type { IngestOutcome } from '../../domain/messages.ts';
import { type IngestBatchResult, type IngestPageRequest, lacksBareChunk, mayBeBare } from '../../domain/page.ts';
import { idOf } from '../../domain/values.ts';
import { programDir } from '../../files/program-files.ts';
import { Background } from '../system/background.ts';
import type { Handlers, LibraryParts, StartService } from '../system/service.ts';
import type { PageIndexer } from './index-page.ts';
import { type PreparerDependencies, submissionPreparer } from './prepare-submission.ts';

interface IntakeDependencies
  extends PreparerDependencies,
    BarePagesDependencies,
    Pick<LibraryParts, 'commit' | 'metrics'> {
  /** `storage.max_bytes`, and a function that reads the store's size. */
  quotaBytes: number | null;
  usedBytes: () => number;
}

type Quota = Pick<IntakeDependencies, 'quotaBytes' | 'usedBytes'>;

/** Why nothing new can be stored, or null. */
export function overQuota({ quotaBytes, usedBytes }: Quota): string | null {
  if (quotaBytes === null || usedBytes() < quotaBytes) return null;
  return `the store has reached storage.max_bytes, ${quotaBytes} bytes`;
}

/** Errors: DomainError `over_quota`. */
export function refuseOverQuota(quota: Quota): void {
  const reason = overQuota(quota);
  if (reason !== null) throw new DomainError('over_quota', reason);
}

const metricOutcome = { accepted: 'queued', revisit: 'revisit', blacklisted: 'blacklisted' } as const;

type IntakeMessages = 'page.ingest' | 'page.ingestBatch' | 'demo.add';

export function intakeService(dependencies: IntakeDependencies): StartService<IntakeMessages> {
  const { ask, reader, commit, metrics, now } = dependencies;
  const { prepare, prepareItem } = submissionPreparer(dependencies);

  const demosInTurn = pLimit(1);
  const count = (decision: IngestDecision) => metrics.ingestPages.inc({ outcome: metricOutcome[decision.outcome] });

  const handlers: Handlers<IntakeMessages> = {
    'page.ingest': async (request: IngestPageRequest): Promise<IngestOutcome> => {
      refuseOverQuota(dependencies);
      const decision = await commit(ingestPage(await prepare(request)));
      count(decision);
      return outcomeOf(decision);
    },
    'page.ingestBatch': async ({ pages }: { pages: unknown[] }): Promise<IngestBatchResult[]> => {
      refuseOverQuota(dependencies);
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
    'demo.add': (_request, signal) =>
      demosInTurn(async () => {
        if (reader.pages.count() > 0) throw new DomainError('conflict', 'demo pages need an empty library');
        await ask('demo.remove', {}); // removes rules that block deleted demo pages
        const demo: DemoPage[] = JSON.parse(await readFile(join(programDir, 'models', 'demo.json'), 'utf8'));
        const pages = demo.flatMap((page) => demoSubmissions(page, now()));
        const results = await handlers['page.ingestBatch']({ pages }, signal);
        return { page_ids: results.flatMap((each) => (each.outcome === 'accepted' ? [each.page_id] : [])) };
      }),
  };

  return async () => ({ handlers, stop: makeBarePagesFindable(dependencies) });
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

/* Pages without indexed text get a bare chunk of title, author, host, tags and note. Their rows show which lack it. */

interface BarePagesDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'feed' | 'log'> {
  index: PageIndexer;
}

/** Four batches, so pages with text never wait long. */
const width = 32;
const minuteMs = 60_000;
/** Max wait after failures of a provider or disk: a day. */
const maxWaitMinutes = 24 * 60;
const notFindable = 'pages without text could not be indexed: trying again';

function makeBarePagesFindable({ ask, reader, feed, index, log }: BarePagesDependencies): () => Promise<void> {
  const background = new Background(log);
  const waiting = new Set<number>();
  /** Pages whose chunk may be in the store but not in the index. */
  const failed = new Set<number>();
  const limit = pLimit(width);
  let isQueued = false;
  /** Minutes until failed pages are tried again. Doubles after each failure. */
  let waitMinutes = 1;
  let minutes = 0;

  const indexOne = async (no: number): Promise<void> => {
    const page = background.isStopping ? undefined : reader.pages.get(no);
    const isWanted = page !== undefined && (failed.has(no) ? mayBeBare(page) : lacksBareChunk(page));
    failed.delete(no);
    if (page === undefined || !isWanted) return;
    await index({ page, attempt: null, signal: background.signal, readText: () => '' }).catch((error) => {
      failed.add(no);
      throw error;
    });
  };
  const indexAll = async () => {
    const some = [...waiting];
    waiting.clear();
    isQueued = false;
    const ends = await Promise.allSettled(some.map((no) => limit(() => indexOne(no))));
    const failure = ends.find((end) => end.status === 'rejected');
    waitMinutes = failure === undefined ? 1 : Math.min(2 * waitMinutes, maxWaitMinutes);
    if (failure !== undefined) throw failure.reason;
  };
  const add = (numbers: Iterable<number>) => {
    for (const no of numbers) waiting.add(no);
    if (waiting.size === 0 || isQueued) return;
    isQueued = true;
    background.soon(notFindable, indexAll);
  };

  background.soon('earlier pages without text could not be indexed: trying again at the next start', async () =>
    add(await ask('index.pagesWithoutChunks', {})),
  );
  background.every(minuteMs, notFindable, async () => {
    if (++minutes < waitMinutes || failed.size === 0) return;
    minutes = 0;
    add(failed);
  });
  const unsubscribe = feed.subscribe('durable', ({ pages }) => {
    add(pages.filter(lacksBareChunk).map(({ no }) => no));
  });
  return async () => {
    unsubscribe();
    await background.stop();
  };
}
