/** Chapters of the podcast namespace: a JSON document. */

import { ownField, parsedJson } from '../structures/json-fields.ts';
import { maxTimeS, oneLine } from './cue.ts';
import type { Chapter } from './transcript-text.ts';

const maxChapters = 1000;
const maxTitleLength = 500;

/** Errors: none; what is no list of chapters gives none. Chapters that are not to be listed (`toc` false) are left out. */
export function readChapters(text: string): Chapter[] {
  const listed: unknown = ownField(parsedJson(text), 'chapters');
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, maxChapters).flatMap((chapter: unknown) => {
    const startS = ownField(chapter, 'startTime');
    if (typeof startS !== 'number' || !(startS >= 0 && startS <= maxTimeS) || ownField(chapter, 'toc') === false)
      return [];
    const title = ownField(chapter, 'title');
    return [
      {
        startS,
        title: typeof title === 'string' ? oneLine(title).slice(0, maxTitleLength).toWellFormed() || null : null,
      },
    ];
  });
}
