/** How a text goes through the encoder: in windows of ids, whose vectors are averaged. Pure; called by the encoder's process. */
import { BEGIN_ID, END_ID } from './unigram-tokenizer.ts';

/**
 * Ids of a window at most. Measured on one core: windows of 128 take 31 ms (4,000 ids/s), of 256 74 ms and of 512 240 ms; a query waits
 * for one of them at most. Ranking is the same with all three (docs/models.md).
 */
const MAX_WINDOW = 128;
/** Windows at most: a passage has less than 10 as a rule, a question one. What comes later in the text is left out. */
export const MAX_WINDOWS = { query: 4, sentence: 1, passage: 64 } as const;
/** More letters than this share are capitals: a text that shouts, which the cased model would not know. */
const CAPITALS = 0.5;
const letters = /\p{L}/gu;
const capitals = /\p{Lu}/gu;

const content = /[\p{L}\p{N}\p{So}]/u;

/** Whether a text says anything: letters, numbers or pictures. The model gives punctuation a vector that is near to everything. */
export function hasContent(text: string): boolean {
  return content.test(text);
}

/** A text mostly in capitals in lower case, any other as it is: the model knows few words in capitals. No place in the text moves. */
export function withoutShouting(text: string): string {
  const upper = text.match(capitals)?.length ?? 0;
  if (upper === 0 || upper <= CAPITALS * (text.match(letters)?.length ?? 0)) return text;
  // The one capital that becomes longer.
  return text.replaceAll('İ', 'i').toLowerCase();
}

/**
 * Windows of a text's ids: each begins with `<s>` and the prefix, ends with `</s>`, and they share the ids evenly.
 * Shapes: at least one window and at most `most`, of at most 128 ids each.
 */
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

/**
 * The mean of unit vectors, of unit length.
 * Errors: RangeError where a number is not finite, or they cancel out.
 */
export function meanOfWindows(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float64Array(vectors[0].length);
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i] += vector[i];
  const length = Math.hypot(...sum);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) throw new RangeError('the vector has no length');
  return Float32Array.from(sum, (each) => each / length);
}
