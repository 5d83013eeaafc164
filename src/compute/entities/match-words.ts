/** Names that are the same but for common words: the cosine of their words, weighted by rarity. */
import { type Alike, isNumeral, NameBlocks, type PlainName, sortByRarity, type WordCounts } from './name-blocks.ts';

interface WeightedName {
  name: PlainName;
  /** Of length 1. */
  weights: ReadonlyMap<string, number>;
}

export class WordMatcher {
  readonly #threshold: number;
  readonly #counted: WordCounts;
  readonly #arePersons: boolean;
  readonly #blocks = new NameBlocks<WeightedName>();

  /** `threshold`: the cosine; `arePersons`: first and last words have to be the same. */
  constructor(threshold: number, counted: WordCounts, arePersons: boolean) {
    this.#threshold = threshold;
    this.#counted = counted;
    this.#arePersons = arePersons;
  }

  /** Add a name that others are compared with; all before the first comparison. */
  add(name: PlainName): void {
    const weighted = { name, weights: this.#weigh(name) };
    this.#blocks.add(weighted, this.#prefixOf(weighted.weights));
  }

  /** Those of the added names that may be this one; of two added ones only the earlier is told of the later. */
  *alike(name: PlainName): Generator<Alike> {
    if (!name.words.some((word) => this.#blocks.has(word))) return;
    const weights = this.#weigh(name);
    for (const { name: other, weights: others } of this.#blocks.sharing(this.#prefixOf(weights))) {
      if (other.no <= name.no) continue;
      let cosine = 0;
      for (const [word, weight] of weights) cosine += weight * (others.get(word) ?? 0);
      if (cosine < this.#threshold || !sameNumerals(name, other) || !sameOrder(name, other)) continue;
      if (this.#arePersons && !sameEnds(name, other)) continue;
      yield { no: other.no, similarity: Math.min(1, cosine) };
    }
  }

  #weigh({ words }: PlainName): Map<string, number> {
    const { names, counts } = this.#counted;
    const weights = new Map<string, number>();
    for (const word of words) weights.set(word, Math.log(1 + names / (counts.get(word) ?? 1)));
    const norm = Math.sqrt([...weights.values()].reduce((sum, weight) => sum + weight * weight, 0));
    for (const [word, weight] of weights) weights.set(word, weight / norm);
    return weights;
  }

  /** A pair at the threshold shares one of these words: what is left of either is too short. */
  #prefixOf(weights: ReadonlyMap<string, number>): string[] {
    const sorted = sortByRarity(weights.keys(), this.#counted.counts);
    let rest = 1;
    let taken = 0;
    while (taken < sorted.length && Math.sqrt(Math.max(rest, 0)) >= this.#threshold) {
      rest -= (weights.get(sorted[taken]) ?? 0) ** 2;
      taken++;
    }
    return sorted.slice(0, Math.max(1, taken));
  }
}

function sameNumerals(a: PlainName, b: PlainName): boolean {
  const numerals = ({ words }: PlainName) => words.filter(isNumeral).sort().join(' ');
  return numerals(a) === numerals(b);
}

/** Whether the words of both stand in the same order: `Object to String` is not `String to Object`. */
function sameOrder(a: PlainName, b: PlainName): boolean {
  const shared = (one: PlainName, two: PlainName) => [...new Set(one.words.filter((word) => two.words.includes(word)))];
  return shared(a, b).join(' ') === shared(b, a).join(' ');
}

/** A person's first and last name. */
function sameEnds(a: PlainName, b: PlainName): boolean {
  return a.words[0] === b.words[0] && a.words[a.words.length - 1] === b.words[b.words.length - 1];
}
