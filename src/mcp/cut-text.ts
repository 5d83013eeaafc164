/** Texts and lists cut to the bytes that they take in an answer, as `enveloped` writes them. Pure. */

/** Bytes that a UTF-16 code unit takes at most: escapes of JSON and of the envelope, and U+FFFD for what is hidden. */
function writtenBytes(unit: number): number {
  if (unit === 0x3c || unit === 0x3e) return 6;
  if (unit === 0x22 || unit === 0x5c || unit === 0x0a || unit === 0x09) return 2;
  if (unit < 0x20) return 3;
  if (unit < 0x7f) return 1;
  return unit >= 0xa0 && unit < 0x800 ? 2 : 3;
}

const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** How many bytes of a long text are given up at its end so that it ends between two words. */
const givenUp = 80;

/**
 * The offset at which a part that begins at `start` ends, so that it takes `bytes` at most: at the end of the text, else before a
 * white space if there is one near, and never within a character. Units: UTF-16 code units. Beyond `start` if the text is.
 */
export function endWithin(text: string, start: number, bytes: number): number {
  let end = start;
  for (let left = bytes; end < text.length; end++) {
    left -= writtenBytes(text.charCodeAt(end));
    if (left < 0) break;
  }
  if (end === text.length) return end;
  const space = text.slice(Math.max(start, end - givenUp), end + 1).search(/\s\S*$/);
  if (space > 0) return Math.max(start, end - givenUp) + space;
  if (isLowSurrogate(text.charCodeAt(end))) end--;
  return Math.min(text.length, Math.max(end, start + 1));
}

/** The text, or its beginning and an ellipsis. */
export function cutText(text: string, bytes: number): string {
  const end = endWithin(text, 0, bytes - 3);
  return end < text.length ? `${text.slice(0, end)}…` : text;
}
