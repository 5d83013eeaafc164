/** Selected results: tagged, exported and deleted together. */
import type { PageResponse } from '../../../src/domain/page.ts';
import type { PageResult } from '../../../src/domain/search.ts';
import { pageOf } from '../../api/page-facts.ts';
import { mayWrite } from '../../app/session.tsx';
import { count } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton } from '../../ui/parts.tsx';
import { nameOf } from '../../ui/text.tsx';
import { BulkTags, textsIn } from '../page/annotations.tsx';
import { deleteLater } from '../page/delete-pages.tsx';
import { quoteOf } from '../page/highlights.ts';

interface Props {
  pages: readonly PageResult[];
  clear: () => void;
  /** Null if all are selected. */
  selectAll: (() => void) | null;
  onTagged: () => void;
  onDeleted: () => void;
}

export function SelectedPages({ pages, clear, selectAll, onTagged, onDeleted }: Props) {
  const ids = pages.map(({ page_id }) => page_id);
  return (
    <section
      class="selected-bar"
      aria-label="Selected pages"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        clear();
      }}
    >
      <p role="status">{count(pages.length)} selected</p>
      {selectAll !== null && (
        <button type="button" class="button button-small" onClick={selectAll}>
          Select all
        </button>
      )}
      <ActButton class="button button-small" act={() => exportPages(ids)}>
        Export
      </ActButton>
      {mayWrite() && (
        <button
          type="button"
          class="button button-small button-quiet-danger"
          onClick={() => {
            deleteLater(nameOf(pages[0]), pages);
            onDeleted();
          }}
        >
          Delete
        </button>
      )}
      {mayWrite() && <BulkTags ids={ids} onDone={onTagged} />}
      <button type="button" class="icon-button" aria-label="Clear selection" onClick={clear}>
        <Icon name="x" />
      </button>
    </section>
  );
}

/** Save a Markdown list of links, tags, notes and highlights. */
async function exportPages(ids: readonly string[]): Promise<void> {
  const pages: PageResponse[] = [];
  for (const id of ids) {
    const page = await pageOf(id);
    if (page !== null) pages.push(page);
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(pages.map(itemOf), { type: 'text/markdown' }));
  link.download = 'readback-pages.md';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function itemOf(page: PageResponse): string {
  const { canonical_url, domain, last_seen_at, metadata } = page;
  const title = nameOf(page)
    .replace(/\s+/g, ' ')
    .replace(/[[\]\\]/g, '\\$&');
  const tags = textsIn(metadata?.tags).map((tag) => ` #${tag}`);
  const quotes = [metadata?.highlights ?? []].flat().map((highlight) => quoteOf(highlight).replace(/^/gm, '> '));
  const below = [...textsIn(metadata?.note), ...quotes].map((text) => `\n\n${text}`.replace(/\n(?=[^\n])/g, '\n  '));
  return `- [${title}](<${canonical_url}>) · ${domain} · ${last_seen_at.slice(0, 10)}${tags.join('')}${below.join('')}\n`;
}
