/**
 * The encoder's Unigram tokenizer (SentencePiece, Kudo 2018) over a double-array trie (Aoe 1989), read from a packed
 * file without building anything. Its ids are those of the model's Hugging Face tokenizer.
 *
 * File (little endian), made by `scripts/pack-tokenizer.ts`:
 *   magic 'RBTK' · version u32 · nodes u32 · pieces u32 · lowest score f32 · 3 × u32 0
 *   base   Int32 × nodes     where a node's children begin; at the end of a piece its id
 *   score  Float32 × pieces  log probability of each piece
 *   label  Uint8 × nodes     the byte that leads to a node; enough to find a child, as no two nodes share a base
 * Words are split at white space; each, with ▁ (U+2581) before it, becomes its most probable pieces.
 */
import { normalizeText } from '../../domain/normalize-text.ts';
import { memoized } from '../structures/memoized.ts';

export type UnigramTokenizer = ReturnType<typeof openTokenizer>;

/** Pieces in text order with their UTF-16 offsets. A piece may be empty: `▁` alone. */
export interface TextPieces {
  ids: number[];
  starts: number[];
  ends: number[];
}

/** Special ids of the vocabulary, which no text produces. */
export const BEGIN_ID = 0;
export const END_ID = 2;
const UNKNOWN_ID = 3;
/** How much less probable an unknown character is than the rarest piece, as a natural logarithm. */
const UNKNOWN_PENALTY = 10;
export const TOKENIZER_MAGIC = 0x4b544252;
export const TOKENIZER_VERSION = 1;
export const HEADER_BYTES = 32;
/** Label that marks the end of a piece, in place of a byte of text. No piece contains this control character. */
export const END_LABEL = 1;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what goes
const removed = /[\x00-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]/g;
/** White space for the model, including characters that NFKC turns into spaces. */
const spaces = /[ \t\n\f\r\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u3000\ufeff]/;
const rawWord = new RegExp(spaces.source.replace('[', '[^').concat('+'), 'g');
const isPlain = /^[!-~]*$/;
/** Max words whose pieces are cached. Most words of a text repeat earlier ones. */
const maxRemembered = 20_000;
const maxRememberedLength = 32;

/**
 * Open a packed tokenizer. Reads the file's bytes in place.
 * Errors: RangeError if the bytes are another file or incomplete.
 */
export function openTokenizer(file: Uint8Array<ArrayBuffer>) {
  const head = new DataView(file.buffer, file.byteOffset, Math.min(HEADER_BYTES, file.byteLength));
  if (file.byteLength < HEADER_BYTES || head.getUint32(0, true) !== TOKENIZER_MAGIC)
    throw new RangeError('no tokenizer');
  const version = head.getUint32(4, true);
  if (version !== TOKENIZER_VERSION) throw new RangeError(`the tokenizer has the unknown version ${version}`);
  const nodes = head.getUint32(8, true);
  const pieces = head.getUint32(12, true);
  const unknownScore = head.getFloat32(16, true) - UNKNOWN_PENALTY;
  if (file.byteLength !== HEADER_BYTES + 5 * nodes + 4 * pieces) throw new RangeError('the tokenizer is incomplete');
  const at = file.byteOffset + HEADER_BYTES;
  const base = new Int32Array(file.buffer, at, nodes);
  const score = new Float32Array(file.buffer, at + 4 * nodes, pieces);
  const label = new Uint8Array(file.buffer, at + 4 * nodes + 4 * pieces, nodes);

  const encoder = new TextEncoder();
  let bytes = new Uint8Array(256);
  let best = new Float64Array(257);
  let from = new Int32Array(257);
  let idAt = new Int32Array(257);
  const memoizedPieces = memoized(maxRemembered, piecesOf);

  /** The best pieces of bytes[0 .. length), and where each ends. */
  function segment(length: number): { ids: number[]; ends: number[] } {
    best.fill(Number.NEGATIVE_INFINITY, 1, length + 1);
    best[0] = 0;
    for (let start = 0; start < length; ) {
      const byte = bytes[start];
      const charEnd = start + (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);
      const here = best[start];
      let hasCharacter = false;
      let node = 0;
      for (let end = start; end < length; ) {
        const child = base[node] + bytes[end];
        if (child >= nodes || label[child] !== bytes[end]) break;
        node = child;
        end++;
        const last = base[node] + END_LABEL;
        if (last >= nodes || label[last] !== END_LABEL) continue;
        const id = base[last];
        if (end === charEnd) hasCharacter = true;
        reach(start, end, here + score[id], id);
      }
      if (!hasCharacter) reach(start, charEnd, here + unknownScore, UNKNOWN_ID);
      start = charEnd;
    }
    const ids: number[] = [];
    const ends: number[] = [];
    for (let end = length; end > 0; end = from[end]) {
      // Adjacent unknown characters are one piece.
      if (idAt[end] === UNKNOWN_ID && ids.at(-1) === UNKNOWN_ID) continue;
      ids.push(idAt[end]);
      ends.push(end);
    }
    return { ids: ids.reverse(), ends: ends.reverse() };
  }

  function reach(start: number, end: number, total: number, id: number): void {
    if (total <= best[end]) return;
    best[end] = total;
    from[end] = start;
    idAt[end] = id;
  }

  /** Pieces of a word; `ends`: offsets in the word at which they end. */
  function piecesOf(raw: string): { ids: readonly number[]; ends: readonly number[] } {
    const ids: number[] = [];
    const ends: number[] = [];
    const clean = isPlain.test(raw) ? raw : normalizeText(raw.toWellFormed().replace(removed, ''), 'NFKC');
    const placeOf = placesIn(raw, clean);
    let at = 0;
    // The normal form of some characters has a space.
    for (const word of clean.split(' ')) {
      if (word !== '') {
        const text = `▁${word}`;
        if (bytes.length < 3 * text.length) {
          bytes = new Uint8Array(6 * text.length);
          best = new Float64Array(bytes.length + 1);
          from = new Int32Array(bytes.length + 1);
          idAt = new Int32Array(bytes.length + 1);
        }
        const pieces = segment(encoder.encodeInto(text, bytes).written);
        // Bytes of `▁`, then UTF-16 units per byte.
        let byte = 3;
        let units = at;
        for (const [place, end] of pieces.ends.entries()) {
          for (; byte < end; byte++) {
            if (bytes[byte] < 0x80 || bytes[byte] >= 0xc0) units += bytes[byte] >= 0xf0 ? 2 : 1;
          }
          ids.push(pieces.ids[place]);
          ends.push(placeOf(units));
        }
      }
      at += word.length + 1;
    }
    return { ids, ends };
  }

  return {
    /**
     * A text's pieces, without the ids for beginning and end. Special tokens (`</s>`, `<mask>`) in it count as text.
     * Shapes: none for a text without visible characters. Linear in the length of the text.
     */
    encode(text: string): TextPieces {
      const pieces: TextPieces = { ids: [], starts: [], ends: [] };
      for (const { 0: raw, index } of text.matchAll(rawWord)) {
        const { ids, ends } = raw.length <= maxRememberedLength ? memoizedPieces(raw) : piecesOf(raw);
        let start = index;
        for (const [place, id] of ids.entries()) {
          pieces.ids.push(id);
          pieces.starts.push(start);
          start = index + ends[place];
          pieces.ends.push(start);
        }
      }
      return pieces;
    },
  };
}

/** Maps an offset in a word's normal form to one in the word. If a character has no counterpart: the word's end. */
function placesIn(raw: string, clean: string): (offset: number) => number {
  if (raw === clean) return (offset) => offset;
  const places: number[] = [0];
  let formed = '';
  let at = 0;
  for (const character of raw) {
    const form = normalizeText(character.toWellFormed().replace(removed, ''), 'NFKC');
    formed += form;
    at += character.length;
    for (let i = 0; i < form.length; i++) places.push(at);
  }
  return (offset) => (formed === clean ? places[Math.min(offset, places.length - 1)] : offset === 0 ? 0 : raw.length);
}
