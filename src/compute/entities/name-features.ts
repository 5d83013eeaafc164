/**
 * What the tagger of names sees of a token and of those around it, as numbers of features. No words but function words and punctuation, and
 * of others their last three letters: what a name looks like, and not which names there were in the texts that it was trained on.
 */
import {
  alsoAcronyms,
  eventHeads,
  functionWords,
  honorifics,
  orgHeads,
  personNouns,
  placeHeads,
  workHeads,
  workNouns,
} from './name-cues.ts';
import type { NameContext } from './name-words.ts';
import type { TextToken } from './read-tokens.ts';
import type { WordKinds } from './word-kinds.ts';

/** Features are hashed to so many numbers: some have the same. A power of two. */
export const featureCount = 1 << 14;

const wordLists: readonly ReadonlySet<string>[] = [
  orgHeads,
  placeHeads,
  eventHeads,
  workHeads,
  personNouns,
  workNouns,
  honorifics,
];

/** What is seen of one token, each as a number. */
interface Sight {
  isWord: boolean;
  isCapitalized: boolean;
  /** Of a function word or a sign the text, of others that it is one. */
  word: number;
  case: number;
  shape: number;
  partOfSpeech: number;
  kind: number;
  lists: number;
  evidence: number;
  ending: number;
}

const beyond: Sight = {
  isWord: false,
  isCapitalized: false,
  word: 0,
  case: 0,
  shape: 0,
  partOfSpeech: 0,
  kind: 0,
  lists: 0,
  evidence: 0,
  ending: 0,
};
const otherWord = 1;
const leastWithEnding = 5;

/** Numbers below `featureCount`, by token of a line. */
export type LineFeatures = readonly (readonly number[])[];

/**
 * Reads the features of the lines of a text, each from its first token to the one behind its last.
 * Shapes: `tags` by token of the text; result one list per token of the line.
 */
export function createFeatureReader(context: NameContext, tags: Int8Array): (from: number, to: number) => LineFeatures {
  /** Most words of a text come again. */
  const known = new Map<string, Sight>();
  const sightAt = (i: number): Sight => {
    const token = context.tokens[i];
    const key = `${token.pos} ${token.isFirst} ${token.text}`;
    let sight = known.get(key);
    if (sight === undefined) {
      sight = sightOf(token, context);
      known.set(key, sight);
    }
    return sight;
  };
  return (from, to) => {
    const sights: Sight[] = [];
    for (let i = from; i < to; i++) sights.push(sightAt(i));
    const tag = (at: number) => (at < 0 || at >= sights.length ? 0 : tags[from + at]);
    return sights.map((_, i) => featuresAt(sights, tag, i));
  };
}

function featuresAt(sights: readonly Sight[], tag: (at: number) => number, i: number): number[] {
  const at = (place: number) => sights[place] ?? beyond;
  const [before2, before, here, after, after2] = [at(i - 2), at(i - 1), at(i), at(i + 1), at(i + 2)];
  const own = tag(i);
  const three = (tag(i - 1) * 3 + own) * 3 + tag(i + 1);
  const five = (tag(i - 2) * 27 + three) * 3 + tag(i + 2);
  const cases = (before.case * 8 + here.case) * 8 + after.case;
  const found = [
    feature(0),
    feature(1, own),
    feature(2, three),
    feature(3, five),
    feature(4, here.word),
    feature(5, before.word),
    feature(6, after.word),
    feature(7, before.word, here.word),
    feature(8, here.word, after.word),
    feature(9, cases, before2.case, after2.case),
    feature(10, cases),
    feature(11, cases, three),
    feature(12, here.shape),
    feature(13, here.partOfSpeech),
    feature(14, before.partOfSpeech, here.partOfSpeech),
    feature(15, here.partOfSpeech, after.partOfSpeech),
    feature(16, before.partOfSpeech, here.partOfSpeech, after.partOfSpeech),
    feature(17, here.word, five),
    feature(18, here.word, cases),
  ];
  if (here.isWord) {
    found.push(
      feature(19, here.kind),
      feature(20, here.kind, three),
      feature(21, here.kind, here.case, after.case),
      feature(22, here.lists, three),
      feature(23, here.evidence, here.case),
    );
    if (here.ending !== 0) found.push(feature(24, here.ending, here.case, tag(i - 1)));
  }
  if (before.isWord) found.push(feature(25, before.kind, own), feature(26, before.lists, own));
  if (after.isWord) found.push(feature(27, after.kind, own), feature(28, after.lists, own));
  if (!here.isCapitalized) {
    if (before.isWord && after.isWord) found.push(feature(29, before.kind, here.word, after.kind));
    if (after2.isWord) found.push(feature(30, here.word, after.word, before.case * 8 + after2.case));
  }
  return found;
}

function sightOf(token: TextToken, { evidence, kinds }: NameContext): Sight {
  const { text, lower, pos, isWord, isCapitalized, isFirst } = token;
  const [capitalized, lowercased] = [evidence.capitalized(lower), evidence.lowercased(lower)];
  const isFunctionWord = functionWords.has(lower) && !(alsoAcronyms.has(lower) && text === text.toUpperCase());
  return {
    isWord,
    isCapitalized,
    word: isWord && !isFunctionWord ? otherWord : numberOf(lower),
    case: !isWord ? 1 : isCapitalized ? (isFirst ? 2 : 3) : /\d/.test(text) ? 4 : 5,
    shape: numberOf(shapeOf(text)),
    partOfSpeech: numberOf(pos),
    kind: kindOf(lower, kinds),
    lists: wordLists.reduce((bits, list, at) => bits | (Number(list.has(lower)) << at), 1),
    evidence: (capitalized > lowercased ? 2 : capitalized > 0 ? 1 : 0) * 2 + Number(lowercased > 0),
    ending: text.length >= leastWithEnding ? numberOf(lower.slice(-3)) : 0,
  };
}

/** `Xx9-x` of `Mi5-type`. */
function shapeOf(text: string): string {
  const shape = text.replace(/\p{Lu}+/gu, 'X').replace(/\p{Ll}+/gu, 'x');
  return shape.replace(/\d+/g, '9').slice(0, 8);
}

/** The likeliest kind of a word, and how sure that is. */
function kindOf(word: string, kinds: WordKinds): number {
  let [best, share, place] = [0, 0, 0];
  for (const likely of Object.values(kinds.kindsOf(word))) {
    place++;
    if (likely > share) [best, share] = [place, likely];
  }
  return best * 4 + (share > 0.9 ? 3 : share > 0.6 ? 2 : 1);
}

/** FNV-1a. */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function mixed(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x85ebca6b);
  return product ^ (product >>> 13);
}

function feature(template: number, a = 0, b = 0, c = 0): number {
  let hash = mixed(mixed(mixed(Math.imul(template + 1, 0x9e3779b1), a), b), c);
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) & (featureCount - 1);
}
