/** Normalizes facts of a page's `metadata`, for display and filters. Pure. Runs when the row is written. */

import type { PageMetadata } from '../../domain/metadata.ts';
import type { Byline, Page } from '../../domain/page.ts';
import type { PageType } from '../../domain/query-clause.ts';
import { feedDate } from '../feed/feed-date.ts';
import { isRecordingAddress } from '../web/content-types.ts';
import { textsOf } from './facts-text.ts';

const longestAuthor = 200;
const longestSite = 200;
/** RFC 5646, section 4.4.1. */
const longestTag = 35;

const mostLabels = 100;
const longestLabel = 200;

/** Missing or unreadable facts are null. Errors: none. */
export function bylineOf({ canonical_url, metadata }: Pick<Page, 'canonical_url' | 'metadata'>): Byline {
  const authors = [...new Set([...textsOf(metadata?.author), ...textsOf(metadata?.authors)].map(onOneLine))];
  const [site = ''] = textsOf(metadata?.site_name);
  const published = metadata?.published_at;
  const date = typeof published === 'string' ? feedDate(published) : null;
  return {
    author: cut(authors.filter((author) => author !== '').join(', '), longestAuthor),
    published_at: date === null ? null : Date.parse(date),
    site_name: cut(onOneLine(site), longestSite),
    declared_language: canonicalTag(metadata?.lang),
    type: typeOf(canonical_url, metadata),
    tags: labelsIn(metadata?.tags),
    folders: labelsIn(metadata?.folder),
    is: statesIn(metadata),
  };
}

const videoAddress = /^https?:\/\/(?:[a-z]+\.)?(?:youtube\.com\/(?:watch|shorts|live)\b|youtu\.be\/\w|vimeo\.com\/\d)/;

function typeOf(url: string, metadata: PageMetadata | null): PageType {
  const { content_type, watch_kind, watch_id, captions, transcript, duration_s } = metadata ?? {};
  if (content_type === 'application/pdf' || /^[^?#]*\.pdf(?:$|[?#])/i.test(url)) return 'pdf';
  if (watch_kind === 'podcast' || isRecordingAddress(url)) return 'audio';
  if (watch_kind === 'video' || captions != null || videoAddress.test(url)) return 'video';
  if (transcript != null) return duration_s == null ? 'audio' : 'video';
  return watch_id == null ? 'html' : 'feed';
}

/** States in the words of services. Reader's `new`, `later` and `shortlist` are its lists of pages to read. */
function statesIn(metadata: PageMetadata | null): Byline['is'] {
  const states = textsOf(metadata?.status).flatMap((status) => status.split(','));
  const of = (words: RegExp) => states.some((state) => words.test(state.trim()));
  return [
    ...(metadata?.starred === true ? (['starred'] as const) : []),
    ...(of(/^archived?$/i) ? (['archived'] as const) : []),
    ...(of(/^(?:unread|new|later|shortlist)$/i) ? (['unread'] as const) : []),
  ];
}

function labelsIn(value: unknown): string[] {
  const labels = textsOf(value).map((text) => cut(onOneLine(text), longestLabel));
  return [...new Set(labels.filter((label) => label !== null))].slice(0, mostLabels);
}

function canonicalTag(tag: unknown): string | null {
  if (typeof tag !== 'string' || tag.length > longestTag) return null;
  try {
    return Intl.getCanonicalLocales(tag.trim().replaceAll('_', '-'))[0] ?? null;
  } catch {
    return null; // a RangeError, as pages may declare any text
  }
}

function onOneLine(text: string): string {
  return text.slice(0, 1000).replace(/\s+/g, ' ').trim();
}

function cut(text: string, length: number): string | null {
  const short = text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
  return short === '' ? null : short.toWellFormed();
}

/** Silent reading of English non-fiction: Brysbaert 2019, over 190 studies. */
const wordsPerMinute = 238;
/** Unspaced languages: two characters count as a word. */
const ofCharacters = /^(?:zh|ja|ko)(?:-|$)/;

/** Whole minutes, at least one; null without words. `language`: BCP 47. */
export function readMinutes(words: number, language: string | null): number | null {
  if (words === 0) return null;
  const perMinute = ofCharacters.test(language ?? '') ? 2 * wordsPerMinute : wordsPerMinute;
  return Math.max(1, Math.round(words / perMinute));
}
