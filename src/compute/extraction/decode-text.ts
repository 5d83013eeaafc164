/**
 * Bytes of a page to text: finds out in which encoding they are. Servers and authors are often wrong about it, so what they say
 * is checked against the bytes. Called on a work thread.
 */
import { analyse } from 'chardet';

export interface DecodedText {
  text: string;
  /** As the Encoding standard names it, in lower case. */
  encoding: string;
}

/** Bytes at the beginning in which a document may say its encoding; the standard's 1024 are too few for some. */
const declarationBytes = 4096;
/** Bytes of text, without markup, that an encoding is told from. */
const sampleBytes = 65_536;
/** U+FFFD per 100 characters beyond ASCII above which a text is not UTF-8, whatever it is called. */
const maxBrokenPercent = 2;

/**
 * Decode a document, in the order of trust: byte order mark; what is valid UTF-8 with characters beyond ASCII, whatever it is
 * called; what the header says (`charset`) unless it cannot be, what the document says (`isMarkup`); else what the bytes look like.
 * Errors: none; bytes that fit nowhere become U+FFFD.
 * Source: HTML standard, "Determining the character encoding", with those checks added.
 */
export function decodeText(bytes: Uint8Array, charset: string | null, isMarkup: boolean): DecodedText {
  const marked = byteOrderMark(bytes);
  if (marked !== null) return decodeAs(bytes, marked);
  const said = [encodingOf(charset), isMarkup ? declaredEncoding(bytes) : null].filter((name) => name !== null);
  // Servers add it to what they know nothing of.
  const declared = said[0] === 'windows-1252' && hasUnassigned(bytes) ? said.reverse() : said;
  const wide = wideEncoding(bytes);
  if (wide !== null) return decodeAs(bytes, wide);
  const utf8 = strictUtf8(bytes);
  // Escapes of ISO-2022 are ASCII, so they are valid UTF-8, too.
  const stateful = declared.find((name) => name === 'iso-2022-jp');
  if (stateful !== undefined) return decodeAs(bytes, stateful);
  if (utf8 !== null) return { text: utf8, encoding: 'utf-8' };
  if (declared[0] === 'utf-8') {
    const tolerant = decodeAs(bytes, 'utf-8');
    if (isMostlyWhole(tolerant.text)) return tolerant;
  }
  const other = declared.find((name) => name !== 'utf-8' && !name.startsWith('utf-16'));
  return decodeAs(bytes, other ?? likelyEncoding(bytes, isMarkup));
}

/** The standard's name for a label; null where there is none, or it is not known here. */
function encodingOf(label: string | null): string | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function byteOrderMark([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

/** UTF-16 without a mark: markup and spaces are ASCII, so every other byte is often zero. */
function wideEncoding(bytes: Uint8Array): string | null {
  const sample = bytes.subarray(0, declarationBytes);
  if (sample.length < 4) return null;
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = sample.length / 16;
  if (odd > many && even < odd / 8) return 'utf-16le';
  return even > many && odd < even / 8 ? 'utf-16be' : null;
}

const metaCharset = /<meta\s[^<>]*?charset\s*=\s*(?:["']\s*)?([\w:.-]+)/i;
const xmlEncoding = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)/i;

/** Whether there are bytes that no text in Windows-1252 has. */
function hasUnassigned(bytes: Uint8Array): boolean {
  return [0x81, 0x8d, 0x8f, 0x90, 0x9d].some((byte) => bytes.includes(byte));
}

/** What the document says of itself. That it could be read means that it is not UTF-16 (HTML standard, "prescan"). */
function declaredEncoding(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, declarationBytes)).toString('latin1');
  const said = encodingOf(
    (metaCharset.exec(head.replace(/<!--[\s\S]*?(?:-->|$)/g, '')) ?? xmlEncoding.exec(head))?.[1] ?? null,
  );
  return said?.startsWith('utf-16') ? 'utf-8' : said;
}

function strictUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function isMostlyWhole(text: string): boolean {
  const beyondAscii = text.match(/[^\0-\x7f]/g) ?? [];
  const broken = beyondAscii.filter((character) => character === '\ufffd').length;
  return broken * 100 <= beyondAscii.length * maxBrokenPercent;
}

/** By the statistics of the text between the markup; Windows-1252, the web's default, where they say nothing that is known. */
function likelyEncoding(bytes: Uint8Array, isMarkup: boolean): string {
  const raw = Buffer.from(bytes.subarray(0, sampleBytes * 8)).toString('latin1');
  const text = isMarkup ? raw.replace(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)|<[^<>]*>/gi, ' ') : raw;
  const sample = Buffer.from(text, 'latin1').subarray(0, sampleBytes);
  for (const { name } of analyse(sample)) {
    const encoding = encodingOf(name);
    if (encoding !== null && !encoding.startsWith('utf-')) return encoding;
  }
  return 'windows-1252';
}

function decodeAs(bytes: Uint8Array, encoding: string): DecodedText {
  const text = new TextDecoder(encoding).decode(bytes);
  return { text: encoding === 'windows-1252' ? withQuotes(text) : text, encoding };
}

/** 0x80 to 0x9F in Windows-1252, which Node 20 decodes as if it were Latin-1. */
const upperControls = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function withQuotes(text: string): string {
  return text.replace(/[\x80-\x9f]/g, (control) => upperControls[control.charCodeAt(0) - 0x80] ?? control);
}
