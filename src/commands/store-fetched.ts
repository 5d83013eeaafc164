/** Stores a fetched text under the submitted URL, also after redirects: a known page at the target stays separate. */
import { fileHost } from '../domain/import.ts';
import { isInFlight } from '../domain/job.ts';
import type { Page, PageRefreshResponse, Section } from '../domain/page.ts';
import { type PageFacts, withFacts } from '../domain/page-facts.ts';
import { idOf } from '../domain/values.ts';
import type { Address } from '../store/blacklist.ts';
import type { Command, Transaction } from '../store/store.ts';
import { titleBehind } from './ingest-page.ts';
import { type Attempt, createJob, type JobPolicy, moveJob, ownsJob } from './move-job.ts';

export interface FetchedPage {
  page_no: number;
  final: Address;
  /** Used if the page was submitted without a title. */
  title: string | null;
  body: string;
  content_hash: string;
  sections: Section[];
  /** Added to the page's metadata, without replacing values. */
  facts: PageFacts;
}

/** `refused`: the attempt lost its job, or the page was forgotten. */
export type StoredFetch = 'stored' | 'blacklisted' | 'refused';

/** Store the facts of an answer without text. False if `storeFetched` would refuse or change nothing. */
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
    // Only a refresh replaces a stored text.
    if (!pages.hasBody(page.no)) putText(transaction, page, fetched);
    return 'stored';
  };
}

/** Title and metadata of a page with a fetched text. */
export function withFetchedFacts(page: Page, { title, facts }: FetchedPage): Pick<Page, 'title' | 'metadata'> {
  return { title: titleBehind(page, title), metadata: withFacts(page.metadata, facts) };
}

export function putText({ pages }: Transaction, page: Page, fetched: FetchedPage): Page {
  const { body, content_hash, sections } = fetched;
  const filled = { ...page, ...withFetchedFacts(page, fetched), content_hash };
  pages.put(filled, page);
  pages.putBody(page.no, body, sections);
  return filled;
}

type Refresh = Omit<PageRefreshResponse['results'][number], 'page_id'>;

/** Queue jobs that fetch texts again, or retry dead jobs of these pages. A null number stands for an unknown id. */
export function refreshPages(pageNos: readonly (number | null)[], policy: JobPolicy): Command<Refresh[]> {
  return (transaction) => pageNos.map((no) => refreshPage(transaction, no, policy));
}

function refreshPage(transaction: Transaction, no: number | null, policy: JobPolicy): Refresh {
  const page = no === null ? undefined : transaction.pages.get(no);
  if (page === undefined) return { outcome: 'not_found', job_id: null };
  if (page.domain === fileHost) return { outcome: 'own_file', job_id: null };
  const jobs = [page.index_job, page.refresh_job ?? 0].map((job) => transaction.jobs.get(job));
  const waiting = jobs.find(isInFlight);
  if (waiting !== undefined) return { outcome: 'waiting', job_id: idOf('job', waiting.no) };
  const dead = jobs[page.status === 'dead' ? 0 : 1];
  const retried = dead && moveJob(transaction, dead, { type: 'retry', at: policy.at });
  if (retried) return { outcome: 'queued', job_id: idOf('job', retried.no) };
  const job = createJob(transaction, { kind: 'fetch_and_index', page_no: page.no, ...policy });
  transaction.pages.put({ ...page, refresh_job: job.no }, page);
  return { outcome: 'queued', job_id: idOf('job', job.no) };
}
