/**
 * Store a page's chunks and vectors and allocate their labels: the first half of indexing, before the index threads see them.
 * Refused (null) when the attempt no longer owns its job, so a late worker cannot overwrite newer content. A bare chunk is made by no
 * attempt: it is refused when the page has a text by now. A page of which no word is known gets none: nothing is written, which would
 * have its chunk be made again.
 */
import { type Chunk, isBare, type LabelRange, mayBeBare, type Page } from '../domain/page.ts';
import type { Command, Transaction } from '../store/store.ts';
import { leaveGap } from './backfill-model.ts';
import type { JobPolicy } from './move-job.ts';
import { type Attempt, ownsJob } from './settle-job.ts';

export interface PageContent {
  page_no: number;
  chunks: Chunk[];
  /** Per vector space: chunk count × dim, row by row. */
  vectors: ReadonlyMap<number, Float32Array>;
  /** As in the page's row. */
  language?: string | null;
  word_count?: number;
}

export interface ContentCommit {
  labels: LabelRange;
  /** Labels of the content that this one replaces: to be taken out of the index. */
  obsolete: LabelRange;
}

export function commitContent(attempt: Attempt | null, content: PageContent): Command<ContentCommit | null> {
  return (transaction) => {
    const page = transaction.pages.get(content.page_no);
    const job = page && transaction.jobs.get(attempt?.job_no ?? page.index_job);
    if (job === undefined || page === undefined) return null;
    if (!(attempt === null ? isWithoutText(transaction, page) : ownsJob(transaction, attempt))) return null;
    const count = content.chunks.length;
    if (attempt === null && count === 0) return null;
    const first = count === 0 ? 0 : transaction.counters.take('label', count);
    const obsolete = { first: page.first_label, count: page.chunk_count };
    const { language = null, word_count = 0 } = content;
    transaction.pages.put({ ...page, first_label: first, chunk_count: count, language, word_count }, page);
    transaction.pages.putChunks(page.no, content.chunks);
    storeVectors(transaction, content, { at: job.updated_at, max_attempts: job.max_attempts });
    return { labels: { first, count }, obsolete };
  };
}

/** Whether a page still has no chunks but a bare one. */
function isWithoutText({ pages }: Transaction, page: Page): boolean {
  return mayBeBare(page) && pages.chunks(page.no).every(isBare);
}

/**
 * Every model gets the vectors of this content and of no other. A model that began to take pages after the content was embedded, or
 * whose provider could not be reached, is left a gap; a deleted one gets nothing.
 */
function storeVectors(transaction: Transaction, { page_no, chunks, vectors }: PageContent, policy: JobPolicy): void {
  for (const model of transaction.models.all()) {
    const rows = vectors.get(model.space);
    transaction.refusedTexts.remove(model.space, page_no);
    if (chunks.length > 0 && rows !== undefined) transaction.vectors.put(model.space, page_no, rows);
    else transaction.vectors.remove(model.space, page_no);
    if (chunks.length > 0 && rows === undefined) {
      if (model.status !== 'registered') leaveGap(transaction, model, page_no, policy);
    } else transaction.backfills.closeGap(model.space, page_no);
  }
}
