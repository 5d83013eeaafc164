/**
 * Scans a markup file for a few tag names and the text between. Everything else is text, even `<title>` or `<!--` in a
 * bookmark's name, which would swallow the rest in an HTML parser. Linear.
 */
import { decodeHTMLAttribute } from 'entities';

export interface ScannedTag {
  name: string;
  isEnd: boolean;
  isEmpty: boolean;
  attributes: Record<string, string>;
  /** Of its `<` in the file, in characters. */
  offset: number;
  end: number;
}

/** Attributes may contain site icons. Longer ones are text. */
const maxTagChars = 2 ** 20;
const nameChars = 16;
/** An attribute that contains a tag lacks its closing quotation mark. */
const swallowedTag = /<\/?(?:a|dd|dl|dt|h3|li|posts?)[\s>]/i;

/** Tags that match `begin` (global; groups: slash and name), and the raw text between. */
export async function* scanTags(pieces: AsyncIterable<string>, begin: RegExp): AsyncGenerator<ScannedTag | string> {
  // A copy with its own `lastIndex`.
  const start = structuredClone(begin);
  let buffer = '';
  let base = 0;
  function* scan(isLast: boolean): Generator<ScannedTag | string> {
    let at = 0;
    let end = isLast ? buffer.length : Math.max(0, buffer.length - nameChars);
    start.lastIndex = 0;
    for (let found = start.exec(buffer); found !== null; found = start.exec(buffer)) {
      const tag = attributesFrom(buffer, start.lastIndex);
      if (tag === null) {
        if (isLast || buffer.length - found.index > maxTagChars) continue;
        end = found.index;
        break;
      }
      if (found.index > at) yield buffer.slice(at, found.index);
      const [, slash, name] = found;
      yield {
        name: name.toLowerCase(),
        isEnd: slash !== '',
        isEmpty: buffer.startsWith('/>', tag.end - 2),
        attributes: tag.attributes,
        offset: base + found.index,
        end: base + tag.end,
      };
      at = start.lastIndex = tag.end;
    }
    if (end > at) yield buffer.slice(at, end);
    const next = Math.max(at, end);
    base += next;
    buffer = buffer.slice(next);
  }
  for await (const piece of pieces) {
    buffer += piece;
    yield* scan(false);
  }
  yield* scan(true);
}

const blank = /[\s/]*/y;
const attributeName = /[^\s=>/<]+/y;
const equals = /\s*=\s*/y;
const bareValue = /[^\s<>]*/y;

/** Attributes after a tag's name, and the tag's end; null if incomplete. */
function attributesFrom(text: string, from: number): { attributes: Record<string, string>; end: number } | null {
  const attributes: Record<string, string> = Object.create(null);
  let at = from;
  const matched = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? '';
    at += match.length;
    return match;
  };
  for (;;) {
    matched(blank);
    if (at >= text.length) return null;
    if (text[at] === '>') return { attributes, end: at + 1 };
    if (text[at] === '<') return { attributes, end: at };
    const name = matched(attributeName).toLowerCase();
    if (matched(equals) === '') {
      attributes[name] ??= '';
      continue;
    }
    const quote = text[at];
    let value: string;
    if (quote === '"' || quote === "'") {
      const close = text.indexOf(quote, at + 1);
      if (close < 0) return null;
      value = text.slice(at + 1, close);
      const isClosed = !value.includes('\n') && /[\s/>]/.test(text[close + 1] ?? ' ');
      if (!isClosed && swallowedTag.test(value)) {
        at++;
        value = matched(bareValue);
      } else at = close + 1;
    } else value = matched(bareValue);
    attributes[name] ??= decodeHTMLAttribute(value);
  }
}
