/** Chapters of the podcast namespace: a JSON document. */
import { maxTimeS, oneLine } from './cue.ts';
import type { Chapter } from './transcript-text.ts';

const maxChapters = 1000;
const maxTitleLength = 500;

/** Errors: none; what is no list of chapters gives none. Chapters that are not to be listed (`toc` false) are left out. */
export function readChapters(text: string): Chapter[] {
  const listed: unknown = own(parsed(text.replace(/^\ufeff/, '')), 'chapters');
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, maxChapters).flatMap((chapter: unknown) => {
    const startS = own(chapter, 'startTime');
    if (typeof startS !== 'number' || !(startS >= 0 && startS <= maxTimeS) || own(chapter, 'toc') === false) return [];
    const title = own(chapter, 'title');
    return [
      {
        startS,
        title: typeof title === 'string' ? oneLine(title).slice(0, maxTitleLength).toWellFormed() || null : null,
      },
    ];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The only reason is that it is no JSON.
    return null;
  }
}

function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
