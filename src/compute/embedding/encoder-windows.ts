/** Cuts a text's ids into windows for the encoder and averages their vectors. Runs in the encoder's process. */
import { BEGIN_ID, END_ID } from './unigram-tokenizer.ts';

/** Max ids. A query may wait for a window: 31 ms with 128 ids, 74 with 256, 240 with 512. Ranking is equally good. */
const MAX_WINDOW = 128;
/** Max windows; later text is ignored. Passages usually have fewer than 10, questions one. */
export const MAX_WINDOWS = { query: 4, sentence: 1, passage: 64 } as const;
/** A text with a larger share of capitals is lower-cased, because the cased model knows few words in capitals. */
const CAPITALS = 0.5;
const letters = /\p{L}/gu;
const capitals = /\p{Lu}/gu;

const content = /[\p{L}\p{N}\p{So}]/u;

/** Whether a text has letters, numbers or pictures. The model's vector for punctuation alone is near everything. */
export function hasContent(text: string): boolean {
  return content.test(text);
}

/** Lower-cases a text that is mostly in capitals. Offsets stay the same. */
export function withoutShouting(text: string): string {
  const upper = text.match(capitals)?.length ?? 0;
  if (upper === 0 || upper <= CAPITALS * (text.match(letters)?.length ?? 0)) return text;
  // Replaced first, because it is the only capital with a longer lower case.
  return text.replaceAll('İ', 'i').toLowerCase();
}

/** 1 to `most` windows of at most 128 ids: `<s>`, the prefix, an even share of the ids, `</s>`. */
export function windowsOf(ids: readonly number[], prefix: readonly number[], most: number): number[][] {
  const room = MAX_WINDOW - 2 - prefix.length;
  const count = Math.min(most, Math.max(1, Math.ceil(ids.length / room)));
  const size = Math.min(room, Math.ceil(ids.length / count));
  return Array.from({ length: count }, (_, at) => [
    BEGIN_ID,
    ...prefix,
    ...ids.slice(at * size, (at + 1) * size),
    END_ID,
  ]);
}

/** Mean of unit vectors, of unit length. Errors: RangeError if a number is not finite or the vectors cancel out. */
export function meanOfWindows(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float64Array(vectors[0].length);
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i] += vector[i];
  const length = Math.hypot(...sum);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) throw new RangeError('the vector has no length');
  return Float32Array.from(sum, (each) => each / length);
}
