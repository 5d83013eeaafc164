/**
 * Changes what users note about pages: tags, notes, highlights. The words of these facts are indexed under the first
 * chunk's label, so an `index_page` job gives the same chunks new labels; nothing is embedded again.
 */
import { factsText } from '../compute/text/facts-text.ts';
import { type MetadataEdit, withEdit } from '../domain/metadata.ts';
import type { LabelRange, Page } from '../domain/page.ts';
import type { Command, Transaction } from '../store/store.ts';
import { moveTombstones } from './forget.ts';
import { type Attempt, createJob, ownsJob } from './move-job.ts';

export type EditOutcome = 'changed' | 'unchanged' | 'not_found' | 'too_large';

/** Edit each page on its own. A null number stands for an unknown id. */
export function editPages(pageNos: readonly (number | null)[], edit: MetadataEdit, at: number): Command<EditOutcome[]> {
  return (transaction) =>
    pageNos.map((no) => {
      const page = no === null ? undefined : transaction.pages.get(no);
      if (page === undefined) return 'not_found';
      const metadata = withEdit(page.metadata, edit);
      if (metadata === 'too_large') return 'too_large';
      if (metadata === page.metadata) return 'unchanged';
      putFacts(transaction, { ...page, metadata }, page, at);
      return 'changed';
    });
}

/** Store a page. If its chunks are indexed with other facts, queue their indexing. */
export function putFacts(transaction: Transaction, page: Page, before: Page, at: number): void {
  transaction.pages.put(page, before);
  if (page.metadata !== before.metadata && factsText(page) !== factsText(before)) queueFacts(transaction, page, at);
}

/** A waiting job will read the latest facts. */
export function queueFacts(transaction: Transaction, page: Page, at: number): void {
  const earlier = transaction.jobs.get(page.facts_job ?? 0);
  if (page.chunk_count === 0 || earlier?.status === 'pending' || earlier?.status === 'failed') return;
  const max_attempts = transaction.jobs.get(page.index_job)?.max_attempts ?? 1;
  const job = createJob(transaction, { kind: 'index_page', page_no: page.no, max_attempts, at });
  transaction.pages.put({ ...page, facts_job: job.no }, page);
}

interface Relabelled {
  pages: LabelRange[];
  obsolete: LabelRange[];
  /** The page's stored vectors by space. Chunks without vectors have zeros. */
  vectors: ReadonlyMap<number, Float32Array>;
}

/**
 * New labels for a page's chunks, for a segment with its present facts. Call it twice: first to allocate them, then to
 * assign them once the index has them, so that the page is always found. Null if newer chunks have these facts.
 */
export function relabelPage(
  attempt: Attempt,
  { no, first_label, chunk_count }: Page,
  taken: LabelRange | null,
): Command<Relabelled | null> {
  return (transaction) => {
    const { pages, counters, entities, models, vectors } = transaction;
    const page = pages.get(no);
    if (page?.first_label !== first_label || !ownsJob(transaction, attempt)) {
      // Files may contain words of a forgotten page: rewrite them again.
      if (page === undefined && taken !== null)
        moveTombstones(transaction, [no], { type: 'late', first_label: taken.first, chunk_count });
      return null;
    }
    const first = taken?.first ?? counters.take('label', chunk_count);
    if (taken !== null) {
      pages.put({ ...page, first_label: first }, page);
      const seen = entities.seenNames(no);
      if (seen?.first === first_label) entities.putSeenNames(no, { ...seen, first });
    }
    const stored = models.all().flatMap(({ space }): [number, Float32Array][] => {
      const rows = vectors.get(space, no);
      return rows === undefined ? [] : [[space, rows]];
    });
    const obsolete = taken === null ? [] : [{ first: first_label, count: chunk_count }];
    return { pages: [{ first, count: chunk_count }], obsolete, vectors: new Map(stored) };
  };
}
