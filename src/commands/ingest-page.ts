/**
 * Ingests one page: a new page with a job, a revisit, or a refusal by the blacklist. One transaction decides, so
 * concurrent submissions make one page. A revisit adds facts and a missing text; that of an import (`once`) replaces
 * `status` and `starred`. A text is replaced only if it is an own file submitted with `once`: the job that indexes the new text
 * replaces the old one. Without a change it counts no visit.
 */
import { isWallTitle } from '../compute/extraction/recognize-wall.ts';
import { isKnownVisit, withVisit } from '../compute/structures/visit-times.ts';
import { fileHost } from '../domain/import.ts';
import { type PageMetadata, withMore } from '../domain/metadata.ts';
import { ownTitle, type Page, type PageStatus, pageStatusUnder, type Section } from '../domain/page.ts';
import { beginPage } from '../machines/page.ts';
import type { Command, Transaction } from '../store/store.ts';
import { putFacts } from './edit-pages.ts';
import { createJob, type JobPolicy, moveJob } from './move-job.ts';

export interface PageSubmission extends GivenPage, JobPolicy {
  seen_at: number;
  /** A repeated submission. A visit of this exact time counts once; one without a date counts only for a new page. */
  once?: boolean;
  undated?: boolean;
}

export type IngestDecision =
  | { outcome: 'accepted'; page_no: number }
  | { outcome: 'revisit'; page_no: number; status: PageStatus; content_hash_differs: boolean }
  | { outcome: 'blacklisted'; pattern: string };

export function ingestPage(submission: PageSubmission): Command<IngestDecision> {
  return (transaction) => {
    const { canonical_url, content_hash, seen_at, once = false, undated = false } = submission;
    const rule = transaction.blacklist.match(submission);
    if (rule !== undefined) return { outcome: 'blacklisted', pattern: rule.pattern };

    const isOwnFile = once && submission.domain === fileHost;
    const knownNo = transaction.pages.numberByUrl(canonical_url);
    const known = knownNo === undefined ? undefined : transaction.pages.get(knownNo);
    if (known !== undefined) {
      const newest = (isOwnFile && transaction.pages.newText(known.no)) || known;
      const content_hash_differs = content_hash !== null && content_hash !== newest.content_hash;
      const metadata = withMore(known.metadata, submission.metadata, once ? ['status', 'starred'] : []);
      const title =
        submission.body === null || transaction.pages.hasBody(known.no)
          ? (ownTitle(known.title, canonical_url) ?? submission.title ?? known.title)
          : titleBehind(known, submission.title);
      const told = {
        ...known,
        title,
        metadata,
        ...filled(transaction, known, submission, isOwnFile && content_hash_differs),
      };
      const revisit = { outcome: 'revisit', page_no: known.no, status: told.status, content_hash_differs } as const;
      const hasNewText = told.index_job !== known.index_job;
      const isCounted = once && ((undated && !isOwnFile) || isKnownVisit(known, seen_at));
      if ((isOwnFile && !hasNewText) || isCounted) {
        if (told.title !== known.title || metadata !== known.metadata || hasNewText)
          putFacts(transaction, told, known, submission.at);
        return revisit;
      }
      putFacts(transaction, { ...withVisit(told, seen_at), visit_count: known.visit_count + 1 }, known, submission.at);
      return revisit;
    }

    const visits = { first_seen_at: seen_at, last_seen_at: seen_at, visit_count: 1 };
    const { starred, ...others } = submission.metadata ?? {};
    const metadata = starred === false ? others : submission.metadata;
    const page_no = createPage(transaction, { ...submission, metadata }, visits, submission);
    return { outcome: 'accepted', page_no };
  };
}

/** The title for a new text: the page's own, unless that is its address or the title of a wall. */
export function titleBehind({ title, canonical_url }: Page, given: string | null): string | null {
  const own = ownTitle(title, canonical_url);
  return own === null || (given !== null && isWallTitle(own)) ? (given ?? title) : own;
}

/** Add a missing text, or one that will replace the stored text, with a job that indexes it. */
function filled(
  transaction: Transaction,
  page: Page,
  { title, body, content_hash, sections, at, max_attempts }: PageSubmission,
  isReplaced: boolean,
): Partial<Page> {
  const hasBody = transaction.pages.hasBody(page.no);
  if (body === null || content_hash === null || (hasBody && !isReplaced)) return {};
  const old = transaction.jobs.get(page.index_job);
  if (old?.page_no === page.no) moveJob(transaction, old, { type: 'cancel', at, reason: 'the text was submitted' });
  const job = createJob(transaction, { kind: 'index_page', page_no: page.no, max_attempts, at });
  const indexing = { index_job: job.no, status: pageStatusUnder[job.status] };
  if (hasBody) {
    transaction.pages.putNewText(page.no, { body, content_hash, sections });
    return { ...indexing, title: title ?? page.title };
  }
  transaction.pages.putBody(page.no, body, sections);
  transaction.pages.removeFeedContent(page.no);
  return { ...indexing, content_hash };
}

interface GivenPage {
  canonical_url: string;
  original_url: string;
  domain: string;
  title: string | null;
  /** Readable text, or null to fetch it. */
  body: string | null;
  content_hash: string | null;
  /** Why there is no text, shown to users. */
  no_body_because?: string | null;
  sections: Section[];
  source: string | null;
  metadata: PageMetadata | null;
}

export function createPage(
  transaction: Transaction,
  given: GivenPage,
  visits: Pick<Page, 'first_seen_at' | 'last_seen_at' | 'visit_count' | 'visits'>,
  { at, max_attempts }: JobPolicy,
): number {
  const { canonical_url, original_url, domain, title, body, content_hash, sections, source, metadata } = given;
  const no = transaction.counters.take('page');
  const kind = body === null ? 'fetch_and_index' : 'index_page';
  const job = createJob(transaction, {
    kind,
    page_no: no,
    max_attempts,
    at,
    last_error: given.no_body_because ?? null,
  });
  const known = { no, canonical_url, original_url, domain, title, source, metadata, content_hash, entity_job: null };
  transaction.pages.put(beginPage({ ...known, ...visits }, job), undefined);
  if (body !== null) transaction.pages.putBody(no, body, sections);
  return no;
}
