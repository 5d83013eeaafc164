/** Names that are the same but for their spelling: the edit distance, with what cannot be a matter of spelling left out. */
import { editDistance } from '../text/edit-distance.ts';
import { type Alike, isNumeral, NameBlocks, type PlainName, sortByRarity } from './name-blocks.ts';
import type { WordKinds } from './word-kinds.ts';

const gramLength = 3;
/** Groups of letters that one edit changes at most: two neighbours that are swapped are in one more than a single letter. */
const gramsPerEdit = gramLength + 1;
/** More than arithmetic loses where a share of a length is a whole number. */
const rounding = 1e-9;
/** A word that short is another word with one letter changed. */
const shortestChanged = 5;
/** Share of a word's letters that may be spelt otherwise, however long the name around it is: `University of Dundee`, `Denver`. */
const mostOfWord = 1 / 3;
/** Two words that are both in use are spellings of one only if they are that near. */
const mostInUse = 1;

export class LetterMatcher {
  readonly #threshold: number;
  readonly #kinds: WordKinds;
  readonly #added: PlainName[] = [];
  /** Names that each group of letters is in, of those that were added. */
  readonly #counts = new Map<string, number>();
  readonly #initials = new Set<string>();
  #blocks: NameBlocks<PlainName> | undefined;

  /** `threshold`: edits as a share of the longer name's letters. */
  constructor(threshold: number, kinds: WordKinds) {
    this.#threshold = threshold;
    this.#kinds = kinds;
  }

  /** Add a name that others are compared with; all before the first comparison. */
  add(name: PlainName): void {
    this.#added.push(name);
    this.#initials.add(initialsOf(name));
    for (const gram of gramsOf(name.text)) this.#counts.set(gram, (this.#counts.get(gram) ?? 0) + 1);
  }

  /** Those of the added names that may be this one; of two added ones only the earlier is told of the later. */
  *alike(name: PlainName): Generator<Alike> {
    this.#blocks ??= this.#makeBlocks();
    const joined = name.words.join('');
    const keys = this.#initials.has(initialsOf(name)) ? this.#keysOf(name) : this.#blocks.has(joined) ? [joined] : [];
    for (const other of this.#blocks.sharing(keys)) {
      if (other.no <= name.no) continue;
      const similarity = this.#similarity(name, other);
      if (similarity !== null) yield { no: other.no, similarity };
    }
  }

  #makeBlocks(): NameBlocks<PlainName> {
    const blocks = new NameBlocks<PlainName>();
    for (const name of this.#added) blocks.add(name, this.#keysOf(name));
    return blocks;
  }

  /** Words that differ begin alike (`maySpellOne`), so only names with the same initials are compared. */
  #keysOf(name: PlainName): string[] {
    const initials = initialsOf(name);
    // The share is of the longer name: this one may be the shorter, and the other as much longer as the edits allow.
    const longest = name.text.length / (1 - this.#threshold);
    const edits = Math.floor(this.#threshold * longest + rounding);
    const rarest = sortByRarity(gramsOf(name.text), this.#counts).slice(0, gramsPerEdit * edits + 1);
    return [name.words.join(''), ...rarest.map((gram) => `${initials} ${gram}`)];
  }

  #similarity(a: PlainName, b: PlainName): number | null {
    const longer = Math.max(a.text.length, b.text.length);
    const most = Math.floor(this.#threshold * longer);
    if (Math.abs(a.text.length - b.text.length) > most || !this.#maySpellOne(a, b)) return null;
    const distance = editDistance(a.text, b.text, most);
    return distance > most ? null : 1 - distance / longer;
  }

  /** Whether what differs can be a matter of spelling: no number, no short word, no two words that are both known, few letters of each. */
  #maySpellOne(a: PlainName, b: PlainName): boolean {
    if (a.words.join('') === b.words.join('')) return true;
    if (a.words.length !== b.words.length || (a.words.length === 1 && (a.isCased || b.isCased))) return false;
    return a.words.every((word, at) => {
      const other = b.words[at];
      if (word === other) return true;
      if (isNumeral(word) || isNumeral(other) || word[0] !== other[0]) return false;
      if (Math.min(word.length, other.length) < shortestChanged) return false;
      if (isKnown(word, this.#kinds) && isKnown(other, this.#kinds)) return false;
      const areInUse = isInUse(word, this.#kinds) && isInUse(other, this.#kinds);
      const share = Math.max(mostOfWord, this.#threshold);
      const most = areInUse ? mostInUse : Math.floor(share * Math.max(word.length, other.length) + rounding);
      return editDistance(word, other, most) <= most;
    });
  }
}

function initialsOf({ words }: PlainName): string {
  return words.map(([first]) => first).join('');
}

function isKnown(word: string, kinds: WordKinds): boolean {
  return kinds.isCommon(word) || kinds.phraseKind(word) !== undefined;
}

function isInUse(word: string, kinds: WordKinds): boolean {
  return Object.values(kinds.kindsOf(word)).some((share) => share > 0);
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
