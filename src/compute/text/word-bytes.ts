/**
 * A text's words as one byte each, so that a phrase has the same bytes in any context. Words are folded runs of letters
 * and digits; in unspaced or inflected scripts each character but punctuation. A byte distinguishes 254 of 255 pairs.
 */
import { withoutJoiners } from '../../domain/normalize-text.ts';
import { foldAccents } from './scripts.ts';

/** Separates title and texts; no phrase crosses it. */
export const BREAK = 0;

const plainAscii = /^[\0-\x7f]*$/;
const unspaced = String.raw`(?!\p{P})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Hang}]`;
const letter = String.raw`(?!${unspaced})[\p{L}\p{M}\p{N}]`;
/** Matched in parts, because the engine's backtracking would overflow on a word of megabytes. */
const word = new RegExp(`${unspaced}|((?:${letter}){1,1000})`, 'gu');
const inWord = String.raw`(?:${letter}|[\p{Join_C}\u00ad\u2060])`;
const behindWord = new RegExp(`(?<=${inWord})`, 'uy');
const ofWord = new RegExp(inWord, 'uy');

/** FNV-1a, 32 bits. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

export function wordBytes(text: string): number[] {
  const lower = text.toLowerCase();
  return plainAscii.test(lower) ? asciiWords(lower) : foldedWords(foldAccents(withoutJoiners(lower)));
}

/** End of the word that contains `at`; `at` if none does. */
export function endOfWord(text: string, at: number): number {
  behindWord.lastIndex = at;
  if (!behindWord.test(text)) return at;
  let end = at;
  for (ofWord.lastIndex = at; ofWord.test(text); end = ofWord.lastIndex);
  return end;
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
  const bytes: number[] = [];
  let hash = OFFSET;
  /** End of the previous part, which may continue. */
  let end = -1;
  for (const { 0: letters, 1: run, index } of text.matchAll(word)) {
    if (run !== undefined && index === end) bytes.pop();
    else hash = OFFSET;
    for (let at = 0; at < letters.length; at++) hash = mixed(hash, letters.charCodeAt(at));
    bytes.push(byteOf(hash));
    end = run === undefined ? -1 : index + letters.length;
  }
  return bytes;
}

function mixed(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME);
}

/** Maps a hash to 1 to 255. */
function byteOf(hash: number): number {
  return 1 + ((((hash >>> 24) ^ (hash >>> 16) ^ (hash >>> 8) ^ hash) & 0xff) % 255);
}
