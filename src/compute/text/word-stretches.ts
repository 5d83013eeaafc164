/**
 * Finds the stretches of a text between white space: what the tokenizer takes apart one by one. Called by the analyzer.
 */

/** No stretch of the scripts without spaces, and no lone surrogate, is free of these; nor are some others. */
function mayNeedCare(unit: number): boolean {
  return unit >= 0x0e00 && (unit < 0x1e00 || unit >= 0x2e80);
}

/** White space, control characters, and the two invisible spaces that are neither. */
function separates(unit: number): boolean {
  if (unit <= 0x20) return true;
  if (unit < 0x7f) return false;
  if (unit <= 0xa0) return true;
  if (unit < 0x1680) return false;
  return (
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200b) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}

/**
 * Call `take` for each stretch, in order; offsets in UTF-16 units. `plain` is false where the stretch may hold characters of a
 * script without spaces, or half a character.
 */
export function eachStretch(text: string, take: (start: number, end: number, plain: boolean) => void): void {
  let start = -1;
  let plain = true;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (separates(unit)) {
      if (start >= 0) take(start, at, plain);
      start = -1;
      plain = true;
    } else {
      if (start < 0) start = at;
      if (mayNeedCare(unit)) plain = false;
    }
  }
  if (start >= 0) take(start, text.length, plain);
}
