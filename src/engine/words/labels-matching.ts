/**
 * Finds passages that contain a phrase, a word, a word of the title or author, or a language. Exact except for phrases, whose words are
 * compared by one byte each: one in some 60,000 pairs of neighbours matches wrongly. Pure; called by the searchers.
 */
import { addBit, type Bitmap, bitsNotIn, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import type { AnalyzedText, TextAnalyzer } from '../../compute/text/analyze-text.ts';
import { stemIn } from '../../compute/text/stemmers.ts';
import { isIdeograph, isOfDictionary, isOfPairs } from '../../compute/text/unspaced-scripts.ts';
import { wordBytes } from '../../compute/text/word-bytes.ts';
import type { QueryClause } from '../../domain/query-clause.ts';
import { fieldTerm } from './build-segment.ts';
import type { CorpusSegment } from './corpus.ts';
import { isDeleted } from './deletions.ts';
import { languagesOf, languageTerm } from './languages.ts';
import type { Segment } from './segment.ts';

/** Words of a phrase that are looked up; more would add little. */
const maxTerms = 32;
const oneWord = /^[\p{L}\p{M}\p{N}]+$/u;

/**
 * Terms of every text with the phrase: per word its stems, one of which such a text has. Words with marks or clitics (`node.js`, `it's`)
 * may be tokenized differently in context: used only if there is nothing else.
 */
function phraseTerms({ text, starts, ends, words, stems }: AnalyzedText, languages: readonly string[]): string[][] {
  const isBeside = (token: number, other: number) =>
    stems[other] !== undefined &&
    stems[other] !== '' &&
    (ends[token] === starts[other] || ends[other] === starts[token]);
  const tokens = stems.map((_, token) => token).filter((token) => stems[token] !== '');
  const sure = tokens.filter((token) => {
    const surface = text.slice(starts[token], ends[token]);
    // A dictionary cuts a lone text differently than within context.
    if (isOfDictionary(surface)) return token !== tokens[0] && token !== tokens[tokens.length - 1];
    // The first character of a pair has its term, whatever its neighbours.
    if (stems[token].length > surface.length) return true;
    // A lone character may be second in a pair in the text, where only an ideograph has its own term.
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

const noBits = createBitmap(0);

/** Labels of live passages with this, ascending. For title and author the page's first passage. */
export function labelsMatching(
  corpus: readonly CorpusSegment[],
  analyzer: TextAnalyzer,
  { in: where, text }: QueryClause,
): Uint32Array {
  const words = where === 'language' ? [[languageTerm(text)]] : termsOf(corpus, analyzer, where, text);
  if (words.length === 0) return new Uint32Array(0);
  const phrase = where === 'phrase' ? wordBytes(text) : null;
  const found: number[] = [];
  for (const { segment, deletions } of corpus) {
    for (const ordinal of phrase === null ? holdingAll(segment, words) : holdingPhrase(segment, words, phrase)) {
      if (!isDeleted(deletions, ordinal)) found.push(segment.labels[ordinal]);
    }
  }
  return Uint32Array.from(found).sort();
}

function termsOf(
  corpus: readonly CorpusSegment[],
  analyzer: TextAnalyzer,
  where: QueryClause['in'],
  text: string,
): string[][] {
  const words = phraseTerms(analyzer.analyze(text), languagesOf(corpus));
  return where === 'title' || where === 'author'
    ? words.map((stems) => stems.map((stem) => fieldTerm(where, stem)))
    : words;
}

/** Documents with every word in one of its stems. */
function holdingAll(segment: Segment, words: readonly (readonly string[])[]): number[] {
  const [rarest, ...others] = words.map((stems) => documentsOf(segment, stems)).sort((a, b) => a.count - b.count);
  return rarest.ordinals().filter((ordinal) => others.every(({ holds }) => holds(ordinal)));
}

/** Documents with the phrase, near those with its rarest word: it may cross into a neighbour. */
function holdingPhrase(segment: Segment, words: readonly (readonly string[])[], phrase: readonly number[]): number[] {
  if (phrase.length === 0) return [];
  const { runs, runStarts } = segment;
  const rarest = words.map((stems) => documentsOf(segment, stems)).reduce((a, b) => (b.count < a.count ? b : a));
  return rarest.ordinals().filter((ordinal) => {
    const last = Math.min(runStarts[ordinal + 1] - 1, runs.length - phrase.length);
    // A word on the border may be in the document before.
    for (let at = Math.max(0, runStarts[ordinal] - phrase.length); at <= last; at++) {
      let same = 0;
      while (same < phrase.length && runs[at + same] === phrase[same]) same++;
      if (same === phrase.length) return true;
    }
    return false;
  });
}

/** Documents with one of some stems. */
function documentsOf({ terms, starts, postings, docs }: Segment, stems: readonly string[]) {
  const lists = stems.map((stem) => lookupTerm(terms, stem)).filter((id) => id >= 0);
  let held: Bitmap | undefined;
  const bits = (): Bitmap => {
    if (held !== undefined) return held;
    held = createBitmap(docs);
    for (const id of lists) for (let at = starts[id]; at < starts[id + 1]; at++) addBit(held, postings[at] >>> 16);
    return held;
  };
  return {
    count: lists.reduce((sum, id) => sum + starts[id + 1] - starts[id], 0),
    holds: (ordinal: number) => hasBit(bits(), ordinal),
    ordinals: () => [...bitsNotIn(bits(), noBits)],
  };
}
