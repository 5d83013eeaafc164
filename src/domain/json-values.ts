/** How many values a JSON text holds, told before it is parsed: two bytes make a value that takes fifty in memory. */

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

const opens = (code: number): boolean => code === 0x5b || code === 0x7b;
const closes = (code: number): boolean => code === 0x5d || code === 0x7d;

/**
 * Whether a JSON text holds more than `most` elements of arrays and members of objects, at all depths. Ends as soon as that is known.
 * Of a text that is no JSON the answer means nothing.
 */
export function holdsMoreThan(most: number, json: string): boolean {
  if (json.length <= most) return false;
  let held = 0;
  /** Whether a bracket was opened last, so that what follows is its first value. */
  let opened = false;
  for (let at = 0; at < json.length && held <= most; at++) {
    const code = json.charCodeAt(at);
    if (code <= SPACE) continue;
    if (code === COMMA || (opened && !closes(code))) held++;
    opened = opens(code);
    if (code === QUOTE) at = closingQuote(json, at);
  }
  return held > most;
}

/** Where the string ends that begins at `from`; the text's length where it does not. */
function closingQuote(json: string, from: number): number {
  let at = json.indexOf('"', from + 1);
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at === -1 ? json.length : at;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
