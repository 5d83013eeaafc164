/**
 * What a page's `metadata` says of who wrote it, when, where and in which language, in one form each, whoever submitted it: as it is shown
 * beside the page. Pure; called where a page's row is written.
 */

import type { PageMetadata } from '../../domain/metadata.ts';
import type { Byline } from '../../domain/page.ts';
import { feedDate } from '../feed/feed-date.ts';
import { textsOf } from './facts-text.ts';

/** UTF-16 units. */
const longestAuthor = 200;
const longestSite = 200;
/** No language tag that is used is longer: RFC 5646, section 4.4.1. */
const longestTag = 35;

/** Null where it says nothing, or what cannot be read. Errors: none. */
export function bylineOf(metadata: PageMetadata | null): Byline {
  const authors = [...new Set([...textsOf(metadata?.author), ...textsOf(metadata?.authors)].map(onOneLine))];
  const [site = ''] = textsOf(metadata?.site_name);
  const published = metadata?.published_at;
  const date = typeof published === 'string' ? feedDate(published) : null;
  return {
    author: cut(authors.filter((author) => author !== '').join(', '), longestAuthor),
    published_at: date === null ? null : Date.parse(date),
    site_name: cut(onOneLine(site), longestSite),
    declared_language: canonicalTag(metadata?.lang),
  };
}

/** Null for what is no tag. */
function canonicalTag(tag: unknown): string | null {
  if (typeof tag !== 'string' || tag.length > longestTag) return null;
  try {
    return Intl.getCanonicalLocales(tag.trim().replaceAll('_', '-'))[0] ?? null;
  } catch {
    return null; // a RangeError: pages declare anything
  }
}

function onOneLine(text: string): string {
  return text.slice(0, 1000).replace(/\s+/g, ' ').trim();
}

function cut(text: string, length: number): string | null {
  const short = text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
  return short === '' ? null : short.toWellFormed();
}
