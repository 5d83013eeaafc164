/** A page in a list, linked to its stored text. */
import type { ComponentChildren } from 'preact';
import { linkTo } from '../app/router.ts';
import { nameOf, SiteMark } from './text.tsx';

interface Props {
  page: { page_id: string; title: string | null; canonical_url: string };
  domain: string;
  /** At the end of the line. */
  children?: ComponentChildren;
}

/** To a page at a passage. `at` finds it if indexing has given it another id. */
export const passageLink = (pageId: string, passage?: { chunk_id: string; char_start: number }): string =>
  linkTo('page', pageId, passage && { passage: passage.chunk_id, at: String(passage.char_start) });

/** Short links with sites. */
export function PageLinks({ pages }: { pages: readonly (Props['page'] & { domain: string })[] }) {
  return (
    <ul class="plain-list">
      {pages.map((page) => (
        <li key={page.page_id}>
          <a href={linkTo('page', page.page_id)}>
            <bdi>{nameOf(page)}</bdi>
          </a>
          <span class="quiet">
            <bdi>{page.domain}</bdi>
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
