/**
 * Intake: takes pages in. Canonicalises, gets readable text out of HTML on a work thread, and has the writer decide. It answers
 * when the decision is on the disk.
 */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { type IngestDecision, ingestPage, type PageSubmission } from '../commands/ingest-page.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../compute/canonical-url.ts';
import type { ExtractedPage } from '../compute/extract-html.ts';
import { DomainError } from '../domain/errors.ts';
import { idOf, instantOf } from '../domain/ids.ts';
import type { IngestOutcome } from '../domain/messages.ts';
import { type IngestBatchResult, type IngestPageRequest, ingestPageRequest } from '../domain/page.ts';
import { withFacts } from '../domain/page-facts.ts';
import { prototypeKeyPath } from '../domain/prototype-key.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { serviceLogic } from './service.ts';
import type { CommitCommand } from './system-messages.ts';

export interface IntakeDependencies {
  commit: CommitCommand;
  /** Readable text of an HTML page, made on a work thread. Errors: DomainError. */
  extract: (html: string, url: string) => Promise<ExtractedPage>;
  canonicalize: CanonicalizeSettings;
  maxAttempts: number;
  /** `storage.max_bytes`, and what the store takes now; over it nothing new is taken in. */
  quotaBytes: number | null;
  usedBytes: () => number;
  metrics: Metrics;
  now: () => number;
}

/** Why nothing new is taken in, or null. */
export function overQuota(quotaBytes: number | null, usedBytes: () => number): string | null {
  if (quotaBytes === null || usedBytes() < quotaBytes) return null;
  return `the store has reached storage.max_bytes, ${quotaBytes} bytes`;
}

const metricOutcome = { accepted: 'queued', revisit: 'revisit', blacklisted: 'blacklisted' } as const;

export function intakeLogic(dependencies: IntakeDependencies) {
  const { commit, extract, canonicalize, maxAttempts, quotaBytes, usedBytes, metrics, now } = dependencies;

  const refuseOverQuota = () => {
    const reason = overQuota(quotaBytes, usedBytes);
    if (reason !== null) throw new DomainError('over_quota', reason);
  };

  const prepare = async (request: IngestPageRequest): Promise<PageSubmission> => {
    const html = request.body_html ?? null;
    if (html !== null && request.body_extracted != null) {
      throw new DomainError('invalid', 'body_extracted and body_html must not both be given');
    }
    const canonical = canonicalizeUrl(request.url, canonicalize);
    if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
    const extracted = html === null ? null : await extract(html, canonical.canonical_url);
    const body = wellFormed(extracted?.text) ?? request.body_extracted ?? null;
    const at = now();
    return {
      ...canonical,
      original_url: request.url,
      title: request.title ?? wellFormed(extracted?.title),
      body,
      content_hash: body === null ? null : createHash('sha256').update(body).digest('hex'),
      sections: extracted?.sections ?? [],
      source: request.source ?? null,
      metadata: extracted === null ? (request.metadata ?? null) : withFacts(request.metadata ?? null, extracted),
      seen_at: request.fetched_at == null ? at : instantOf(request.fetched_at),
      at,
      max_attempts: maxAttempts,
    };
  };

  const count = (decision: IngestDecision) => metrics.ingestPages.inc({ outcome: metricOutcome[decision.outcome] });

  /** An item's submission, or why it is rejected. Trouble that is not the item's own is thrown. */
  const prepareItem = async (item: unknown): Promise<PageSubmission | { rejected: string }> => {
    const keyPath = prototypeKeyPath(item);
    if (keyPath !== null) return { rejected: `${shortPath(keyPath)}: this key is not allowed` };
    const parsed = ingestPageRequest.safeParse(item);
    if (!parsed.success) return { rejected: describeIssues(parsed.error) };
    try {
      return await prepare(parsed.data);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid') return { rejected: error.message };
      throw error;
    }
  };

  const start = async () => ({
    handlers: {
      'page.ingest': async (request: IngestPageRequest): Promise<IngestOutcome> => {
        refuseOverQuota();
        const decision = await commit(ingestPage(await prepare(request)));
        count(decision);
        return outcomeOf(decision);
      },
      'page.ingestBatch': async ({ pages }: { pages: unknown[] }): Promise<IngestBatchResult[]> => {
        refuseOverQuota();
        const items = await Promise.all(pages.map(prepareItem));
        const decisions = await commit((transaction) =>
          items.map((item) => ('rejected' in item ? item : ingestPage(item)(transaction))),
        );
        return decisions.map((decision, index) => {
          if ('rejected' in decision) return { outcome: 'rejected', index, detail: decision.rejected };
          count(decision);
          return { ...outcomeOf(decision), index };
        });
      },
    },
  });
  return serviceLogic<'page.ingest' | 'page.ingestBatch'>('intake', start);
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

/**
 * Extracted text as it can be stored: where extraction cuts a text it may halve a pair of surrogates, and a half has no UTF-8 and
 * would make offsets disagree with what is stored, so it becomes U+FFFD. What requests hold is well-formed already.
 */
function wellFormed(text: string | null | undefined): string | null {
  return text == null ? null : text.toWellFormed();
}

/** Parts told of the way to a fault, at its beginning and at its end. */
const shownParts = 10;

function shortPath(path: readonly (string | number)[]): string {
  const parts = path.length > 2 * shownParts ? [...path.slice(0, shownParts), '…', ...path.slice(-shownParts)] : path;
  return parts.join('.');
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
