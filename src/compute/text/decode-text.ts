/** Decodes bytes of others. Declared encodings are often wrong, so they are compared with the bytes. */
import { isAscii, isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';

/** Length of the prefix searched for a declaration. The standard's 1024 are too few for some pages. */
const declarationBytes = 4096;
const sampleBytes = 65_536;
/** `chardet` reports this confidence for an Asian encoding if there are too few bytes to contradict it. */
const fewBytes = 10;

/** Decode a whole document. `charset`: from the header. `encoding`: the Encoding standard's name, lower case. Errors: none; invalid bytes become U+FFFD. */
export function decodeText(bytes: Uint8Array, charset: string | null, isMarkup: boolean) {
  const guess = new EncodingGuess(charset, isMarkup);
  guess.add(bytes);
  const encoding = guess.encoding();
  const decoder = streamDecoder(encoding);
  return { text: decoder.next(bytes) + decoder.end(), encoding };
}

/**
 * Decode in pieces, without the byte order mark. `latin1` and aliases are windows-1252 (Encoding standard). Whole texts also use this:
 * Node 20 decodes windows-1252 at once as ISO-8859-1, which breaks 0x80 to 0x9F (euro sign, quotation marks); with `stream: true` it is
 * right.
 */
export function streamDecoder(encoding: string) {
  const decoder = new TextDecoder(encoding);
  return { next: (piece: Uint8Array) => decoder.decode(piece, { stream: true }), end: () => decoder.decode() };
}

/**
 * Detects the encoding. Order of trust: byte order mark; UTF-16 by zeros; valid UTF-8; the header's `charset`; the
 * document's declaration; UTF-8 with errors; statistics. Source: HTML standard, "Determining the character encoding".
 */
export class EncodingGuess {
  readonly #charset: string | null;
  readonly #isMarkup: boolean;
  readonly #utf8 = new Utf8Fit();
  #head = Buffer.alloc(0);

  constructor(charset: string | null, isMarkup: boolean) {
    this.#charset = charset;
    this.#isMarkup = isMarkup;
  }

  add(piece: Uint8Array): void {
    const wanted = declarationBytes - this.#head.length;
    if (wanted > 0) this.#head = Buffer.concat([this.#head, piece.subarray(0, wanted)]);
    this.#utf8.add(piece);
  }

  encoding(): string {
    this.#utf8.end();
    const certain = byteOrderMark(this.#head) ?? wideEncoding(this.#head);
    if (certain !== null) return certain;
    const { broken } = this.#utf8;
    const said = [encodingOf(this.#charset), this.#isMarkup ? declaredEncoding(this.#head) : null];
    const declared = said.filter((name) => name !== null);
    // Servers often add it by default.
    if (declared[0] === 'windows-1252' && broken !== null && hasUnassigned(broken)) declared.reverse();
    // Escapes of ISO-2022 are ASCII, so the text is also valid UTF-8.
    if (declared.includes('iso-2022-jp')) return 'iso-2022-jp';
    if (broken === null || (declared[0] === 'utf-8' && this.#utf8.isLikely)) return 'utf-8';
    const other = declared.find((name) => !name.startsWith('utf-'));
    if (other !== undefined) return other;
    return this.#utf8.isLikely ? 'utf-8' : likelyEncoding(broken, this.#isMarkup);
  }
}

class Utf8Fit {
  broken: Uint8Array | null = null;
  /** Non-ASCII characters minus errors. */
  #balance = 0;
  /** Incomplete character at the end of the last piece. */
  #rest: Uint8Array = Buffer.alloc(0);

  /** UTF-8 if valid characters outnumber errors: other encodings contain few valid ones by chance. */
  get isLikely(): boolean {
    return this.#balance > 0;
  }

  add(piece: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = bytes.length - openBytes(bytes);
    this.#rest = bytes.subarray(end);
    this.#take(bytes.subarray(0, end));
  }

  end(): void {
    this.#take(this.#rest);
  }

  #take(bytes: Uint8Array): void {
    if (isAscii(bytes)) return;
    if (isUtf8(bytes)) {
      for (let at = 0; at < bytes.length; at++) if (bytes[at] >= 0xc0) this.#balance++;
      return;
    }
    this.broken ??= bytes;
    const text = new TextDecoder().decode(bytes);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code >= 0x80) this.#balance += code === 0xfffd ? -1 : 1;
    }
  }
}

/** Bytes of an incomplete UTF-8 character at the end. */
function openBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

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

/** UTF-16 without a byte order mark: markup and spaces are ASCII, so every other byte is often zero. */
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

/** XML (possibly after junk) and HTML. */
const declaration =
  /<\?xml\s[^<>]{0,200}?\bencoding\s*=\s*["']\s*([\w:.-]{1,40})|<meta\s[^<>]{0,1000}?charset\s*=\s*(?:["']\s*)?([\w:.-]{1,40})/gi;

/** Bytes unassigned in Windows-1252. */
function hasUnassigned(bytes: Uint8Array): boolean {
  return [0x81, 0x8d, 0x8f, 0x90, 0x9d].some((byte) => bytes.includes(byte));
}

/** The first known declaration. It was readable as ASCII, so it is not UTF-16 (HTML standard, "prescan"). */
function declaredEncoding(head: Buffer): string | null {
  const markup = head.toString('latin1').replace(/<!--[\s\S]*?(?:-->|$)/g, '');
  for (const [, xml, html] of markup.matchAll(declaration)) {
    const name = encodingOf(xml ?? html ?? null);
    if (name !== null) return name.startsWith('utf-16') ? 'utf-8' : name;
  }
  return null;
}

/** By statistics of the text; Windows-1252 by default. */
function likelyEncoding(bytes: Uint8Array, isMarkup: boolean): string {
  const raw = Buffer.from(bytes.subarray(0, sampleBytes * 8)).toString('latin1');
  const text = isMarkup ? raw.replace(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)|<[^<>]*>/gi, ' ') : raw;
  const sample = Buffer.from(text, 'latin1').subarray(0, sampleBytes);
  for (const { name, confidence } of analyse(sample)) {
    const encoding = encodingOf(name);
    if (confidence > fewBytes && encoding !== null && !encoding.startsWith('utf-')) return encoding;
  }
  return 'windows-1252';
}
