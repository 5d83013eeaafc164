/** Reads a large JSON document one object at a time: from a top-level array, or arrays in the top-level object. */
import { errorMessage } from '../domain/errors.ts';
import type { EntryMarks } from './entry-marks.ts';
import { ImportError } from './item-parts.ts';

/** One object may contain a saved page. */
const maxElementChars = 64 * 2 ** 20;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Errors: ImportError for invalid or truncated JSON. `name` is for messages. */
export async function* jsonElements(
  pieces: AsyncIterable<string> | string[],
  name: string,
  marks?: Pick<EntryMarks, 'reached'>,
): AsyncGenerator<unknown> {
  const open: number[] = [];
  let inString = false;
  let escaped = false;
  let began = false;
  let hasList = false;
  /** Depth of the current element; -1 between elements. */
  let elementDepth = -1;
  let parts: string[] = [];
  let length = 0;
  /** Offsets of the piece and the current element in the document. */
  let base = 0;
  let start = 0;
  let line = 1;
  let startLine = 1;
  /** Number of open arrays, and the start of the text outside of them, which contains no entries. */
  let arrays = 0;
  let outside = 0;

  for await (const piece of pieces) {
    let from = elementDepth < 0 ? -1 : 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === BACKSLASH) escaped = true;
        else if (code === QUOTE) inString = false;
      } else if (code === QUOTE) inString = true;
      else if (code === 0x7b || code === 0x5b) {
        if (began && open.length === 0)
          throw new ImportError(`${name} is no list of entries: something follows its JSON`);
        const arrayInside = open.at(-1) === 0x5b && open.length <= 2;
        if (code === 0x5b && open.length <= 1) hasList = true;
        if (code === 0x5b && arrays++ === 0) marks?.reached(outside, base + at);
        if (elementDepth < 0 && code === 0x7b && arrayInside) {
          elementDepth = open.length;
          from = at;
          start = base + at;
          startLine = line;
        }
        open.push(code);
        began = true;
      } else if (code === 0x7d || code === 0x5d) {
        if (open.pop() !== (code === 0x7d ? 0x7b : 0x5b))
          throw new ImportError(`${name} is no JSON: a bracket too many`);
        if (code === 0x5d && --arrays === 0) outside = base + at + 1;
        if (elementDepth === open.length) {
          parts.push(piece.slice(from, at + 1));
          marks?.reached(start, base + at + 1, startLine);
          yield parsed(parts.join(''), name);
          parts = [];
          length = 0;
          elementDepth = -1;
          from = -1;
        }
      } else if (code === 0x0a) line++;
      else if (!began && code > 0x20) {
        throw new ImportError(`${name} is no JSON: it begins with ${JSON.stringify(piece[at])}`);
      }
    }
    base += piece.length;
    if (elementDepth < 0) continue;
    parts.push(from < 0 ? piece : piece.slice(from));
    length += piece.length;
    if (length > maxElementChars)
      throw new ImportError(`${name}: an entry has more than ${maxElementChars} characters`);
  }
  if (open.length > 0 || !began) throw new ImportError(`${name} is cut off: it ends within its JSON`);
  marks?.reached(outside, base);
  if (!hasList) throw new ImportError(`${name} is no list of entries`);
}

export function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ImportError(`${name} is no JSON, or cut off: ${errorMessage(cause)}`, { cause });
  }
}
