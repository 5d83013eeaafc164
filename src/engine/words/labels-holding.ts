/**
 * The passages that hold something: a phrase, a word, a word of their page's title or of its author's name, a language. Exact but for
 * phrases, whose words are told apart by a byte each: of two words side by side one pair in some 60,000 is another. Pure; called by the searchers.
 */
import { addBit, type Bitmap, bitsNotIn, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import type { AnalyzedText, TextAnalyzer } from '../../compute/text/analyze-text.ts';
import { stemIn } from '../../compute/text/stemmers.ts';
import { isIdeograph, isOfDictionary, isOfPairs } from '../../compute/text/unspaced-scripts.ts';
import { wordBytes } from '../../compute/text/word-bytes.ts';
import type { QueryClause } from '../../domain/query-clause.ts';
import type { CorpusSegment } from './corpus.ts';
import { isDeleted } from './deletions.ts';
import { fieldTerm } from './field-terms.ts';
import { languagesOf, languageTerm } from './languages.ts';
import type { Segment } from './segment.ts';

/** Words of a phrase that are looked up: more of them would tell little more. */
const maxTerms = 32;
const oneWord = /^[\p{L}\p{M}\p{N}]+$/u;

/**
 * The terms that a text has wherever it has the phrase: of each word its stems, one of which a text in one of the languages has. Those of words with a mark or a clitic in them (`node.js`, `it's`) may be others
 * in the text around them: they count only where the phrase has nothing else.
 */
function phraseTerms({ text, starts, ends, words, stems }: AnalyzedText, languages: readonly string[]): string[][] {
  const isBeside = (token: number, other: number) =>
    stems[other] !== undefined &&
    stems[other] !== '' &&
    (ends[token] === starts[other] || ends[other] === starts[token]);
  const tokens = stems.map((_, token) => token).filter((token) => stems[token] !== '');
  const sure = tokens.filter((token) => {
    const surface = text.slice(starts[token], ends[token]);
    // A dictionary cuts a text where it stands alone in another way than within a longer one.
    if (isOfDictionary(surface)) return token !== tokens[0] && token !== tokens[tokens.length - 1];
    // A pair of characters is the term of the first of them, whatever stands beside both.
    if (stems[token].length > surface.length) return true;
    // One that stands alone in the phrase may be the second of a pair in the text, and has a term of its own there only as an ideograph.
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

/** Labels of the live passages that hold this, ascending. Of a title and an author it is the page's first passage. */
export function labelsHolding(
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

/** Ordinals of the documents that hold every word in one of its stems. */
function holdingAll(segment: Segment, words: readonly (readonly string[])[]): number[] {
  const [rarest, ...others] = words.map((stems) => documentsOf(segment, stems)).sort((a, b) => a.count - b.count);
  return rarest.ordinals().filter((ordinal) => others.every(({ holds }) => holds(ordinal)));
}

/** Those whose words have the phrase where one of them holds its rarest word: it may begin or end in the document beside. */
function holdingPhrase(segment: Segment, words: readonly (readonly string[])[], phrase: readonly number[]): number[] {
  if (phrase.length === 0) return [];
  const { runs, runStarts } = segment;
  const rarest = words.map((stems) => documentsOf(segment, stems)).reduce((a, b) => (b.count < a.count ? b : a));
  return rarest.ordinals().filter((ordinal) => {
    const last = Math.min(runStarts[ordinal + 1] - 1, runs.length - phrase.length);
    // A word on the border may be that of the document before.
    for (let at = Math.max(0, runStarts[ordinal] - phrase.length); at <= last; at++) {
      let same = 0;
      while (same < phrase.length && runs[at + same] === phrase[same]) same++;
      if (same === phrase.length) return true;
    }
    return false;
  });
}

/** The documents of a segment that hold one of some stems. */
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
