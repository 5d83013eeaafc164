/**
 * Reads names from the states of the encoder's middle layer. A linear layer over a piece and its neighbours scores each
 * tag (outside; begin and inside of a type), a table each pair of tags in a row; the most probable sequence gives the spans.
 * File (`scripts/train-names.ts`; little endian, 32 bits each, floats after the first four): magic 'RBNT' · version ·
 * dim · radius · bias [tags] · transitions [tags × tags] · shapes [tags × shapes] ·
 * weights [2 × radius + 1][tags × dim].
 */
import type { TextPieces } from '../embedding/unigram-tokenizer.ts';

export const nameTypes = ['person', 'organization', 'place', 'other'] as const;
export type NameType = (typeof nameTypes)[number];

/** Start, end (UTF-16) and index in `nameTypes` of each name, as a flat list in text order. */
export type NameSpans = number[];

/** Outside; then begin and inside of each type. */
export const TAGS = 1 + 2 * nameTypes.length;
export const SHAPES = 8;
export const NAMES_MAGIC = 0x544e4252;
export const NAMES_VERSION = 1;
const HEADER = 4;

export type NameTagger = ReturnType<typeof openNameTagger>;

/** Errors: RangeError if the bytes are another file or incomplete. */
export function openNameTagger(file: Uint8Array<ArrayBuffer>) {
  const [magic, version, dim, radius] = new Uint32Array(file.slice(0, 4 * HEADER).buffer);
  if (magic !== NAMES_MAGIC || version !== NAMES_VERSION) throw new RangeError('no weights of names of this version');
  const width = 2 * radius + 1;
  const sizes = [TAGS, TAGS * TAGS, TAGS * SHAPES, width * TAGS * dim];
  if (file.byteLength !== 4 * (HEADER + sizes.reduce((sum, size) => sum + size, 0)))
    throw new RangeError('not all of the weights of names');
  const all = new Float32Array(file.slice(4 * HEADER).buffer);
  let from = 0;
  const [bias, transitions, shapes, weights] = sizes.map((size) => {
    from += size;
    return all.subarray(from - size, from);
  });
  return {
    /** Evidence of `count` pieces whose states begin at `row`. Shape: count × (2 radius + 1) × tags. */
    evidenceOf(states: Float32Array, row: number, count: number) {
      const evidence = new Float32Array(count * width * TAGS);
      for (let piece = 0; piece < count; piece++) {
        const at = (row + piece) * dim;
        for (let out = 0; out < width * TAGS; out++) {
          const weight = out * dim;
          let sum = 0;
          for (let i = 0; i < dim; i++) sum += states[at + i] * weights[weight + i];
          evidence[piece * width * TAGS + out] = sum;
        }
      }
      return evidence;
    },
    /** `evidence`: of the windows of a text, in order. The windows may end before the pieces do. */
    namesIn(text: string, pieces: TextPieces, evidence: readonly Float32Array[]): NameSpans {
      const step = width * TAGS;
      const count = Math.min(pieces.ids.length, evidence.reduce((sum, { length }) => sum + length, 0) / step);
      const scores = new Float32Array(count * TAGS);
      let piece = 0;
      for (const window of evidence) {
        for (let at = 0; at < window.length; at += step, piece++) {
          for (let offset = 0; offset < width; offset++) {
            // Each piece contributes to the piece `offset - radius` before it.
            const of = piece + radius - offset;
            if (of < 0 || of >= count) continue;
            for (let tag = 0; tag < TAGS; tag++) scores[of * TAGS + tag] += window[at + offset * TAGS + tag];
          }
        }
      }
      const shape = new Uint8Array(SHAPES);
      for (let at = 0; at < count; at++) {
        shapeOf(text, pieces, at, shape);
        for (let tag = 0; tag < TAGS; tag++) {
          let sum = bias[tag];
          for (let i = 0; i < SHAPES; i++) if (shape[i] === 1) sum += shapes[tag * SHAPES + i];
          scores[at * TAGS + tag] += sum;
        }
      }
      return spansOf(text, pieces, bestTags(scores, transitions));
    },
  };
}

/** The most probable sequence of tags (Viterbi 1967). */
function bestTags(scores: Float32Array, transitions: Float32Array): Uint8Array {
  const count = scores.length / TAGS;
  const from = new Uint8Array(scores.length);
  const tags = new Uint8Array(count);
  if (count === 0) return tags;
  let best = Float64Array.from(scores.subarray(0, TAGS));
  for (let at = 1; at < count; at++) {
    const next = new Float64Array(TAGS);
    for (let tag = 0; tag < TAGS; tag++) {
      let before = 0;
      for (let other = 1; other < TAGS; other++) {
        if (best[other] + transitions[other * TAGS + tag] > best[before] + transitions[before * TAGS + tag])
          before = other;
      }
      from[at * TAGS + tag] = before;
      next[tag] = best[before] + transitions[before * TAGS + tag] + scores[at * TAGS + tag];
    }
    best = next;
  }
  tags[count - 1] = best.indexOf(Math.max(...best));
  for (let at = count - 1; at > 0; at--) tags[at - 1] = from[at * TAGS + tags[at]];
  return tags;
}

/** Max distance to the ends of a word; no language has longer words. */
const maxWord = 40;
const wordPart = /[\p{L}\p{M}\p{N}]/u;
/** Scripts without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const isWordPart = (text: string, at: number) => at >= 0 && at < text.length && wordPart.test(characterAt(text, at));

/** The character to which the UTF-16 unit at this offset belongs. */
function characterAt(text: string, at: number): string {
  const isSecond = at > 0 && /[\udc00-\udfff]/.test(text[at]);
  return String.fromCodePoint(text.codePointAt(isSecond ? at - 1 : at) ?? 0);
}

/** Spans of tags, widened to whole words in scripts with spaces. */
function spansOf(text: string, { starts, ends }: TextPieces, tags: Uint8Array): NameSpans {
  const spans: NameSpans = [];
  let open = -1;
  for (const [at, tag] of tags.entries()) {
    // A name does not cross the end of a line.
    if (tag === 0 || (open !== -1 && text.slice(spans[open + 1], starts[at]).includes('\n'))) open = -1;
    if (tag === 0) continue;
    if (open === -1 || tag % 2 === 1) {
      open = spans.length;
      spans.push(starts[at], ends[at], (tag - 1) >> 1);
    } else spans[open + 1] = ends[at];
  }
  const whole: NameSpans = [];
  for (let at = 0; at < spans.length; at += 3) {
    let [start, end, type] = spans.slice(at, at + 3);
    while (start < end && /\s/.test(text[start])) start++;
    if (start >= end) continue;
    const [least, most] = [start - maxWord, end + maxWord];
    while (start > least && isWordPart(text, start) && isWordPart(text, start - 1) && !unspaced.test(text[start]))
      start--;
    while (end < most && isWordPart(text, end - 1) && isWordPart(text, end) && !unspaced.test(text[end - 1])) end++;
    const last = whole.length - 3;
    // Two parts of the same word are one name.
    if (last >= 0 && start < whole[last + 1]) whole[last + 1] = Math.max(end, whole[last + 1]);
    else whole.push(start, end, type);
  }
  return whole;
}

const sentenceEnd = /[.!?:\n。！？]/u;
const opening = /[\s"'(“‘«[„]/u;

/** The shape of a piece (capitals, digits and so on), which its states hardly show. */
export function shapeOf(text: string, { starts, ends }: TextPieces, at: number, shape: Uint8Array): void {
  const start = starts[at];
  let from = start;
  while (from > start - maxWord && isWordPart(text, from - 1)) from--;
  let to = Math.max(start, ends[at]);
  const last = to + maxWord;
  while (to < last && isWordPart(text, to)) to++;
  const word = text.slice(from, to);
  const isUpper = word.length > 1 && word !== word.toLowerCase() && word === word.toUpperCase();
  const first = characterAt(text, from);
  const isCapital = !isUpper && first !== first.toLowerCase();
  let before = from - 1;
  while (before > from - maxWord && before >= 0 && text[before] !== '\n' && opening.test(text[before])) before--;
  const isFirst = before < 0 || sentenceEnd.test(text[before]);
  shape[0] = Number(isCapital);
  shape[1] = Number(isUpper);
  shape[2] = Number(/\p{N}/u.test(word));
  shape[3] = Number(from === start);
  shape[4] = Number(isFirst);
  shape[5] = Number(isFirst && isCapital);
  shape[6] = Number(ends[at] > start && !/[\p{L}\p{M}\p{N}]/u.test(text.slice(start, ends[at])));
  shape[7] = Number(ends[at] === start);
}
