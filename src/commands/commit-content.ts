/**
 * Stores a page's chunks and vectors and allocates labels: the first half of indexing, before index threads see them.
 * Returns null if the attempt no longer owns its job: a late worker cannot overwrite newer content. A bare chunk has no
 * attempt; it is refused if the page has a text by now, or has no known word, or it would be made again and again.
 */
import { factsText } from '../compute/text/facts-text.ts';
import { type Chunk, isBare, type LabelRange, mayBeBare, type Page } from '../domain/page.ts';
import type { Command, Transaction } from '../store/store.ts';
import { leaveGap } from './backfill-model.ts';
import { queueFacts } from './edit-pages.ts';
import { moveTombstones } from './forget.ts';
import { type Attempt, type JobPolicy, ownsJob } from './move-job.ts';
import { queueExtraction } from './page-entities.ts';
import { type FetchedPage, putText } from './store-fetched.ts';

export interface Replacement extends FetchedPage {
  readEntities: boolean;
}

interface PageContent {
  page_no: number;
  /** Indexed facts (compute/text/facts-text.ts). If the page has other facts by now, they are indexed next. */
  facts?: string;
  /** The text of these chunks, which replaces the stored one. `indexed_at` stays null until the job is done. */
  replacement?: Replacement | undefined;
  chunks: Chunk[];
  /** Per vector space: chunk count × dim, row by row. */
  vectors: ReadonlyMap<number, Float32Array>;
  language?: string | null;
  passage_languages?: string[];
  word_count?: number;
}

export interface ContentCommit {
  labels: LabelRange;
  /** Labels of the replaced content, to be removed from the index. */
  obsolete: LabelRange;
}

export function commitContent(attempt: Attempt | null, content: PageContent): Command<ContentCommit | null> {
  return (transaction) => {
    const stored = transaction.pages.get(content.page_no);
    const job = stored && transaction.jobs.get(attempt?.job_no ?? stored.index_job);
    if (job === undefined || stored === undefined) return null;
    if (!(attempt === null ? isWithoutText(transaction, stored) : ownsJob(transaction, attempt))) return null;
    const { replacement } = content;
    if (replacement !== undefined && transaction.blacklist.match(replacement.final) !== undefined) return null;
    const count = content.chunks.length;
    if (attempt === null && count === 0) return null;
    const page =
      replacement === undefined ? stored : putText(transaction, { ...stored, indexed_at: null }, replacement);
    const first = count === 0 ? 0 : transaction.counters.take('label', count);
    const obsolete = { first: page.first_label, count: page.chunk_count };
    const { language = null, passage_languages = [], word_count = 0 } = content;
    const decided = { language, passage_languages, word_count };
    const indexed = { ...page, first_label: first, chunk_count: count, ...decided };
    transaction.pages.put(indexed, page);
    if (content.facts !== undefined && content.facts !== factsText(page))
      queueFacts(transaction, indexed, job.updated_at);
    transaction.pages.putChunks(page.no, content.chunks);
    storeVectors(transaction, content, { at: job.updated_at, max_attempts: job.max_attempts });
    // Otherwise the index job stores it on completion.
    if (replacement !== undefined && page.index_job !== job.no)
      queueExtraction(transaction, page.no, replacement.readEntities);
    return { labels: { first, count }, obsolete };
  };
}

function isWithoutText({ pages }: Transaction, page: Page): boolean {
  return mayBeBare(page) && pages.chunks(page.no).every(isBare);
}

/** Gaps for the built-in model, and for outside models that became ready or were down; none for deleted models. */
function storeVectors(transaction: Transaction, { page_no, chunks, vectors }: PageContent, policy: JobPolicy): void {
  for (const model of transaction.models.all()) {
    const rows = vectors.get(model.space);
    transaction.refusedTexts.remove(model.space, page_no);
    if (chunks.length > 0 && rows !== undefined) transaction.vectors.put(model.space, page_no, rows);
    else transaction.vectors.remove(model.space, page_no);
    transaction.backfills.closeGap(model.space, page_no);
    if (chunks.length > 0 && rows === undefined && model.status !== 'registered')
      leaveGap(transaction, model, page_no, policy);
  }
}

/* Stores several pages with consecutive labels, for one segment. Labels of a refused page become obsolete. */

interface PagesCommit {
  stored: boolean[];
  /** Labels of each page's chunks, whether stored or refused. Empty pages are left out. */
  pages: LabelRange[];
  /** Labels to remove from the index: of replaced contents and refused pages. */
  obsolete: LabelRange[];
}

export function commitPages(pages: readonly { attempt: Attempt | null; content: PageContent }[]): Command<PagesCommit> {
  return (transaction) => {
    const commit: PagesCommit = { stored: [], pages: [], obsolete: [] };
    for (const { attempt, content } of pages) {
      const stored = commitContent(attempt, content)(transaction);
      const count = content.chunks.length;
      const labels = stored?.labels ?? { first: count === 0 ? 0 : transaction.counters.take('label', count), count };
      const late = { type: 'late', first_label: labels.first, chunk_count: count } as const;
      if (stored === null) moveTombstones(transaction, [content.page_no], late); // forgotten: rewrite its files again
      commit.stored.push(stored !== null);
      if (count > 0) commit.pages.push(labels);
      const obsolete = stored?.obsolete ?? labels;
      if (obsolete.count > 0) commit.obsolete.push(obsolete);
    }
    return commit;
  };
}
