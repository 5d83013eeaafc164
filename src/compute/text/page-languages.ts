/**
 * Decides a page's languages once, at indexing; nothing else detects languages (docs/decisions/language-detection.md).
 * A language needs two sources: eld, nearly always right on its 60 languages; and franc (which rejects 340 others that
 * eld takes for related ones) or a declaration. Otherwise the language is unknown.
 */
import type { AnalyzedText } from './analyze-text.ts';
import { languageCode, languageOfTag } from './language-tags.ts';
import { stopWordsOf } from './stop-words.ts';

export interface PageLanguages {
  /** BCP 47; null if unknown. */
  language: string | null;
  /** ISO 639-1 codes of its passages, the page's own first. Empty: unknown, or not known to the index. */
  passage_languages: string[];
}

type Part = Pick<AnalyzedText, 'text' | 'lexicon' | 'starts' | 'terms'>;

interface TokenRange {
  token_from: number;
  token_to: number;
}

/** Max tokens for stop words and max characters for detectors: more do not improve the result. */
const readTokens = 128;
const readCharacters = 400;
const confirmedCharacters = 300;
/** A language is certain above this share of stop words; another one is possible below the second. */
const surelyEnglish = 0.28;
const maybeForeign = 0.12;
/** Fewer Latin words prove nothing: `Halibut` may be Turkish. Below `fewWords`, a declaration outweighs them. */
const leastWords = 8;
const fewWords = 24;
const latinOnly = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]*$/u;
/** franc's score relative to its best: min to confirm a language, max to refute it (bench/language-detection.ts). */
const confirmed = 0.97;
const declaredToo = 0.9;
/** Languages that eld lacks and that are more frequent than franc's small ones. They must not fit better. */
const relatives = new Set(['af', 'eo', 'gl', 'la', 'mk']);
/** Max passages tried for further languages, and tried in vain at the beginning: a detector takes milliseconds. */
const mostTried = 16;
const mostInVain = 2;
/** Written nearly identically, so a declaration decides. */
const closePairs: ReadonlyMap<string, string> = new Map([
  ['da', 'no'],
  ['hr', 'sr'],
]);
const ofCharacters = new Set(['zh', 'ja', 'ko']);

type Detectors = Pick<typeof import('eld/extrasmall') & typeof import('franc-all'), 'eld' | 'francAll'>;
let detectors: Detectors | undefined;

/** Most English texts do not need the detectors, which take 100 MB and .4 s to load. */
export class DetectorsNeeded extends Error {}

export async function loadDetectors(): Promise<void> {
  const [{ eld }, { francAll }] = await Promise.all([import('eld/extrasmall'), import('franc-all')]);
  detectors = { eld, francAll };
}

function loadedDetectors(): Detectors {
  if (detectors === undefined) throw new DetectorsNeeded('the language detectors are not loaded');
  return detectors;
}

/** `declared`: a BCP 47 tag. `passages` are of `text`. Errors: `DetectorsNeeded` until `loadDetectors` is done. */
export function decideLanguages(
  text: Part,
  title: Part,
  passages: readonly TokenRange[],
  declared: string | null,
): PageLanguages {
  const declaredCode = declared === null ? '' : languageCode(declared);
  const counts = new Map<string, number>();
  const add = (language: string) => {
    if (language === '') return;
    const known = [...counts.keys()].find((each) => isClose(each, language)) ?? language;
    counts.set(known, (counts.get(known) ?? 0) + 1);
  };
  let tried = 0;
  for (const passage of passages) {
    if (stopWords(text, passage, 'en').words < fewWords) continue;
    const spoken = languageOfPassage(text, passage, [...counts.keys()]);
    const most = counts.size === 0 ? mostInVain : mostTried;
    if (spoken !== '' && belongs(text, passage, spoken) >= maybeForeign) add(spoken);
    else if (tried++ < most) add(detect(text, passage, declaredCode) || spoken);
  }
  // A passage was tried before only if the text begins with it.
  if (counts.size === 0 && tried === 0) add(detect(text, wholeOf(text), declaredCode));
  const detected = [...counts].sort(([, a], [, b]) => b - a).map(([language]) => language);
  const first = detected[0] ?? '';
  if (declared === null) {
    const own = first === '' ? detect(title, wholeOf(title), '') : first;
    return { language: own || null, passage_languages: own === '' ? [] : [own, ...detected.slice(1)] };
  }
  const known = languageOfTag(declared);
  const isDeclared = first === '' || known === '' ? !isRefuted(text, declaredCode) : isClose(first, known);
  if (!isDeclared) return { language: first || null, passage_languages: detected };
  const others = detected.filter((language) => !isClose(language, known));
  return { language: declared, passage_languages: known === '' ? [] : [known, ...others] };
}

/** The page language with most stop words in a passage; the first one if the passage is short or has none. */
export function languageOfPassage(text: Part, passage: TokenRange, languages: readonly string[]): string {
  const [first = '', ...others] = languages;
  if (others.length === 0 || stopWords(text, passage, first).words < fewWords) return first;
  let found = first;
  let most = belongs(text, passage, first);
  for (const language of others) {
    const share = belongs(text, passage, language);
    if (share > most) [found, most] = [language, share];
  }
  return found;
}

function detect({ text, starts, ...part }: Part, range: TokenRange, declared: string): string {
  const { words, share } = stopWords(part, range, 'en');
  if (words >= fewWords && share >= surelyEnglish) return 'en';
  const from = starts[range.token_from] ?? 0;
  const sample = text.slice(from, Math.min(from + readCharacters, starts[range.token_to] ?? text.length));
  if (words < (declared === '' ? leastWords : fewWords) && latinOnly.test(sample)) return '';
  const { language } = loadedDetectors().eld.detect(sample);
  const isDeclared = isClose(language, declared);
  // Templates often declare English for texts in any language.
  if (language === '' || (isDeclared && language !== 'en')) return language;
  const fit = fitOf(sample, language);
  if (fit === null) return '';
  if (isDeclared) return fit.score >= declaredToo ? language : '';
  return fit.score >= confirmed && (fit.score === 1 || !relatives.has(fit.best)) ? language : '';
}

/** Whether a longer text is in another language than this code. */
function isRefuted({ text, ...part }: Part, code: string): boolean {
  const { words } = stopWords(part, wholeOf(part), code);
  return words >= fewWords && (fitOf(text, code)?.score ?? 1) < declaredToo;
}

/** Fit by trigrams, 1 for the language that fits `best`; null if none fits. */
function fitOf(text: string, code: string): { score: number; best: string } | null {
  const ranked = loadedDetectors().francAll(text.slice(0, confirmedCharacters));
  const codeOf = ([name]: [string, number]) => languageCode(Intl.getCanonicalLocales(name)[0]);
  const best = codeOf(ranked[0]);
  return best === 'und' ? null : { score: ranked.find((each) => isClose(codeOf(each), code))?.[1] ?? 0, best };
}

function wholeOf({ terms }: Pick<Part, 'terms'>): TokenRange {
  return { token_from: 0, token_to: terms.length };
}

function isClose(a: string, b: string): boolean {
  return a === b || closePairs.get(a) === b || closePairs.get(b) === a;
}

/** Share of stop words of a language; if these say nothing, whether the script matches. */
function belongs({ text, starts, ...part }: Part, range: TokenRange, language: string): number {
  if (!ofCharacters.has(language) && stopWordsOf(language).size > 0) return stopWords(part, range, language).share;
  const sample = text.slice(starts[range.token_from], starts[range.token_to - 1]).slice(0, readCharacters);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  return 2 * (sample.match(lettersOf(language))?.length ?? 0) > letters ? maybeForeign : 0;
}

function stopWords({ lexicon, terms }: Pick<Part, 'lexicon' | 'terms'>, range: TokenRange, language: string) {
  let words = 0;
  let stops = 0;
  for (let at = range.token_from; at < range.token_to && words < readTokens; at++) {
    if (terms[at] === 0) continue;
    words++;
    if (lexicon.isStop(terms[at], language)) stops++;
  }
  return { words, share: words === 0 ? 0 : stops / words };
}

/** Scripts with several names. */
const scriptsOf: Readonly<Record<string, string>> = {
  Jpan: '\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hani}',
  Kore: '\\p{sc=Hang}\\p{sc=Hani}',
  Hans: '\\p{sc=Hani}',
};

const lettersIn = (script: string): RegExp => new RegExp(`[${scriptsOf[script] ?? `\\p{sc=${script}}`}]`, 'gu');
const usualLetters = new Map(['Jpan', 'Kore', 'Hans', 'Thai'].map((script) => [script, lettersIn(script)]));

function lettersOf(language: string): RegExp {
  const { script = 'Zyyy' } = new Intl.Locale(language).maximize();
  return usualLetters.get(script) ?? lettersIn(script);
}
