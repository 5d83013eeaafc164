/**
 * The text of a feed's bytes: the byte order mark says the encoding, else the `charset` of the answer, else the XML declaration, else
 * it is UTF-8; where that is wrong and nothing was declared, windows-1252. Unknown names count as not declared.
 */

/** A declaration is looked for in so many bytes: junk may stand before it. */
const headBytes = 2048;
const declaration = /<\?xml[^<>]{0,200}?\bencoding\s*=\s*["']\s*([\w.:-]{1,40})/i;
const charset = /\bcharset\s*=\s*(?:["']\s*)?([\w.:-]{1,40})/i;

export function decodeFeed(bytes: Uint8Array, contentType: string | null): string {
  const declared = byMark(bytes) ?? known(charset.exec(contentType ?? '')?.[1]) ?? byDeclaration(bytes);
  if (declared !== null) return new TextDecoder(declared).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The only reason is bytes that are no UTF-8.
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function byMark([a, b, c, d]: Uint8Array): string | null {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && c !== 0 && d === 0)) return 'utf-16le';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0 && d !== 0)) return 'utf-16be';
  return null;
}

/** Whoever can read the declaration byte by byte knows that it is not UTF-16, whatever it says. */
function byDeclaration(bytes: Uint8Array): string | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, headBytes));
  const name = known(declaration.exec(head)?.[1]);
  return name?.startsWith('utf-16') ? 'utf-8' : name;
}

function known(name: string | undefined): string | null {
  if (name === undefined) return null;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    // Its only error is a name that it does not know.
    return null;
  }
}
