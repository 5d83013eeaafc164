/** Blocks of names that share a key, such as a rare group of letters: who is in no block with a name need not be compared with it. */

const romanNumeral = /^m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$/;

/** What more names than this share does not bring them together. */
const maxBlock = 100;

/** A name without articles and punctuation. */
export interface PlainName {
  no: number;
  text: string;
  words: string[];
  /** Written with capitals behind the first letter: one letter more or less is another name (`OpenSSL`, `OpenSSF`). */
  isCased: boolean;
}

/** How common words are in names of one type. */
export interface WordCounts {
  /** Names of the type. */
  names: number;
  /** Of these, how many a word is in. */
  counts: ReadonlyMap<string, number>;
}

/** A name that another one may be the same as: its number, and how alike, 1 for the same. */
export interface Alike {
  no: number;
  similarity: number;
}

export class NameBlocks<Member> {
  readonly #blocks = new Map<string, Member[]>();

  add(member: Member, keys: Iterable<string>): void {
    for (const key of keys) {
      const block = this.#blocks.get(key);
      if (block === undefined) this.#blocks.set(key, [member]);
      // One more says that there are too many.
      else if (block.length <= maxBlock && block.at(-1) !== member) block.push(member);
    }
  }

  has(key: string): boolean {
    return this.#blocks.has(key);
  }

  /** Those that are in a block of one of the keys, each once. */
  sharing(keys: Iterable<string>): Set<Member> {
    const found = new Set<Member>();
    for (const key of keys) {
      const block = this.#blocks.get(key);
      if (block !== undefined && block.length <= maxBlock) for (const member of block) found.add(member);
    }
    return found;
  }
}

/** In one order for all names, the rarest first: what `counts` does not have is rarest. */
export function sortByRarity(items: Iterable<string>, counts: ReadonlyMap<string, number>): string[] {
  return [...items].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : Number(a > b)));
}

export function isNumeral(word: string): boolean {
  return /\d/.test(word) || (word !== '' && romanNumeral.test(word));
}
