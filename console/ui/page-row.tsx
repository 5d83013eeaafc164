/** A page in a list, linked to its stored text. */
import type { ComponentChildren } from 'preact';
import { linkTo } from '../app/router.ts';
import { nameOf, SiteMark } from './text.tsx';

interface Props {
  page: { page_id: string; title: string | null; canonical_url: string };
  domain: string;
  /** Shown at the end of the line. */
  children?: ComponentChildren;
}

interface Passage {
  chunk_id: string;
  char_start: number;
  /** Its part that matched; offsets within the passage. */
  snippet?: { start: number; end: number };
}

/** Links to a page at a passage, or at its matching part. `at` finds it if indexing has changed its id. */
export function passageLink(pageId: string, passage?: Passage): string {
  if (passage === undefined) return linkTo('page', pageId);
  const { chunk_id, char_start, snippet } = passage;
  const at = snippet === undefined ? char_start : `${char_start + snippet.start}-${char_start + snippet.end}`;
  return linkTo('page', pageId, { passage: chunk_id, at: String(at) });
}

/** Short links, each with `detail`. */
export function PageLinks<Page extends Props['page']>({
  pages,
  detail,
}: {
  pages: readonly Page[];
  detail: (page: Page) => ComponentChildren;
}) {
  return (
    <ul class="plain-list">
      {pages.map((page) => (
        <li key={page.page_id}>
          <a href={linkTo('page', page.page_id)}>
            <bdi>{nameOf(page)}</bdi>
          </a>
          <span class="quiet">
            <bdi>{detail(page)}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}

export function PageRow({ page, domain, children }: Props) {
  return (
    <li>
      <a class="page-row" href={linkTo('page', page.page_id)}>
        <SiteMark domain={domain} />
        <span class="page-row-text">
          <bdi class="page-row-title">{nameOf(page)}</bdi>
          <bdi class="page-row-site">{domain}</bdi>
        </span>
        {children}
      </a>
    </li>
  );
}
