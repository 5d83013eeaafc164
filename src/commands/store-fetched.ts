/**
 * Give a page the text that was fetched for it. Its URL stays the one that it was submitted under, whatever was redirected to, and
 * so it stays a page of its own where the redirect leads to another known page: both were read, and both are found.
 */
import type { Section } from '../domain/page.ts';
import { type PageFacts, withFacts } from '../domain/page-facts.ts';
import type { Address } from '../store/blacklist.ts';
import type { Command } from '../store/store.ts';
import { type Attempt, ownsJob } from './settle-job.ts';

export interface FetchedPage {
  page_no: number;
  /** Where the text came from in the end. */
  final: Address;
  /** For a page that was submitted without one. */
  title: string | null;
  body: string;
  content_hash: string;
  sections: Section[];
  /** Kept in its metadata, under keys that it was submitted without. */
  facts: PageFacts;
}

/** `refused`: the attempt does not own its job any more, or the page was forgotten. */
export type StoredFetch = 'stored' | 'blacklisted' | 'refused';

export function storeFetched(attempt: Attempt, fetched: FetchedPage): Command<StoredFetch> {
  return (transaction) => {
    const { pages, blacklist } = transaction;
    const page = pages.get(fetched.page_no);
    if (page === undefined || !ownsJob(transaction, attempt)) return 'refused';
    if (blacklist.match(fetched.final) !== undefined) return 'blacklisted';
    // A text never changes once it is there (design "revisit").
    if (pages.hasBody(page.no)) return 'stored';
    const { title, body, content_hash, sections, facts } = fetched;
    const metadata = withFacts(page.metadata, facts);
    pages.put({ ...page, title: page.title ?? title, metadata, content_hash }, page);
    pages.putBody(page.no, body, sections);
    return 'stored';
  };
}
