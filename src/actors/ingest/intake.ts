/**
 * Accepts pages: canonicalises, extracts readable text on a thread, and has the writer decide. Answers when the decision is durable.
 * Pages without text become findable by their facts.
 */
import { type IngestDecision, ingestPage } from '../../commands/ingest-page.ts';
import { DomainError } from '../../domain/errors.ts';
import { idOf } from '../../domain/ids.ts';
import type { IngestOutcome } from '../../domain/messages.ts';
import type { IngestBatchResult, IngestPageRequest } from '../../domain/page.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import type { Handlers, StartService } from '../system/service.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import { BarePages, type BarePagesDependencies } from './bare-pages.ts';
import { type PreparerDependencies, submissionPreparer } from './prepare-submission.ts';

export interface IntakeDependencies extends PreparerDependencies, BarePagesDependencies {
  commit: CommitCommand;
  /** `storage.max_bytes`, and a reader of the store's size. */
  quotaBytes: number | null;
  usedBytes: () => number;
  metrics: LibraryMetrics;
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
