/**
 * In which language each passage of a page is. The page's own is told by its beginning. A passage with few of that language's
 * stop words is asked for its own: there are pages in two languages. Running English is known by its stop words alone, which costs nearly nothing.
 */
import { detectLanguage } from './detect-language.ts';
import type { Lexicon } from './lexicon.ts';
import { stopWordsOf } from './stop-words.ts';

/** Tokens that are looked at. */
const readTokens = 128;
/** Share of stop words among a text's words: above, it is English; below, a passage may be of another language than its page. */
const surelyEnglish = 0.28;
const maybeForeign = 0.12;
/** Their stop words are not told apart from other characters. */
const ofCharacters = new Set(['zh', 'ja', 'ko']);
/** Fewer words in Latin letters tell nothing. */
const leastWords = 8;
const latinOnly = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]*$/u;
/** Passages of fewer words are of their page's language. */
const fewWords = 24;

interface AnalyzedPart {
  text: string;
  lexicon: Lexicon;
  starts: Uint32Array;
  terms: Uint32Array;
}

/** The language of a text as ISO 639-1 code; `declared` where it is short or does not tell, '' for neither. */
export function languageOfText({ text, terms, lexicon }: AnalyzedPart, declared: string): string {
  const { share, words } = stopShare(lexicon, terms, 0, terms.length, 'en');
  if (words >= fewWords && share >= surelyEnglish) return 'en';
  // Of a title's few words in Latin letters nothing is sure: `Halibut` might be Turkish.
  if (words < leastWords && latinOnly.test(text)) return declared;
  if (words < fewWords && declared !== '') return declared;
  return detectLanguage(text) || declared;
}

/** The language of the passage of tokens `from` to `to` of a text in `language`. */
export function languageOfPassage(
  { text, terms, starts, lexicon }: AnalyzedPart,
  from: number,
  to: number,
  language: string,
): string {
  if (language === '' || ofCharacters.has(language) || stopWordsOf(language).size === 0) return language;
  const { share, words } = stopShare(lexicon, terms, from, to, language);
  if (words < fewWords || share >= maybeForeign) return language;
  return detectLanguage(text.slice(starts[from], starts[to - 1])) || language;
}

function stopShare(lexicon: Lexicon, terms: Uint32Array, from: number, to: number, language: string) {
  let words = 0;
  let stops = 0;
  for (let at = from; at < to && words < readTokens; at++) {
    if (terms[at] === 0) continue;
    words++;
    if (lexicon.isStop(terms[at], language)) stops++;
  }
  return { words, share: words === 0 ? 0 : stops / words };
}
