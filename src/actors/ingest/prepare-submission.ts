/** Turns a submitted page into the writer's input: canonical URL, readable text and its hash. */
import { hash } from 'node:crypto';
import type { z } from 'zod';
import type { PageSubmission } from '../../commands/ingest-page.ts';
import { recognizeWallText, wallNames } from '../../compute/extraction/recognize-wall.ts';
import { canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { DomainError } from '../../domain/errors.ts';
import { fileHost } from '../../domain/import.ts';
import { type IngestPageRequest, ingestPageRequest, ownTitle } from '../../domain/page.ts';
import { withFacts } from '../../domain/page-facts.ts';
import { prototypeKeyPath } from '../../domain/prototype-key.ts';
import { schemaFaults } from '../../domain/schema-fault.ts';
import { instantOf } from '../../domain/values.ts';
import type { SubmittedPage } from '../../threads/extract-thread.ts';
import type { LibraryParts } from '../system/service.ts';

export interface PreparerDependencies extends Pick<LibraryParts, 'canonicalize' | 'maxAttempts' | 'now'> {
  /** Runs on an extraction thread. Errors: DomainError. */
  extract: (html: string, url: string, isArticle: boolean) => Promise<SubmittedPage>;
}

export type SubmissionPreparer = ReturnType<typeof submissionPreparer>;

export function submissionPreparer(dependencies: PreparerDependencies) {
  const { extract, canonicalize, maxAttempts, now } = dependencies;

  const prepare = async (request: IngestPageRequest): Promise<PageSubmission> => {
    const html = request.body_html ?? null;
    if (html !== null && request.body_extracted != null) {
      throw new DomainError('invalid', 'body_extracted and body_html must not both be given');
    }
    const canonical = canonicalizeUrl(request.url, canonicalize);
    if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
    const { canonical_url } = canonical;
    const isArticle = request.body_is_article ?? false;
    const extracted = html === null ? null : await extract(html, canonical_url, isArticle);
    const given = wellFormed(extracted?.text) ?? request.body_extracted ?? null;
    const title =
      ownTitle(request.title ?? null, canonical_url) ?? wellFormed(extracted?.title) ?? request.title ?? null;
    const isOwnFile = canonical.domain === fileHost;
    const wall =
      given === null || isArticle || isOwnFile
        ? null
        : extracted === null
          ? recognizeWallText(title, given)
          : (extracted.wall ?? null);
    const body = wall === null ? given : null;
    const at = now();
    return {
      ...canonical,
      original_url: request.url,
      title,
      body,
      no_body_because: wall === null ? null : `submitted: ${wallNames[wall]}`,
      content_hash: body === null ? null : hash('sha256', body),
      sections: body === null ? [] : (extracted?.sections ?? []),
      source: request.source ?? null,
      metadata: extracted === null ? (request.metadata ?? null) : withFacts(request.metadata ?? null, extracted),
      seen_at: request.fetched_at == null ? at : instantOf(request.fetched_at),
      once: request.once ?? false,
      undated: request.fetched_at == null,
      at,
      max_attempts: maxAttempts,
    };
  };

  /** Turns an unparsed batch item into a submission or a reason for its rejection. Throws other errors. */
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

/** Extraction may leave a lone half of a surrogate pair, which would shift offsets. It becomes U+FFFD. */
function wellFormed(text: string | null | undefined): string | null {
  return text == null ? null : text.toWellFormed();
}

/** Path elements shown at each end. */
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
