/** Passages with a word, prefix, language, address, word of title or author (all exact), or phrase (phrases.ts). */
import { beginningsOfQuery } from '../../compute/ranking/exact-query.ts';
import type { AnalyzedText, TextAnalyzer } from '../../compute/text/analyze-text.ts';
import { pathWords } from '../../compute/text/facts-text.ts';
import { isIdeograph, isOfDictionary, isOfPairs } from '../../compute/text/scripts.ts';
import { stemIn } from '../../compute/text/stemmers.ts';
import { wordBytes } from '../../compute/text/word-bytes.ts';
import type { WordClause } from '../../domain/query-clause.ts';
import type { CorpusSegment } from './corpus.ts';
import { stemsBeginning } from './corpus-words.ts';
import { languagesOf, languageTerm } from './languages.ts';
import { addressTerm, fieldTerm, joinedTerm, pathWord } from './marked-terms.ts';
import { holdingAll, holdingPhrase } from './phrases.ts';
import { isDeleted } from './segment.ts';

/** Max words of a phrase that are looked up; more hardly narrow the result. */
const maxTerms = 32;
const oneWord = /^[\p{L}\p{M}\p{N}]+$/u;

/**
 * Terms that every text with the phrase has: per word its stems, of which such a text has one. Words with marks
 * (`node.js`) may be tokenized differently in context, so they are used only if there are no others.
 */
function phraseTerms({ text, starts, ends, words, stems }: AnalyzedText, languages: readonly string[]): string[][] {
  const isBeside = (token: number, other: number) =>
    stems[other] !== undefined &&
    stems[other] !== '' &&
    (ends[token] === starts[other] || ends[other] === starts[token]);
  const tokens = stems.map((_, token) => token).filter((token) => stems[token] !== '');
  const sure = tokens.filter((token) => {
    const surface = text.slice(starts[token], ends[token]);
    // A dictionary splits a text alone differently than in context.
    if (isOfDictionary(surface)) return token !== tokens[0] && token !== tokens[tokens.length - 1];
    // The first character of a pair has its term, whatever its neighbours.
    if (stems[token].length > surface.length) return true;
    // A lone character may be the second of a pair in the text; then only an ideograph has a term of its own.
    if (isOfPairs(surface)) return isIdeograph(surface);
    return oneWord.test(surface) && !isBeside(token, token - 1) && !isBeside(token, token + 1);
  });
  const found = new Map<string, string[]>();
  for (const token of sure.length > 0 ? sure : tokens) {
    const inLanguages = languages.flatMap((language) => stemIn(language, words[token]) ?? []);
    const terms = [...new Set([stems[token], ...inLanguages])];
    found.set(terms.join(' '), terms);
  }
  return [...found.values()].slice(0, maxTerms);
}

/** Ascending labels of live passages that match. For title, author and address: the page's first passage. */
export function labelsMatching(
  corpus: readonly CorpusSegment[],
  analyzer: TextAnalyzer,
  clause: WordClause,
): Uint32Array {
  const words = termsOf(corpus, analyzer, clause);
  if (words.length === 0) return new Uint32Array(0);
  const phrase = clause.in === 'phrase' ? wordBytes(clause.text) : null;
  const found: number[] = [];
  for (const { segment, deletions } of corpus) {
    for (const ordinal of phrase === null ? holdingAll(segment, words) : holdingPhrase(segment, words, phrase)) {
      if (!isDeleted(deletions, ordinal)) found.push(segment.labels[ordinal]);
    }
  }
  return Uint32Array.from(found).sort();
}

/** Per word, its terms. Each matching passage has one of them. */
function termsOf(
  corpus: readonly CorpusSegment[],
  analyzer: TextAnalyzer,
  { in: where, text }: WordClause,
): string[][] {
  if (where === 'language') return [[languageTerm(text)]];
  if (where === 'url') {
    const [beginning] = beginningsOfQuery(text);
    if (beginning !== undefined) return [[addressTerm(beginning)]];
    return pathWords(`https://x/${text}`).map((word) => [addressTerm(pathWord(word))]);
  }
  const words = phraseTerms(analyzer.analyze(text), languagesOf(corpus));
  if (where === 'prefix') {
    const beginning = stemsBeginning(corpus, text);
    return words.length === 0 ? [beginning] : words.map((stems) => [...stems, ...beginning]);
  }
  return where === 'title' || where === 'author'
    ? words.map((stems) => stems.map((stem) => fieldTerm(where, stem)))
    : words.map((stems) => [...stems, ...stems.map(joinedTerm)]);
}
