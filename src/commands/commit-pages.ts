/**
 * Store what indexing has made of several pages, in their order, so that the labels of all their chunks follow each other and one
 * segment serves them all. A page that is refused (commit-content.ts) uses up its labels, too: they name chunks of the segment
 * that belong to nobody, and are handed back as obsolete.
 */
import type { LabelRange } from '../domain/page.ts';
import type { Command } from '../store/store.ts';
import { commitContent, type PageContent } from './commit-content.ts';
import { moveTombstones } from './forget.ts';
import type { Attempt } from './settle-job.ts';

export interface PagesCommit {
  /** For each page whether it was stored. */
  stored: boolean[];
  /** Labels of each page's chunks, stored or refused; pages without chunks are left out. */
  pages: LabelRange[];
  /** Labels to be taken out of the index: of contents that were replaced, and of refused pages. */
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
      if (stored === null) moveTombstones(transaction, [content.page_no], late); // of a forgotten page: its files are due again
      commit.stored.push(stored !== null);
      if (count > 0) commit.pages.push(labels);
      const obsolete = stored?.obsolete ?? labels;
      if (obsolete.count > 0) commit.obsolete.push(obsolete);
    }
    return commit;
  };
}
