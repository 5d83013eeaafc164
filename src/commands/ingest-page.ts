/**
 * Ingest one page whose URL is canonical and whose text, if it came with one, is already readable: a new page with its job, a
 * revisit of a known one, or a refusal by the blacklist. One transaction decides, so a hundred submissions of one URL at once
 * make one page and ninety-nine revisits.
 */
import type { PageMetadata } from '../domain/metadata.ts';
import type { PageStatus, Section } from '../domain/page.ts';
import type { Command } from '../store/store.ts';
import { createJob } from './move-job.ts';

export interface PageSubmission {
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
  seen_at: number;
  at: number;
  max_attempts: number;
}

export type IngestDecision =
  | { outcome: 'accepted'; page_no: number }
  | { outcome: 'revisit'; page_no: number; status: PageStatus; content_hash_differs: boolean }
  | { outcome: 'blacklisted'; pattern: string };

export function ingestPage(submission: PageSubmission): Command<IngestDecision> {
  return (transaction) => {
    const { canonical_url, domain, content_hash, seen_at, at } = submission;
    const rule = transaction.blacklist.match(submission);
    if (rule !== undefined) return { outcome: 'blacklisted', pattern: rule.pattern };

    const knownNo = transaction.pages.numberByUrl(canonical_url);
    const known = knownNo === undefined ? undefined : transaction.pages.get(knownNo);
    if (known !== undefined) {
      const visited = {
        ...known,
        visit_count: known.visit_count + 1,
        first_seen_at: Math.min(known.first_seen_at, seen_at),
        last_seen_at: Math.max(known.last_seen_at, seen_at),
      };
      transaction.pages.put(visited, known);
      const content_hash_differs = content_hash !== null && content_hash !== known.content_hash;
      return { outcome: 'revisit', page_no: known.no, status: known.status, content_hash_differs };
    }

    const no = transaction.counters.take('page');
    const job = createJob(transaction, {
      kind: submission.body === null ? 'fetch_and_index' : 'index_page',
      page_no: no,
      max_attempts: submission.max_attempts,
      at,
    });
    transaction.pages.put(
      {
        no,
        canonical_url,
        original_url: submission.original_url,
        domain,
        title: submission.title,
        source: submission.source,
        metadata: submission.metadata,
        first_seen_at: seen_at,
        last_seen_at: seen_at,
        visit_count: 1,
        indexed_at: null,
        status: 'queued',
        content_hash,
        index_job: job.no,
        entity_job: null,
        first_label: 0,
        chunk_count: 0,
      },
      undefined,
    );
    if (submission.body !== null) transaction.pages.putBody(no, submission.body, submission.sections);
    return { outcome: 'accepted', page_no: no };
  };
}
