/** How a page row comes about: together with its text, if it came with one, and the job that indexes it. */
import type { PageMetadata } from '../domain/metadata.ts';
import type { Page, Section } from '../domain/page.ts';
import { beginPage } from '../machines/page.ts';
import type { Transaction } from '../store/store.ts';
import { createJob, type JobPolicy } from './move-job.ts';

/** What comes of a page from outside. */
export interface GivenPage {
  canonical_url: string;
  original_url: string;
  domain: string;
  title: string | null;
  /** Readable text, or null: to be fetched. */
  body: string | null;
  content_hash: string | null;
  sections: Section[];
  source: string | null;
  metadata: PageMetadata | null;
}

/** Gives its number. */
export function createPage(
  transaction: Transaction,
  given: GivenPage,
  visits: Pick<Page, 'first_seen_at' | 'last_seen_at' | 'visit_count'>,
  { at, max_attempts }: JobPolicy,
): number {
  const { canonical_url, original_url, domain, title, body, content_hash, sections, source, metadata } = given;
  const no = transaction.counters.take('page');
  const kind = body === null ? 'fetch_and_index' : 'index_page';
  const job = createJob(transaction, { kind, page_no: no, max_attempts, at });
  const known = { no, canonical_url, original_url, domain, title, source, metadata, content_hash, entity_job: null };
  transaction.pages.put(beginPage({ ...known, ...visits }, job), undefined);
  if (body !== null) transaction.pages.putBody(no, body, sections);
  return no;
}
