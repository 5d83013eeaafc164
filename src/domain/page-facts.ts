/**
 * What a document says of itself, as it is kept in a page's `metadata`: `published_at` (UTC, ISO 8601), `author`, `lang` (a language
 * tag), `site_name`, `image` (an address); of a recording `duration_s`, `captions` and `transcript`, too. Called where a page's text is read from a document.
 */
import type { PageMetadata } from './metadata.ts';

export interface PageFacts {
  published_at: string | null;
  author: string | null;
  lang: string | null;
  site_name: string | null;
  image?: string | null;
  /** Of a recording, in seconds. */
  duration_s?: number | null;
  /** Who wrote down what is said in a recording: a person, or a machine. */
  captions?: 'manual' | 'automatic';
  /** Where the text of a recording is from: published with it, or recognized here. */
  transcript?: 'published' | 'local';
}

/** The metadata given by who submitted the page, and the facts under keys that are not there or hold null. */
export function withFacts(given: PageMetadata | null, facts: PageFacts): PageMetadata | null {
  const { published_at, author, lang, site_name, image, duration_s, captions, transcript } = facts;
  const values = { published_at, author, lang, site_name, image, duration_s, captions, transcript };
  const known = Object.entries(values).flatMap(([key, value]) => {
    if (value == null || (given?.[key] ?? null) !== null) return [];
    return [[key, typeof value === 'string' ? value.toWellFormed() : value] as const];
  });
  return known.length === 0 ? given : { ...given, ...Object.fromEntries(known) };
}
