/**
 * Wraps the handler of `fetch_and_index` jobs: if a feed's page can never be fetched, the feed's content becomes its text, unless its
 * address is blacklisted.
 */

import { hash } from 'node:crypto';
import { type FetchedPage, storeFetched } from '../../commands/store-fetched.ts';
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import type { Page } from '../../domain/page.ts';
import type { PageFacts } from '../../domain/page-facts.ts';
import { endsTries, FetchError } from '../../providers/fetch-error.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Completion, JobHandler } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface FeedContentDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  /** Errors: DomainError. */
  extract: (html: string, url: string, isArticle: true) => Promise<ExtractedPage>;
  indexPage: JobHandler;
}

export function withFeedContent(fetchAndIndex: JobHandler, dependencies: FeedContentDependencies): JobHandler {
  const { reader, commit, extract, indexPage } = dependencies;

  const textOf = async (html: string, page: Page): Promise<ExtractedPage | null> => {
    try {
      const read = await extract(html, page.canonical_url, true);
      return read.text.trim() === '' ? null : read;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid') return null;
      throw error;
    }
  };

  return async (job, context) => {
    const page = job.page_no === null ? undefined : reader.pages.get(job.page_no);
    const html = page === undefined ? undefined : reader.pages.feedContent(page.no);
    if (page === undefined || html === undefined) return fetchAndIndex(job, context);
    try {
      return dropping(page.no, await fetchAndIndex(job, context));
    } catch (error) {
      if (!isForGood(error, job)) throw error;
      const read = await textOf(html, page);
      if (read === null) throw error;
      const fetched = fetchedPage(page.no, page, read);
      const stored = await commit(storeFetched(context.attempt, fetched));
      if (stored !== 'stored') throw error;
      return dropping(page.no, await indexPage(job, context));
    }
  };
}

function isForGood(error: unknown, job: Job): boolean {
  return error instanceof FetchError && error.code !== 'blacklisted' && endsTries(error, job);
}

/** The page's own text makes the feed's obsolete. */
function dropping(pageNo: number, completion: Completion): Completion {
  return (transaction) => {
    completion?.(transaction);
    transaction.pages.removeFeedContent(pageNo);
  };
}

/** Extraction may split a surrogate pair; a lone half becomes U+FFFD. */
export function fetchedPage(
  page_no: number,
  final: FetchedPage['final'],
  read: ExtractedPage & PageFacts,
): FetchedPage {
  const body = read.text.toWellFormed();
  const title = read.title?.toWellFormed() ?? null;
  return { page_no, final, title, body, content_hash: hash('sha256', body), sections: read.sections, facts: read };
}
