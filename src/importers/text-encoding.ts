/**
 * In which encoding a text file to be imported is written, and its text. Exports are UTF-8; but spreadsheets and shells of Windows write
 * UTF-16 with a byte order mark, and old programs the encoding of their country, which a bookmark file declares and a CSV does not.
 */
import { createReadStream } from 'node:fs';

/** A label that `TextDecoder` knows. */
export type TextEncoding = string;

const pieceBytes = 1 << 18;
/** What files in no other encoding that is told are most likely in. */
const legacy = 'windows-1252';

/** By the byte order mark at the beginning of a file; null where it has none. */
export function markedEncoding(head: Uint8Array): TextEncoding | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 'utf-8' : null;
}

/**
 * The mark's encoding; else UTF-8 where the file reads as that; else what its head declares (`<META … CONTENT="text/html; charset=X">`);
 * else windows-1252. Some bytes that are no UTF-8 in a file that is do not make it another: a program may have cut a title within a character.
 */
export async function encodingOf(file: string, head: Buffer): Promise<TextEncoding> {
  const marked = markedEncoding(head);
  if (marked !== null) return marked;
  if ((await isUtf8(file)) || (await isMostlyUtf8(file))) return 'utf-8';
  const declared = /<meta\s[^<>]*charset\s*=\s*["']?([\w-]+)/i.exec(head.toString('latin1'))?.[1];
  return declared !== undefined && namesAnother(declared) ? declared : legacy;
}

/** The file's text in pieces, without its byte order mark. Errors: TypeError where `fatal` and the bytes are not of the encoding. */
export async function* textOfFile(file: string, encoding: TextEncoding, fatal = false): AsyncGenerator<string> {
  // In pieces also where there is one: only so does Node 20 decode 0x80 to 0x9F of windows-1252 right.
  const decoder = new TextDecoder(encoding, { fatal });
  for await (const piece of createReadStream(file, { highWaterMark: pieceBytes })) {
    yield decoder.decode(piece, { stream: true });
  }
  yield decoder.decode();
}

async function isUtf8(file: string): Promise<boolean> {
  try {
    const pieces = textOfFile(file, 'utf-8', true);
    while ((await pieces.next()).done !== true);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Whether what is beyond ASCII is more often a character of UTF-8 than a byte that is none. */
async function isMostlyUtf8(file: string): Promise<boolean> {
  let balance = 0;
  for await (const text of textOfFile(file, 'utf-8')) {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code >= 0x80) balance += code === 0xfffd ? -1 : 1;
    }
  }
  return balance > 0;
}

/** A file that says UTF-8 and is not, or UTF-16, in which this could not have been read, tells nothing; nor does a name that is none. */
function namesAnother(label: string): boolean {
  try {
    return !new TextDecoder(label).encoding.startsWith('utf-');
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
