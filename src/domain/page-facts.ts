/**
 * Metadata extracted from documents: `published_at` (UTC, ISO 8601), `author`, `lang` (a language tag), `site_name`, `image` (an address),
 * `description` of pages with almost no text; `content_type` of PDFs; of recordings `duration_s`, `captions` and `transcript`.
 */
import type { PageMetadata } from './metadata.ts';

export interface PageFacts {
  published_at: string | null;
  author: string | null;
  lang: string | null;
  site_name: string | null;
  image?: string | null;
  description?: string | null;
  content_type?: string;
  duration_s?: number | null;
  captions?: 'manual' | 'automatic';
  transcript?: 'published' | 'local';
}

export const noFacts = { published_at: null, author: null, lang: null, site_name: null };

export function withFacts(given: PageMetadata | null, facts: PageFacts): PageMetadata | null {
  const { published_at, author, lang, site_name, image, description } = facts;
  const { content_type, duration_s, captions, transcript } = facts;
  const ofFile = { content_type, duration_s, captions, transcript };
  const values = { published_at, author, lang, site_name, image, description, ...ofFile };
  const known = Object.entries(values).flatMap(([key, value]) => {
    if (value == null || (given?.[key] ?? null) !== null) return [];
    return [[key, typeof value === 'string' ? value.toWellFormed() : value] as const];
  });
  return known.length === 0 ? given : { ...given, ...Object.fromEntries(known) };
}
