/** Saved pages with their addresses: HTML of SingleFile and browsers, MHTML, and the pages of a WARC. */
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { decodeHTMLAttribute } from 'entities';
import { decodeText } from '../compute/text/decode-text.ts';
import type { ImportItem } from '../domain/import.ts';
import { fromDateText, ImportError, itemOf } from './item-parts.ts';
import { type Bytes, wholeOf } from './read-archive.ts';

/** Comments of SingleFile and of browsers, or the address that the page declares. */
const savedFrom = [
  /<!--\s*Page saved with SingleFile\s+url:\s*(\S+)(?:\s+saved date:\s*([^\n]*))?/i,
  /<!--\s*saved from url=\(\d+\)\s*(\S+)\s*-->/i,
  /<link\s(?=[^<>]*\brel=["']?canonical\b)[^<>]*\bhref=["']?(https?:[^"'\s>]+)/i,
  /<meta\s(?=[^<>]*\bproperty=["']og:url\b)[^<>]*\bcontent=["'](https?:[^"']+)/i,
];

export const isSavedPage = (head: string): boolean => savedFrom.some((pattern) => pattern.test(head));

/** Removes pictures within a page, which would make the request too large. */
const withoutData = (html: string): string =>
  html.replace(/\bdata:[\w.+-]+\/[\w.+-]+[;,][^"'()\s<>]{200,}/gi, 'data:,');

export async function* readSavedPage({
  own,
  head,
  name,
}: PageFile & { head: { text: string } }): AsyncGenerator<ImportItem> {
  const [whole = '', url, date] =
    savedFrom.map((pattern) => pattern.exec(head.text)).find((found) => found !== null) ?? [];
  const isAttribute = !whole.startsWith('<!--');
  yield pageItem(
    isAttribute && url !== undefined ? decodeHTMLAttribute(url) : url,
    date,
    await wholeOf(own.bytes(), name),
  );
}

interface PageFile {
  name: string;
  own: { bytes: Bytes };
}

function pageItem(url: string | undefined, date: string | undefined, bytes: Buffer, type = ''): ImportItem {
  const charset = /charset="?([^";\s]+)/i.exec(type)?.[1] ?? null;
  const body_html = withoutData(decodeText(bytes, charset, true).text);
  return { ...itemOf({ url, at: fromDateText(date?.replace(/\([^()]*\)\s*$/, '')), body_html }), whole_page: true };
}

const mimeHeaders = (text: string): Map<string, string> =>
  new Map(
    text
      .replace(/\r?\n[ \t]+/g, ' ')
      .split(/\r?\n/)
      .map((line) => [line.slice(0, line.indexOf(':')).trim().toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );

export const isMhtml = (head: string): boolean =>
  /^(?:[\w-]+:.*\r?\n(?:[ \t].*\r?\n)*)*Content-Type:\s*multipart\/related/i.test(head);

/** The first page of an MHTML file. Errors: ImportError if it has none. */
export async function* readMhtml({ own, name }: PageFile): AsyncGenerator<ImportItem> {
  const text = (await wholeOf(own.bytes(), name)).toString('latin1');
  const split = (part: string): [Map<string, string>, string] => {
    const end = /\r?\n\r?\n/.exec(part);
    return end === null
      ? [mimeHeaders(part), '']
      : [mimeHeaders(part.slice(0, end.index)), part.slice(end.index + end[0].length)];
  };
  const [head, rest] = split(text);
  const boundary = /boundary="?([^";\r\n]+)/i.exec(head.get('content-type') ?? '')?.[1];
  const parts = (boundary === undefined ? [] : rest.split(`--${boundary}`)).map((part) => split(part.trimStart()));
  const page = parts.find(([headers]) => /^(?:text\/html|application\/xhtml)/i.test(headers.get('content-type') ?? ''));
  if (page === undefined) throw new ImportError(`${name} is cut off, or has no page`);
  const [headers, body] = page;
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  const plain = body
    .replace(/=[ \t]*\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const decoded =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : Buffer.from(encoding === 'quoted-printable' ? plain : body, 'latin1');
  const url = head.get('snapshot-content-location') ?? headers.get('content-location');
  yield pageItem(url, head.get('date'), decoded, headers.get('content-type'));
}

const maxHeadBytes = 2 ** 20;
const maxPageBytes = 64 * 2 ** 20;

/** Pages of a WARC: HTML and PDF answers with status 200. Skips pictures and other parts. */
export async function* readWarc({ own, name }: PageFile): AsyncGenerator<ImportItem> {
  const source = own.bytes()[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await source.next();
    if (next.done === true) return false;
    buffer = buffer.length === 0 ? next.value : Buffer.concat([buffer, next.value]);
    return true;
  };
  const take = async (length: number, isKept: boolean): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      if (buffer.length === 0 && !(await more())) throw new ImportError(`${name} is cut off: it ends within a record`);
      const part = buffer.subarray(0, left);
      if (isKept) parts.push(part);
      left -= part.length;
      buffer = buffer.subarray(part.length);
    }
    return Buffer.concat(parts);
  };
  for (;;) {
    do {
      let blank = 0;
      while (buffer[blank] === 13 || buffer[blank] === 10) blank++;
      buffer = buffer.subarray(blank);
    } while (buffer.length === 0 && (await more()));
    if (buffer.length === 0) return;
    let end = buffer.indexOf('\r\n\r\n');
    while (end < 0 && buffer.length < maxHeadBytes && (await more())) end = buffer.indexOf('\r\n\r\n');
    if (end < 0) throw new ImportError(`${name} is cut off, or no WARC`);
    const headers = mimeHeaders((await take(end + 4, true)).toString('utf8'));
    const length = Number(headers.get('content-length'));
    if (!Number.isSafeInteger(length) || length < 0)
      throw new ImportError(`${name} is no WARC: a record has no length`);
    const type = headers.get('warc-type');
    const isPage = (type === 'response' || type === 'resource') && length <= maxPageBytes;
    const record = await take(length, isPage);
    const url = headers.get('warc-target-uri')?.replace(/^<(.*)>$/, '$1');
    if (!isPage || url === undefined || !/^https?:/i.test(url)) continue;
    const answer = type === 'response' ? answered(record) : { type: headers.get('content-type') ?? '', body: record };
    if (answer === null || !/^(?:text\/html|application\/(?:xhtml|pdf))/i.test(answer.type)) continue;
    if (answer.body === null)
      yield {
        ...itemOf({ url, at: fromDateText(headers.get('warc-date')) }),
        left_out: 'a page that cannot be unpacked',
      };
    else if (!/^application\/pdf/i.test(answer.type))
      yield pageItem(url, headers.get('warc-date'), answer.body, answer.type);
    else yield { ...itemOf({ url, at: fromDateText(headers.get('warc-date')) }), pdf: answer.body };
  }
}

/** The body of an HTTP answer with status 200; null for other answers. The body is null if it cannot be unpacked. */
function answered(record: Buffer): { type: string; body: Buffer | null } | null {
  const end = record.indexOf('\r\n\r\n');
  const head = record.toString('latin1', 0, Math.max(0, end));
  if (!/^HTTP\/\S+ 200\b/.test(head)) return null;
  const headers = mimeHeaders(head);
  const sent = record.subarray(end + 4);
  const chunked = /chunked/i.test(headers.get('transfer-encoding') ?? '') ? withoutChunks(sent) : sent;
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? '';
  const type = headers.get('content-type') ?? '';
  const unpack = encoding.includes('br') ? brotliDecompressSync : /gzip|deflate/.test(encoding) ? unzipSync : null;
  if (chunked === null || isZstd(chunked)) return { type, body: null };
  try {
    return { type, body: unpack === null ? chunked : unpack(chunked, { maxOutputLength: maxPageBytes }) };
  } catch {
    // Many programs store the unpacked body and keep the header.
    return { type, body: isGzip(chunked) || chunked.includes(0) ? null : chunked };
  }
}

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
const isZstd = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE() === 0xfd2fb528;
const maxChunks = 1_000_000;

/** Null above `maxChunks`. */
function withoutChunks(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = end < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (Number.isNaN(size) || size < 0) return at === 0 ? bytes : Buffer.concat(parts);
    if (size === 0) break;
    if (parts.length >= maxChunks) return null;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
