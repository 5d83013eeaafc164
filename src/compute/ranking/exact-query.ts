/** What a query asks for literally: a title, a URL, or quoted phrases. Pure; called by the retriever. */
import { foldTitle } from '../../domain/fold-title.ts';
import { curlyApostrophes } from '../text/word-terms.ts';

const curlyQuotes = /[“”]/g;
/** Marks that open a quotation: at the beginning, behind a space, bracket, dash or another mark. */
const openingApostrophe = /(?<=^|[\s([{"“–—-])'/gu;
const openingQuote = /(?<=^|[\s([{'‘–—-])"/gu;
const quoted = /["“”«»„]([^"“”«»„]+)["“”«»„]/gu;

/** The query without quotation marks around the whole of it. */
export function titleOfQuery(query: string): string {
  const whole = /^\s*["“”«»„]([^"“”«»„]+)["“”«»„]\s*$/u.exec(query);
  return whole === null ? query : whole[1];
}

/** Whether the query could be a URL at all: worth canonicalising. */
export function looksLikeUrl(query: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:\/\/\S+\s*$/i.test(query);
}

/**
 * The ways in which a title may be written that has apostrophes or quotation marks: as given, with straight marks, with curly
 * ones, with letter apostrophes (`ʼ`). Stored titles keep their marks, so each is to be looked for; one that mixes marks is found as given only.
 */
export function titleSpellings(title: string): string[] {
  const straight = withStraightMarks(title);
  const curly = straight
    .replace(openingApostrophe, '‘')
    .replaceAll("'", '’')
    .replace(openingQuote, '“')
    .replaceAll('"', '”');
  return [...new Set([title, straight, curly, straight.replaceAll("'", 'ʼ')])];
}

/** Phrases in quotation marks as they are written, one of those that fold to the same; empty ones are none. */
export function quotedPhrases(query: string): string[] {
  const phrases = new Map(Array.from(query.matchAll(quoted), ([, phrase]) => [foldPhrase(phrase), phrase]));
  phrases.delete('');
  return [...phrases.values()];
}

/** The form in which phrases, and texts that may have them, are compared: folded as titles are, curly marks straight. */
export function foldPhrase(phrase: string): string {
  return withStraightMarks(foldTitle(phrase));
}

function withStraightMarks(text: string): string {
  return text.replace(curlyApostrophes, "'").replace(curlyQuotes, '"');
}
