/**
 * Stores a fetched text. The page keeps the URL it was submitted under, whatever the redirects, and stays separate from a known page at
 * the redirect's target: both were read, and both are found.
 */
import type { Section } from '../domain/page.ts';
import { type PageFacts, withFacts } from '../domain/page-facts.ts';
import type { Address } from '../store/blacklist.ts';
import type { Command } from '../store/store.ts';
import { titleBehind } from './ingest-page.ts';
import { type Attempt, ownsJob } from './settle-job.ts';

export interface FetchedPage {
  page_no: number;
  final: Address;
  /** For a page submitted without one. */
  title: string | null;
  body: string;
  content_hash: string;
  sections: Section[];
  /** Added to its metadata under missing keys. */
  facts: PageFacts;
}

/** `refused`: the attempt lost its job, or the page was forgotten. */
export type StoredFetch = 'stored' | 'blacklisted' | 'refused';

/** Store the facts of an answer without text. False where `storeFetched` would refuse or change nothing. */
export function storeSaid(
  attempt: Attempt,
  page_no: number,
  said: PageFacts & { title: string | null },
): Command<boolean> {
  return (transaction) => {
    const page = transaction.pages.get(page_no);
    if (page === undefined || !ownsJob(transaction, attempt) || transaction.pages.hasBody(page_no)) return false;
    const metadata = withFacts(page.metadata, said);
    const title = titleBehind(page, said.title);
    if (title === page.title && metadata === page.metadata) return false;
    transaction.pages.put({ ...page, title, metadata }, page);
    return true;
  };
}

export function storeFetched(attempt: Attempt, fetched: FetchedPage): Command<StoredFetch> {
  return (transaction) => {
    const { pages, blacklist } = transaction;
    const page = pages.get(fetched.page_no);
    if (page === undefined || !ownsJob(transaction, attempt)) return 'refused';
    if (blacklist.match(fetched.final) !== undefined) return 'blacklisted';
    // A stored text never changes (design "revisit").
    if (pages.hasBody(page.no)) return 'stored';
    const { title, body, content_hash, sections, facts } = fetched;
    const metadata = withFacts(page.metadata, facts);
    pages.put({ ...page, title: titleBehind(page, title), metadata, content_hash }, page);
    pages.putBody(page.no, body, sections);
    return 'stored';
  };
}
