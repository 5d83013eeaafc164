/**
 * The words of a text as one byte each, in its order: what a phrase is looked for in (engine/words/labels-holding.ts). Words are runs of
 * letters and digits, folded, without invisible hyphens and joiners; of scripts whose words run together, or change their endings, each character is one. So a phrase has the same bytes as the text around it, whatever
 * stands beside it there. One byte tells two words apart 254 times in 255.
 */
import { withoutJoiners } from '../../domain/normalize-text.ts';
import { foldAccents } from './fold-accents.ts';

/** Before the text of a page, and of its title: no word has it, so no phrase goes over it. */
export const BREAK = 0;

const plainAscii = /^[\0-\x7f]*$/;
const unspaced = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Hang}]`;
const letter = String.raw`(?!${unspaced})[\p{L}\p{M}\p{N}]`;
const word = new RegExp(`${unspaced}|(?:${letter})+`, 'gu');
const inWord = String.raw`(?:${letter}|[\p{Join_C}\u00ad\u2060])`;
const restOfWord = new RegExp(`(?<=${inWord})${inWord}*`, 'uy');

/** FNV-1a, 32 bits. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** The words of a text, in its order. */
export function wordBytes(text: string): number[] {
  const lower = text.toLowerCase();
  return plainAscii.test(lower) ? asciiWords(lower) : foldedWords(foldAccents(withoutJoiners(lower)));
}

/** Where the word ends that goes over `at`; `at` where none does. */
export function endOfWord(text: string, at: number): number {
  restOfWord.lastIndex = at;
  return restOfWord.test(text) ? restOfWord.lastIndex : at;
}

function asciiWords(text: string): number[] {
  const bytes: number[] = [];
  let hash = OFFSET;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    if ((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)) hash = mixed(hash, code);
    else if (hash !== OFFSET) {
      bytes.push(byteOf(hash));
      hash = OFFSET;
    }
  }
  return bytes;
}

function foldedWords(text: string): number[] {
  return Array.from(text.matchAll(word), ([letters]) => {
    let hash = OFFSET;
    for (let at = 0; at < letters.length; at++) hash = mixed(hash, letters.charCodeAt(at));
    return byteOf(hash);
  });
}

function mixed(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME);
}

/** 1 to 255. */
function byteOf(hash: number): number {
  return 1 + ((((hash >>> 24) ^ (hash >>> 16) ^ (hash >>> 8) ^ hash) & 0xff) % 255);
}
