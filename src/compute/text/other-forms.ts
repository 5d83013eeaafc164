/**
 * Other written forms of words, by which a text is found in addition to its words: `wifi` for `Wi-Fi`. Used by indexing, queries and
 * highlights alike.
 */
import { normalizeText, withoutJoiners } from '../../domain/normalize-text.ts';

/** UTF-16 offsets of what is written. */
export interface OtherForm {
  start: number;
  end: number;
  /** Lower-cased NFC. */
  word: string;
}

const letters = String.raw`[\p{L}\p{M}\p{N}\p{Join_C}\u00ad]`;
const hyphens = String.raw`[-\u2010\u2011]`;
/** Words joined by hyphens, and names as `O'Reilly`. Bounded, as the engine would go through a megabyte of them again for each. */
const chain = new RegExp(`${letters}{1,64}(?:(?:${hyphens}|['’ʼ](?=\\p{Lu}\\p{Ll}))${letters}{1,64})+`, 'gu');
const joiner = /[-\u2010\u2011'’ʼ]/u;
/** Longer chains (`state-of-the-art-work`) have no joined spelling. */
const mostJoined = 3;
const longestJoined = 24;
/** `10-year` is never written `10year` as one word: the tokenizers split it. */
const splitAnyway = /^\p{N}+$/u;

/** In order of their ends. Linear. */
export function otherForms(text: string): OtherForm[] {
  return joiner.test(text) ? joinedForms(text) : [];
}

/** `Wi-Fi` as one word; of three words also each two. */
function joinedForms(text: string): OtherForm[] {
  const forms: OtherForm[] = [];
  for (const { 0: written, index } of text.matchAll(chain)) {
    const words = written.split(joiner);
    if (words.length > mostJoined) continue;
    const ends: number[] = [];
    for (const word of words) ends.push((ends.at(-1) ?? index - 1) + 1 + word.length);
    for (let last = 1; last < words.length; last++) {
      for (let first = last - 1; first >= 0; first--) {
        const word = words.slice(first, last + 1).join('');
        if (word.length > longestJoined || splitAnyway.test(words[first])) continue;
        forms.push({ start: ends[first] - words[first].length, end: ends[last], word: lowered(word) });
      }
    }
  }
  return forms;
}

function lowered(word: string): string {
  return withoutJoiners(normalizeText(word, 'NFC')).toLowerCase();
}
