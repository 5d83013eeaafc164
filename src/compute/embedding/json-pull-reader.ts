/**
 * A pull reader over UTF-8 JSON that arrives in pieces: the caller asks for the next key, string or number and never
 * holds the whole document. Made for one large known layout; it is strict about what is asked for, and skips the rest.
 */
import { longer } from '../structures/longer.ts';

/** The document is not what the caller asked for, or ends too early. */
export class JsonLayoutError extends Error {
  readonly code = 'json_layout';
}

export interface JsonPullReader {
  /** The value that follows is an object: read its keys in turn; `onKey` must consume exactly the value of each key. */
  readObject(onKey: (key: string) => void): void;
  /** Read an array of numbers into `out`, reused by the caller; returns how many there were. */
  readNumbers(out: Float64Array): number;
  readNumber(): number;
  /** Consume one value of any kind. */
  skipValue(): void;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const END = -1;
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/**
 * `read` fills the start of the given buffer and returns the number of bytes, 0 at the end.
 * Errors: JsonLayoutError. Numbers of ordinary size (1e-280 to 1e280) are within a few units in the last place of what
 * JSON.parse gives.
 */
export function createJsonPullReader(read: (target: Uint8Array) => number, bufferBytes = 1 << 20): JsonPullReader {
  const buffer = new Uint8Array(bufferBytes);
  const decoder = new TextDecoder();
  let token = new Uint8Array(256);
  let length = 0;
  let at = 0;
  let consumed = 0;

  function peek(): number {
    if (at === length) {
      consumed += length;
      length = read(buffer);
      at = 0;
      if (length === 0) return END;
    }
    return buffer[at];
  }

  function peekToken(): number {
    let byte = peek();
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      at++;
      byte = peek();
    }
    return byte;
  }

  function fail(wanted: string): never {
    const found = peek();
    throw new JsonLayoutError(
      `byte ${consumed + at}: ${wanted} expected, ${found === END ? 'the end' : JSON.stringify(String.fromCharCode(found))} found`,
    );
  }

  function expect(character: string): void {
    if (peekToken() !== character.charCodeAt(0)) fail(character);
    at++;
  }

  function readString(): string {
    expect('"');
    let size = 0;
    let escaped = false;
    for (let byte = peek(); byte !== QUOTE; byte = peek()) {
      if (byte === END) fail('"');
      if (size + 2 > token.length) token = longer(token, token.length * 2);
      token[size++] = byte;
      at++;
      if (byte === BACKSLASH) {
        escaped = true;
        const next = peek();
        if (next === END) fail('"');
        token[size++] = next;
        at++;
      }
    }
    at++;
    const text = decoder.decode(token.subarray(0, size));
    return escaped ? String(JSON.parse(`"${text}"`)) : text;
  }

  function readNumber(): number {
    let byte = peekToken();
    const negative = byte === 0x2d;
    if (negative) {
      at++;
      byte = peek();
    }
    let mantissa = 0;
    let decimals = 0;
    let digits = 0;
    let fraction = false;
    for (; ; byte = peek()) {
      if (byte >= 0x30 && byte <= 0x39) {
        mantissa = mantissa * 10 + (byte - 0x30);
        digits++;
        if (fraction) decimals++;
      } else if (byte === 0x2e && !fraction) fraction = true;
      else break;
      at++;
    }
    if (digits === 0) fail('a number');
    let exponent = -decimals;
    if (byte === 0x65 || byte === 0x45) {
      at++;
      exponent += readExponent();
    }
    const value = exponent < 0 ? mantissa / powerOfTen(-exponent) : mantissa * powerOfTen(exponent);
    return negative ? -value : value;
  }

  function readExponent(): number {
    const sign = peek();
    if (sign === 0x2b || sign === 0x2d) at++;
    let value = 0;
    let digits = 0;
    for (let byte = peek(); byte >= 0x30 && byte <= 0x39; byte = peek()) {
      value = value * 10 + (byte - 0x30);
      digits++;
      at++;
    }
    if (digits === 0) fail('an exponent');
    return sign === 0x2d ? -value : value;
  }

  /** Calls `onItem` at the start of each item of a bracketed, comma-separated list. */
  function readItems(open: string, close: string, onItem: () => void): void {
    expect(open);
    if (peekToken() === close.charCodeAt(0)) {
      at++;
      return;
    }
    for (;;) {
      onItem();
      if (peekToken() !== COMMA) break;
      at++;
    }
    expect(close);
  }

  function readObject(onKey: (key: string) => void): void {
    readItems('{', '}', () => {
      const key = readString();
      expect(':');
      onKey(key);
    });
  }

  function skipValue(): void {
    const byte = peekToken();
    if (byte === QUOTE) readString();
    else if (byte === 0x7b) readObject(skipValue);
    else if (byte === 0x5b) readItems('[', ']', skipValue);
    else if (byte === 0x74) for (const each of 'true') expect(each);
    else if (byte === 0x66) for (const each of 'false') expect(each);
    else if (byte === 0x6e) for (const each of 'null') expect(each);
    else readNumber();
  }

  return {
    readObject,
    readNumber,
    skipValue,
    readNumbers(out) {
      let count = 0;
      readItems('[', ']', () => {
        const value = readNumber();
        if (count === out.length) throw new JsonLayoutError(`more than ${out.length} numbers in a row`);
        out[count++] = value;
      });
      return count;
    },
  };
}

/** Past the exact powers the result may be off by a unit in the last place; past 1e308 it is infinite, and a number 0. */
function powerOfTen(exponent: number): number {
  return exponent < POWERS.length ? POWERS[exponent] : 10 ** exponent;
}
