/** What a query asks for literally: a title, a URL, a host, or quoted phrases. Pure; called by the retriever and by retrieval. */
import { foldTitle, withoutJoiners } from '../../domain/normalize-text.ts';
import { hostWords } from '../text/facts-text.ts';
import { curlyApostrophes } from '../text/word-terms.ts';
import { normalizeDomain } from '../web/domain-match.ts';
import { isRegisteredName } from '../web/registered-names.ts';

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

/** The URL that the query may be, with `https` where it has no scheme; null where it is not worth canonicalising. */
export function urlOfQuery(query: string): string | null {
  const word = query.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(word)) return word;
  // `node.js` and `and/or` are none either, but that is told by no page having them.
  return /^[^\s/?#@\\]+(?:[/?#]\S*)?$/.test(word) && /[.:/]/.test(word) ? `https://${word}` : null;
}

export interface QueriedHost {
  /** Comparable as `normalizeDomain` makes it, without `www.`. */
  domain: string;
  /** The names in it: what pages of the host are found by. */
  words: string;
}

/** The host that the whole query is, with or without a scheme, `www.` and a slash at its end; null where it is none that is registered. */
export function hostOfQuery(query: string): QueriedHost | null {
  const written = /^\s*(?:https?:\/\/)?([^\s/]+)\/?\s*$/i.exec(query)?.[1];
  const normal = written === undefined ? null : normalizeDomain(written);
  if (typeof normal !== 'string') return null;
  const domain = normal.replace(/^www\./, '');
  return isRegisteredName(domain) ? { domain, words: hostWords(domain) } : null;
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

/**
 * The form in which phrases, and texts that may have them, are compared: folded as titles are, curly marks straight, without soft hyphens; `İ`, `I`,
 * `ı` and `i` are one, as Turkish pairs them otherwise than other languages.
 */
export function foldPhrase(phrase: string): string {
  return withStraightMarks(withoutJoiners(foldTitle(phrase)))
    .replaceAll('i\u0307', 'i')
    .replaceAll('ı', 'i');
}

function withStraightMarks(text: string): string {
  return text.replace(curlyApostrophes, "'").replace(curlyQuotes, '"');
}
