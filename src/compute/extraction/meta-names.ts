/** Names of meta elements to read, most deliberate first. No others are read: they may contain tokens or user names. */

import type { DomNode } from './dom-tree.ts';

const wordsOf = (list: string): string[] => list.trim().split(/\s+/);

export const titleNames = ['og:title', 'twitter:title', 'citation_title', 'dc.title', 'dcterms.title', 'parsely-title'];
export const authorNames = wordsOf(`
  author citation_author article:author parsely-author dc.creator dcterms.creator sailthru.author byl
`);
export const dateNames = wordsOf(`
  article:published_time og:article:published_time citation_publication_date citation_date dc.date.issued
  dcterms.issued dcterms.created dc.date dc.date.created parsely-pub-date sailthru.date date pubdate publish-date
  publishdate publication_date published_time article.published release_date datepublished
`);
export const siteNames = ['og:site_name', 'application-name', 'citation_journal_title', 'dc.publisher'];
export const descriptionNames = ['description', 'og:description', 'twitter:description'];
export const imageNames = 'og:image:secure_url og:image:url og:image twitter:image twitter:image:src image'.split(' ');
export const languageNames = ['og:locale', 'dc.language', 'content-language', 'citation_language'];
export const kindName = 'og:type';

const read = new Set(
  [titleNames, authorNames, dateNames, siteNames, descriptionNames, imageNames, languageNames, kindName].flat(),
);

/** Microdata elements belong to what encloses them. */
export function isReadMeta(meta: Pick<DomNode, 'getAttribute'>): boolean {
  const name = meta.getAttribute('property') ?? meta.getAttribute('name');
  if (name === null)
    return /^(?:author|name|datePublished|headline|image|description)$/.test(meta.getAttribute('itemprop') ?? '');
  return read.has(name.trim().toLowerCase());
}
