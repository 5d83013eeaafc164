/** From a page as it is handed in to what the writer decides about: canonical URL, readable text and its hash. */
import { hash } from 'node:crypto';
import type { z } from 'zod';
import type { PageSubmission } from '../../commands/ingest-page.ts';
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { DomainError } from '../../domain/errors.ts';
import { instantOf } from '../../domain/ids.ts';
import { type IngestPageRequest, ingestPageRequest } from '../../domain/page.ts';
import { withFacts } from '../../domain/page-facts.ts';
import { prototypeKeyPath } from '../../domain/prototype-key.ts';
import { schemaFaults } from '../../domain/schema-fault.ts';

export interface PreparerDependencies {
  /** Readable text of an HTML page, made on an extraction thread. Errors: DomainError. */
  extract: (html: string, url: string) => Promise<ExtractedPage>;
  canonicalize: CanonicalizeSettings;
  maxAttempts: number;
  now: () => number;
}

export interface SubmissionPreparer {
  /** Errors: DomainError. */
  prepare(request: IngestPageRequest): Promise<PageSubmission>;
  /** An item as it came, of a batch: its submission, or why it is rejected. Trouble that is not the item's own is thrown. */
  prepareItem(item: unknown): Promise<PageSubmission | { rejected: string }>;
}

export function submissionPreparer(dependencies: PreparerDependencies): SubmissionPreparer {
  const { extract, canonicalize, maxAttempts, now } = dependencies;

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
      content_hash: body === null ? null : hash('sha256', body),
      sections: extracted?.sections ?? [],
      source: request.source ?? null,
      metadata: extracted === null ? (request.metadata ?? null) : withFacts(request.metadata ?? null, extracted),
      seen_at: request.fetched_at == null ? at : instantOf(request.fetched_at),
      once: request.once ?? false,
      at,
      max_attempts: maxAttempts,
    };
  };

  const prepareItem = async (item: unknown): Promise<PageSubmission | { rejected: string }> => {
    const keyPath = prototypeKeyPath(item);
    if (keyPath !== null) return { rejected: `${shortPath(keyPath)}: this key is not allowed` };
    const parsed = ingestPageRequest.safeParse(item, { reportInput: true });
    if (!parsed.success) return { rejected: describeIssues(parsed.error) };
    try {
      return await prepare(parsed.data);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid') return { rejected: error.message };
      throw error;
    }
  };

  return { prepare, prepareItem };
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
  return schemaFaults(error)
    .map(({ path, msg }) => (path.length === 0 ? msg : `${shortPath(path)}: ${msg}`))
    .join('; ');
}
