/** Finds literal parts of a query: a title, URL, host, or quoted phrases. Pure. */
import { foldTitle, withoutJoiners } from '../../domain/normalize-text.ts';
import { addressBeginnings, hostWords } from '../text/facts-text.ts';
import { curlyApostrophes } from '../text/word-terms.ts';
import { normalizeDomain } from '../web/domain-match.ts';
import { isRegisteredName } from '../web/registered-names.ts';

const curlyQuotes = /[“”]/g;
/** Apostrophes that open a quotation: at the start, after a space, bracket, dash or mark. */
const openingApostrophe = /(?<=^|[\s([{"“–—-])'/gu;
const openingQuote = /(?<=^|[\s([{'‘–—-])"/gu;
const quoted = /["“”«»„]([^"“”«»„]+)["“”«»„]/gu;

/** The query without quotation marks around it. */
export function titleOfQuery(query: string): string {
  const whole = /^\s*["“”«»„]([^"“”«»„]+)["“”«»„]\s*$/u.exec(query);
  return whole === null ? query : whole[1];
}

/** The query as a URL, with `https` by default; null if it cannot be one. */
export function urlOfQuery(query: string): string | null {
  const word = query.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(word)) return word;
  // `node.js` and `and/or` look like addresses, but no page has them.
  return /^[^\s/?#@\\]+(?:[/?#]\S*)?$/.test(word) && /[.:/]/.test(word) ? `https://${word}` : null;
}

/** Prefixes of the query's address, longest first, as it may end within a path element. Empty if it has no address. */
export function beginningsOfQuery(query: string): string[] {
  const url = urlOfQuery(query);
  return url === null ? [] : addressBeginnings(url).reverse();
}

export interface QueriedHost {
  /** Normalized by `normalizeDomain`, without `www.`. */
  domain: string;
  /** The names in the host, by which its pages are found. */
  words: string;
}

/** The whole query as a host, with optional scheme, `www.` and final slash; null if it is not registered. */
export function hostOfQuery(query: string): QueriedHost | null {
  const written = /^\s*(?:https?:\/\/)?([^\s/]+)\/?\s*$/i.exec(query)?.[1];
  const normal = written === undefined ? null : normalizeDomain(written);
  if (typeof normal !== 'string') return null;
  const domain = normal.replace(/^www\./, '');
  return isRegisteredName(domain) ? { domain, words: hostWords(domain) } : null;
}

export function addressesIn(query: string): string[] {
  const isHost = (name: string) => name.includes('.') && isRegisteredName(name);
  return query.split(/\s+/).filter((part) => part.includes('://') || part.split(/[^\p{L}\p{N}.-]+/u).some(isHost));
}

/** A title as given, straight, curly, and with letter apostrophes (`ʼ`), because stored titles keep their marks. */
export function titleSpellings(title: string): string[] {
  const straight = withStraightMarks(title);
  const curly = straight
    .replace(openingApostrophe, '‘')
    .replaceAll("'", '’')
    .replace(openingQuote, '“')
    .replaceAll('"', '”');
  return [...new Set([title, straight, curly, straight.replaceAll("'", 'ʼ')])];
}

/** The quoted phrases, distinct after folding, without empty ones. */
export function quotedPhrases(query: string): string[] {
  const phrases = new Map(Array.from(query.matchAll(quoted), ([, phrase]) => [foldPhrase(phrase), phrase]));
  phrases.delete('');
  return [...phrases.values()];
}

/** Folds a phrase like a title: straight marks, no soft hyphens, and one letter for `İ I ı i`, which Turkish pairs. */
export function foldPhrase(phrase: string): string {
  return withStraightMarks(withoutJoiners(foldTitle(phrase)))
    .replaceAll('i\u0307', 'i')
    .replaceAll('ı', 'i');
}

/** Marks that do not belong to a word, unlike those of `C#`, `.NET`, `1.2` and `AT&T`. */
const marks = /\.(?=[\s\p{P}]|$)|(?![#&%@*/\\._])[\p{P}|`´]|\s/gu;

/** Equal for titles that differ only in case, white space and punctuation. '' for a title of marks only. */
export function foldPunctuation(title: string): string {
  return withoutJoiners(foldTitle(title)).replace(marks, '');
}

function withStraightMarks(text: string): string {
  return text.replace(curlyApostrophes, "'").replace(curlyQuotes, '"');
}
