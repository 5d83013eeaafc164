/**
 * Which entities are the same under two names, by their names alone: those that are equal once articles and punctuation are left out,
 * that differ by no more than a share of their letters (edit distance), or whose words are the same but for common ones (cosine
 * of words weighted by their rarity). Candidates come from prefix filters, which find every pair above the thresholds without
 * comparing all: near-linear in the number of names. Only names of one type are compared; dates and amounts never.
 * Source: Xiao, Wang & Lin, Ed-Join, 2008; Bayardo, Ma & Srikant, Scaling Up All Pairs Similarity Search, 2007.
 */
import { editDistance } from './edit-distance.ts';
import type { WordKinds } from './word-kinds.ts';

export interface NamedEntity {
  no: number;
  type: string;
  /** Folded name. */
  key: string;
}

export interface MergeThresholds {
  /** Cosine from which two names are one, 0 to 1. */
  cosine: number;
  /** Edits, as a share of the longer name's letters, up to which they are, 0 to 1. */
  editDistance: number;
}

export interface MergeCandidate {
  a: number;
  b: number;
  /** 1: the same name. */
  similarity: number;
}

interface Name {
  no: number;
  text: string;
  words: string[];
}

const neverMerged: ReadonlySet<string> = new Set(['date', 'amount']);
const gramLength = 3;
/** What more names than this share does not bring them together. */
const maxBlock = 100;
/** A word that short is another word with one letter changed. */
const shortestChanged = 5;

/** Best first. */
export function findMerges(
  entities: readonly NamedEntity[],
  thresholds: MergeThresholds,
  kinds: WordKinds,
): MergeCandidate[] {
  const byType = new Map<string, Name[]>();
  for (const { no, type, key } of entities) {
    if (neverMerged.has(type)) continue;
    const words = plainWords(key);
    if (words.length === 0) continue;
    const names = byType.get(type) ?? [];
    names.push({ no, text: words.join(' '), words });
    byType.set(type, names);
  }
  const found = [...byType].flatMap(([type, names]) => [
    ...similarByLetters(names, thresholds.editDistance, kinds),
    ...similarByWords(names, thresholds.cosine, type),
  ]);
  const best = new Map<string, MergeCandidate>();
  for (const each of found) {
    const pair = `${each.a} ${each.b}`;
    if ((best.get(pair)?.similarity ?? -1) < each.similarity) best.set(pair, each);
  }
  return [...best.values()].sort((x, y) => y.similarity - x.similarity || x.a - y.a || x.b - y.b);
}

function plainWords(key: string): string[] {
  const words = key
    .replace(/&/g, ' and ')
    .replace(/[.'’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return words.length > 1 && words[0] === 'the' ? words.slice(1) : words;
}

function similarByLetters(names: readonly Name[], threshold: number, kinds: WordKinds): MergeCandidate[] {
  const grams = names.map(({ text }) => gramsOf(text));
  const counts = countAll(grams);
  // Words that differ begin alike (maySpellOne), so only names with the same initials are compared.
  const rarest = names.map(({ text, words }, at) => {
    const initials = words.map(([first]) => first).join('');
    const edits = Math.floor(threshold * text.length);
    const some = sortByRarity(grams[at], counts).slice(0, gramLength * edits + 1);
    return [words.join(''), ...some.map((gram) => `${initials} ${gram}`)];
  });
  return matchesIn(rarest, (x, y) => {
    const [a, b] = [names[x], names[y]];
    const longer = Math.max(a.text.length, b.text.length);
    const most = Math.floor(threshold * longer);
    if (Math.abs(a.text.length - b.text.length) > most || !maySpellOne(a, b, kinds)) return null;
    const distance = editDistance(a.text, b.text, most);
    return distance > most ? null : { a: a.no, b: b.no, similarity: 1 - distance / longer };
  });
}

/** Whether what differs can be a matter of spelling: no number, no short word, no two words that are both known. */
function maySpellOne(a: Name, b: Name, kinds: WordKinds): boolean {
  if (a.words.join('') === b.words.join('')) return true;
  if (a.words.length !== b.words.length) return false;
  return a.words.every((word, at) => {
    const other = b.words[at];
    if (word === other) return true;
    if (isNumeral(word) || isNumeral(other) || word[0] !== other[0]) return false;
    if (Math.min(word.length, other.length) < shortestChanged) return false;
    return !(isKnown(word, kinds) && isKnown(other, kinds));
  });
}

function isKnown(word: string, kinds: WordKinds): boolean {
  return kinds.isCommon(word) || kinds.phraseKind(word) !== undefined;
}

function isNumeral(word: string): boolean {
  return /\d/.test(word) || /^[ivx]+$/.test(word);
}

function similarByWords(names: readonly Name[], threshold: number, type: string): MergeCandidate[] {
  const counts = countAll(names.map(({ words }) => words));
  const weighted = names.map(({ words }) => {
    const weights = new Map<string, number>();
    for (const word of words) weights.set(word, Math.log(1 + names.length / (counts.get(word) ?? 1)));
    const norm = Math.sqrt([...weights.values()].reduce((sum, weight) => sum + weight * weight, 0));
    return new Map([...weights].map(([word, weight]) => [word, weight / norm]));
  });
  // A pair at the threshold shares one of these words: what is left of either is too short.
  const prefixes = weighted.map((weights) => {
    const sorted = sortByRarity([...weights.keys()], counts);
    let rest = 1;
    let taken = 0;
    while (taken < sorted.length && Math.sqrt(Math.max(rest, 0)) >= threshold) {
      rest -= (weights.get(sorted[taken]) ?? 0) ** 2;
      taken++;
    }
    return sorted.slice(0, Math.max(1, taken));
  });
  return matchesIn(prefixes, (x, y) => {
    const [a, b] = [names[x], names[y]];
    let cosine = 0;
    for (const [word, weight] of weighted[x]) cosine += weight * (weighted[y].get(word) ?? 0);
    if (cosine < threshold || !sameNumerals(a, b) || (type === 'person' && !sameEnds(a, b))) return null;
    return { a: a.no, b: b.no, similarity: Math.min(1, cosine) };
  });
}

function sameNumerals(a: Name, b: Name): boolean {
  const numerals = ({ words }: Name) => words.filter(isNumeral).sort().join(' ');
  return numerals(a) === numerals(b);
}

/** A person's first and last name. */
function sameEnds(a: Name, b: Name): boolean {
  return a.words[0] === b.words[0] && a.words[a.words.length - 1] === b.words[b.words.length - 1];
}

/** Padded, so that beginning and end count; each with its number of occurrence. */
function gramsOf(text: string): string[] {
  const padded = `\u0001\u0001${text}\u0002\u0002`;
  const seen = new Map<string, number>();
  return Array.from({ length: padded.length - gramLength + 1 }, (_, at) => {
    const gram = padded.slice(at, at + gramLength);
    const times = seen.get(gram) ?? 0;
    seen.set(gram, times + 1);
    return times === 0 ? gram : `${gram}${times}`;
  });
}

function countAll(lists: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists) for (const item of new Set(list)) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function sortByRarity(items: readonly string[], counts: ReadonlyMap<string, number>): string[] {
  return [...items].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : Number(a > b)));
}

/** What `match` makes of every two lists that share an item, each pair asked once. Items of more lists than a block has are passed over. */
function matchesIn(
  lists: readonly (readonly string[])[],
  match: (x: number, y: number) => MergeCandidate | null,
): MergeCandidate[] {
  const counts = countAll(lists);
  const blocks = new Map<string, number[]>();
  const askedBy = new Int32Array(lists.length).fill(-1);
  const found: MergeCandidate[] = [];
  lists.forEach((list, y) => {
    for (const item of list) {
      if ((counts.get(item) ?? 0) > maxBlock) continue;
      const block = blocks.get(item);
      if (block === undefined) {
        blocks.set(item, [y]);
        continue;
      }
      for (const x of block) {
        if (askedBy[x] === y || x === y) continue;
        askedBy[x] = y;
        const each = match(x, y);
        if (each !== null) found.push(each);
      }
      block.push(y);
    }
  });
  return found;
}
