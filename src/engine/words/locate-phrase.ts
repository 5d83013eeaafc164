/**
 * Where in a page a phrase may stand: segments have no positions, so this gives the chunks whose own texts are worth reading for it.
 * Pure; called by the searchers.
 */

import { firstAtLeast } from '../../compute/structures/sorted-search.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import type { AnalyzedText } from '../../compute/text/analyze-text.ts';
import { stemIn } from '../../compute/text/stemmers.ts';
import { isOfDictionary } from '../../compute/text/unspaced-scripts.ts';
import type { LabelRange } from '../../domain/page.ts';
import type { CorpusSegment } from './corpus.ts';
import { type Segment, seekPosting } from './segment.ts';

/** Terms of a phrase that are looked up: a bit for each in a chunk's mask. More of them would tell little more. */
const maxTerms = 32;
const oneWord = /^[\p{L}\p{M}\p{N}]+$/u;

/**
 * The terms that a text has wherever it has the phrase: of each word its stems, one of which a text in one of the languages has. Those of words with a mark or a clitic in them (`node.js`, `it's`) may be others
 * in the text around them: they count only where the phrase has nothing else.
 */
export function phraseTerms(
  { text, starts, ends, words, stems }: AnalyzedText,
  languages: readonly string[],
): string[][] {
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

/**
 * The chunks of a page that hold the rarest of some terms in their text: an occurrence of all of them together is in one of these or goes
 * over its border. None where a term is in no chunk.
 * Shapes: `labels` are those of the page's chunks; the result has ordinals in the page, those that hold most of the terms first, then in the order of the text.
 */
export function chunksWithTerms(
  corpus: readonly CorpusSegment[],
  { first, count }: LabelRange,
  terms: readonly (readonly string[])[],
): number[] {
  const held = new Uint32Array(count);
  const numbers = new Uint32Array(terms.length);
  for (const { segment } of corpus) {
    const from = firstAtLeast(segment.labels, first);
    const to = firstAtLeast(segment.labels, first + count);
    if (from === to) continue;
    terms.forEach((stems, bit) => {
      for (const stem of stems) {
        const id = lookupTerm(segment.terms, stem);
        if (id < 0) continue;
        for (const chunk of chunksHolding(segment, id, from, to)) {
          held[segment.labels[chunk] - first] |= 1 << bit;
          numbers[bit]++;
        }
      }
    });
  }
  const fewest = Math.min(...numbers);
  if (terms.length === 0 || fewest === 0) return [];
  const rarest = 1 << numbers.indexOf(fewest);
  const ordinals = [...held.keys()].filter((ordinal) => (held[ordinal] & rarest) !== 0);
  return ordinals.sort((a, b) => bitCount(held[b]) - bitCount(held[a]) || a - b);
}

/** Chunks of a page, ordinals `from` to `to` of a segment, that hold a term in their text. */
function chunksHolding(segment: Segment, term: number, from: number, to: number): number[] {
  const { postings, starts } = segment;
  const chunks: number[] = [];
  for (let at = seekPosting(postings, starts[term], starts[term + 1], from); at < starts[term + 1]; at++) {
    const chunk = postings[at] >>> 16;
    if (chunk >= to) break;
    chunks.push(chunk);
  }
  // A word of the title is a term of every chunk: then their texts have to be asked.
  return chunks.length === to - from ? chunks.filter((chunk) => mayStandInText(segment, chunk, term)) : chunks;
}

/** False where the term is known to be in the chunk's headings alone. */
function mayStandInText({ forward }: Segment, chunk: number, term: number): boolean {
  if (forward === null) return true;
  let isKnown = false;
  for (let at = forward.starts[chunk]; at < forward.starts[chunk + 1]; at++) {
    if (forward.wordStems[forward.words[at]] !== term) continue;
    if (forward.bodyCounts[at] > 0) return true;
    isKnown = true;
  }
  return !isKnown;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
