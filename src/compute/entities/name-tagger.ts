/**
 * Corrects where names begin and end, by weights that were learned from texts in which people had marked them: a structured perceptron
 * over the tags of a line's tokens (Collins 2002, Discriminative training methods for hidden Markov models). It sees what
 * `findNames` found, so it only needs to learn where that is wrong: `Pride and Prejudice` is one name, `Booker Prize` and `Pulitzer Prize` are two.
 *
 * The file, little-endian: magic, 8 bytes; transitions i16 × 9 (tag before × 3 + tag); weights i16 × featureCount × 3; SHA-256 of all before.
 * scripts/build-name-tagger.ts makes it.
 */
import { createHash } from 'node:crypto';
import { namesIn } from './find-names.ts';
import { eventHeads } from './name-cues.ts';
import { createFeatureReader, featureCount, type LineFeatures } from './name-features.ts';
import { canBeInName, isNoName, maxTokens, type NameContext, type NameSpan } from './name-words.ts';
import type { TextToken } from './read-tokens.ts';

/** A token is in no name, begins one, or goes on with one. */
export const tagCount = 3;
const [outside, begins, goesOn] = [0, 1, 2];

const withNumber = /^\p{L}*\d[\p{L}\d]*$/u;
const magic = new TextEncoder().encode('RBNAMES1');
const transitionsAt = magic.length;
const weightsAt = transitionsAt + 2 * tagCount * tagCount;
const checksumAt = weightsAt + 2 * featureCount * tagCount;
const checksumBytes = 32;
const mostLevel = 0x7fff;

export interface NameTagger {
  /** Shape: tagCount × tagCount, the tag before first. */
  transitions: ArrayLike<number>;
  /** Shape: featureCount × tagCount. */
  weights: ArrayLike<number>;
}

/** The file is no tagger of this format, or is damaged. */
class NameTaggerFormatError extends Error {
  readonly code = 'name_tagger_format';
}

/** Errors: NameTaggerFormatError. */
export function openNameTagger(file: Uint8Array): NameTagger {
  if (file.length !== checksumAt + checksumBytes || magic.some((byte, at) => file[at] !== byte)) {
    throw new NameTaggerFormatError('not a name tagger of this format');
  }
  const checksum = createHash('sha256').update(file.subarray(0, checksumAt)).digest();
  if (checksum.some((byte, at) => file[checksumAt + at] !== byte)) throw new NameTaggerFormatError('wrong checksum');
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const numbers = (from: number, count: number) =>
    Int16Array.from({ length: count }, (_, at) => view.getInt16(from + 2 * at, true));
  return {
    transitions: numbers(transitionsAt, tagCount * tagCount),
    weights: numbers(weightsAt, featureCount * tagCount),
  };
}

/** Only the relations of weights matter: the largest just fits. */
export function encodeNameTagger({ transitions, weights }: NameTagger): Uint8Array {
  let largest = 0;
  for (const list of [transitions, weights]) {
    for (let at = 0; at < list.length; at++) largest = Math.max(largest, Math.abs(list[at]));
  }
  const file = new Uint8Array(checksumAt + checksumBytes);
  const view = new DataView(file.buffer);
  file.set(magic);
  const write = (numbers: ArrayLike<number>, from: number) => {
    for (let at = 0; at < numbers.length; at++) {
      view.setInt16(from + 2 * at, Math.round((numbers[at] / largest) * mostLevel), true);
    }
  };
  write(transitions, transitionsAt);
  write(weights, weightsAt);
  file.set(createHash('sha256').update(file.subarray(0, checksumAt)).digest(), checksumAt);
  return file;
}

/**
 * The names of a text, corrected. Left as they are: headlines, where capitals say nothing, and texts that are not in English.
 * Shapes: `found` in text order, not overlapping; so is the result.
 */
export function correctNames(tagger: NameTagger, context: NameContext, found: readonly NameSpan[]): NameSpan[] {
  const { tokens, evidence } = context;
  if (!evidence.isEnglish) return [...found];
  const tags = tagsOf(found, tokens.length);
  const corrected: NameSpan[] = [];
  const featuresOf = createFeatureReader(context, tags);
  let next = 0;
  /** The found names that begin before a token, of those that were not given yet. */
  const foundBefore = (end: number): readonly NameSpan[] => {
    const begin = next;
    while (next < found.length && found[next].first < end) next++;
    return found.slice(begin, next);
  };
  for (const [from, to] of linesOf(context)) {
    const isHeadline = evidence.isHeadline(tokens[from].line);
    const spans = isHeadline ? [] : spansOf(bestTags(tagger, featuresOf(from, to)), from);
    for (const { first, last } of spans) {
      foundBefore(first);
      const parts = foundBefore(last + 1);
      // What is longer is a headline or a list.
      if (last - first >= maxTokens) corrected.push(...parts.filter((part) => part.last <= last));
      else corrected.push(...namesOf(context, first, last, parts));
    }
    const others = foundBefore(to);
    if (isHeadline) corrected.push(...others);
  }
  return corrected;
}

function namesOf(context: NameContext, first: number, last: number, found: readonly NameSpan[]): NameSpan[] {
  const name = trimmed(context, first, last);
  if (name === null) return [];
  return namesIn(context, name.first, name.last).map((span) => ({
    ...span,
    titled: span.titled || found.some((part) => part.titled && part.first <= span.last && span.first <= part.last),
  }));
}

/**
 * A name from its first word with a capital or a number to its last, and without a day or month at its ends: `DNA methyltransferase` is a kind
 * of thing, whose name is in it. An event's ends with what it is (`Grammy awards`). Null where no
 * word has a capital for being a name.
 */
export function trimmed(context: NameContext, first: number, last: number): Pick<NameSpan, 'first' | 'last'> | null {
  const { tokens } = context;
  const belongs = (token: TextToken) => (token.isCapitalized && !isNoName(token)) || withNumber.test(token.text);
  while (first <= last && !belongs(tokens[first])) first++;
  while (last >= first && !belongs(tokens[last]) && !eventHeads.has(tokens[last].lower)) last--;
  for (let i = first; i <= last; i++) if (canBeInName(context, i)) return { first, last };
  return null;
}

/** Tags of all tokens by the spans of names. */
export function tagsOf(spans: readonly Pick<NameSpan, 'first' | 'last'>[], count: number): Int8Array {
  const tags = new Int8Array(count);
  for (const { first, last } of spans) tags.fill(goesOn, first, last + 1).fill(begins, first, first + 1);
  return tags;
}

/** First token of each line, and of what follows it. */
export function* linesOf({ tokens }: Pick<NameContext, 'tokens'>): Generator<[from: number, to: number]> {
  for (let from = 0; from < tokens.length; ) {
    let to = from + 1;
    while (to < tokens.length && tokens[to].line === tokens[from].line) to++;
    yield [from, to];
    from = to;
  }
}

/** The tags of a line whose weights add up to most, by Viterbi's algorithm. A name does not go on where none was begun. */
export function bestTags({ transitions, weights }: NameTagger, features: LineFeatures): Int8Array {
  const count = features.length;
  const sums = new Float64Array(count * tagCount);
  const before = new Int8Array(count * tagCount);
  for (const [i, ofToken] of features.entries()) {
    const at = i * tagCount;
    for (const feature of ofToken) {
      for (let tag = 0; tag < tagCount; tag++) sums[at + tag] += weights[feature * tagCount + tag];
    }
    for (let tag = 0; tag < tagCount; tag++) {
      let [best, from] = [i === 0 && tag !== goesOn ? 0 : -Infinity, outside];
      for (let last = 0; i > 0 && last < tagCount; last++) {
        const sum = sums[at - tagCount + last] + transitions[last * tagCount + tag];
        if (sum > best && !(tag === goesOn && last === outside)) [best, from] = [sum, last];
      }
      sums[at + tag] += best;
      before[at + tag] = from;
    }
  }
  const tags = new Int8Array(count);
  for (let i = count - 1, tag = -1; i >= 0; i--) {
    const at = i * tagCount;
    if (tag < 0) tag = sums.subarray(at, at + tagCount).indexOf(Math.max(...sums.subarray(at, at + tagCount)));
    tags[i] = tag;
    tag = before[at + tag];
  }
  return tags;
}

function spansOf(tags: Int8Array, from: number): { first: number; last: number }[] {
  const spans: { first: number; last: number }[] = [];
  for (const [i, tag] of tags.entries()) {
    if (tag === begins) spans.push({ first: from + i, last: from + i });
    const open = spans.at(-1);
    if (tag === goesOn && open !== undefined) open.last = from + i;
  }
  return spans;
}
