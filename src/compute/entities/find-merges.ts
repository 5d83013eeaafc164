/**
 * Which entities are the same under two names, by their names alone: those that are equal once articles and punctuation are left out,
 * that differ by no more than a share of their letters (edit distance), or whose words are the same but for common ones (cosine
 * of words weighted by their rarity). Only names of one type are compared; dates and amounts never.
 *
 * New names are compared with one another and with all older ones; two older ones are not compared again. Candidates come from
 * prefix filters over the new names, by which the others pass once: linear in the number of names, and what is held in memory is
 * bounded by `freshAtOnce`, apart from the number of names that each word is in.
 * Source: Xiao, Wang & Lin, Ed-Join, 2008; Bayardo, Ma & Srikant, Scaling Up All Pairs Similarity Search, 2007.
 */
import { LetterMatcher } from './match-letters.ts';
import { WordMatcher } from './match-words.ts';
import type { PlainName, WordCounts } from './name-blocks.ts';
import type { WordKinds } from './word-kinds.ts';

export interface NamedEntity {
  no: number;
  type: string;
  /** Folded name. */
  key: string;
  /** Written with capitals behind the first letter of a word. */
  isCased: boolean;
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

const innerCapital = /\p{L}\p{Lu}/u;

/** Whether a name is written so. */
export function isCased(name: string): boolean {
  return innerCapital.test(name);
}

/** New names whose keys are in memory at once, about 1 kB each; of more, the others pass by once more for each that many. */
const freshAtOnce = 50_000;
const neverMerged: ReadonlySet<string> = new Set(['date', 'amount']);

/**
 * Pairs of which at least one entity's number is above `after`, best first.
 * Shapes: `entities` ascend by number, and are gone through several times.
 */
export function findMerges(
  entities: Iterable<NamedEntity>,
  thresholds: MergeThresholds,
  kinds: WordKinds,
  after = Number.NEGATIVE_INFINITY,
): MergeCandidate[] {
  const initials = middleInitials(entities);
  const words = countWords(entities, initials);
  const best = new Map<string, MergeCandidate>();
  let from = after;
  for (;;) {
    const matchers = new Map<string, (LetterMatcher | WordMatcher)[]>();
    let fresh = 0;
    let to = from;
    for (const entity of entities) {
      const { no, type } = entity;
      if (no <= from || fresh === freshAtOnce) continue;
      const name = plainName(entity, initials);
      if (name === null) continue;
      fresh++;
      to = no;
      let ofType = matchers.get(type);
      if (ofType === undefined) {
        const counted = words.get(type) ?? { names: 0, counts: new Map<string, number>() };
        const letters = new LetterMatcher(thresholds.editDistance, kinds);
        ofType = [letters, new WordMatcher(thresholds.cosine, counted, type === 'person')];
        matchers.set(type, ofType);
      }
      for (const matcher of ofType) matcher.add(name);
    }
    if (fresh === 0) break;
    for (const entity of entities) {
      const { no, type } = entity;
      if (no > to) break;
      const ofType = matchers.get(type);
      const name = ofType === undefined ? null : plainName(entity, initials);
      if (name === null || ofType === undefined) continue;
      for (const matcher of ofType) {
        for (const { no: other, similarity } of matcher.alike(name)) {
          const [a, b] = other < no ? [other, no] : [no, other];
          const pair = `${a} ${b}`;
          if ((best.get(pair)?.similarity ?? -1) < similarity) best.set(pair, { a, b, similarity });
        }
      }
    }
    from = to;
  }
  return [...best.values()].sort((x, y) => y.similarity - x.similarity || x.a - y.a || x.b - y.b);
}

function countWords(entities: Iterable<NamedEntity>, initials: MiddleInitials): Map<string, WordCounts> {
  const byType = new Map<string, { names: number; counts: Map<string, number> }>();
  for (const entity of entities) {
    const { type } = entity;
    const name = plainName(entity, initials);
    if (name === null) continue;
    let counted = byType.get(type);
    if (counted === undefined) {
      counted = { names: 0, counts: new Map() };
      byType.set(type, counted);
    }
    counted.names++;
    for (const word of new Set(name.words)) counted.counts.set(word, (counted.counts.get(word) ?? 0) + 1);
  }
  return byType;
}

/** By the name of a person without middle initials, those that it goes with; `null` for several: `George W. Bush`, `George H. W. Bush`. */
type MiddleInitials = ReadonlyMap<string, string | null>;

function middleInitials(entities: Iterable<NamedEntity>): MiddleInitials {
  const found = new Map<string, string | null>();
  for (const { type, key } of entities) {
    if (type !== 'person') continue;
    const words = plainWords(key);
    const name = withoutInitials(words).join(' ');
    if (name === words.join(' ')) continue;
    const known = found.get(name);
    const own = words.join(' ');
    found.set(name, known === undefined || known === own ? own : null);
  }
  return found;
}

function withoutInitials(words: readonly string[]): string[] {
  return words.filter((word, at) => at === 0 || at === words.length - 1 || [...word].length > 1);
}

/** Null for what is never merged. A person's middle initials are left out unless the names known have several. */
function plainName({ no, type, key, isCased }: NamedEntity, initials: MiddleInitials): PlainName | null {
  if (neverMerged.has(type)) return null;
  const whole = plainWords(key);
  const short = type === 'person' ? withoutInitials(whole) : whole;
  const words = initials.get(short.join(' ')) === null ? whole : short;
  return words.length === 0 ? null : { no, text: words.join(' '), words, isCased };
}

function plainWords(key: string): string[] {
  const words = key
    .replace(/&/g, ' and ')
    .replace(/[.'’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return words.length > 1 && words[0] === 'the' ? words.slice(1) : words;
}
