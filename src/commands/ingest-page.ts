/**
 * Ingest one page whose URL is canonical and whose text, if it came with one, is already readable: a new page with its job, a
 * revisit of a known one, or a refusal by the blacklist. One transaction decides, so a hundred submissions of one URL at once
 * make one page and ninety-nine revisits. A revisit changes no text; what it says of a page beside that is added to what is known.
 */
import { withMore } from '../domain/metadata.ts';
import type { PageStatus } from '../domain/page.ts';
import type { Command } from '../store/store.ts';
import { createPage, type GivenPage } from './create-page.ts';
import type { JobPolicy } from './move-job.ts';

export interface PageSubmission extends GivenPage, JobPolicy {
  seen_at: number;
  /** It may be handed in again: a visit of this very time counts once. */
  once?: boolean;
}

export type IngestDecision =
  | { outcome: 'accepted'; page_no: number }
  | { outcome: 'revisit'; page_no: number; status: PageStatus; content_hash_differs: boolean }
  | { outcome: 'blacklisted'; pattern: string };

export function ingestPage(submission: PageSubmission): Command<IngestDecision> {
  return (transaction) => {
    const { canonical_url, content_hash, seen_at, once = false } = submission;
    const rule = transaction.blacklist.match(submission);
    if (rule !== undefined) return { outcome: 'blacklisted', pattern: rule.pattern };

    const knownNo = transaction.pages.numberByUrl(canonical_url);
    const known = knownNo === undefined ? undefined : transaction.pages.get(knownNo);
    if (known !== undefined) {
      const content_hash_differs = content_hash !== null && content_hash !== known.content_hash;
      const isKnownVisit =
        seen_at === known.last_seen_at ||
        seen_at === known.first_seen_at ||
        transaction.pages.knowsVisit(known.no, seen_at);
      const metadata = withMore(known.metadata, submission.metadata);
      const told = { ...known, title: known.title ?? submission.title, metadata };
      if (once && isKnownVisit) {
        if (told.title !== known.title || metadata !== known.metadata) transaction.pages.put(told, known);
        return { outcome: 'revisit', page_no: known.no, status: known.status, content_hash_differs };
      }
      const visited = {
        ...told,
        visit_count: known.visit_count + 1,
        first_seen_at: Math.min(known.first_seen_at, seen_at),
        last_seen_at: Math.max(known.last_seen_at, seen_at),
      };
      transaction.pages.put(visited, known);
      if (once) transaction.pages.putVisit(known.no, seen_at);
      return { outcome: 'revisit', page_no: known.no, status: known.status, content_hash_differs };
    }

    const visits = { first_seen_at: seen_at, last_seen_at: seen_at, visit_count: 1 };
    const page_no = createPage(transaction, submission, visits, submission);
    if (once) transaction.pages.putVisit(page_no, seen_at);
    return { outcome: 'accepted', page_no };
  };
}
