/** Bookmarks of Safari: a property list of Apple, in XML or binary. Source: CFBinaryPList.c of CoreFoundation. */
import { decodeXML } from 'entities';
import type { ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { fromApple, ImportError, maxEntryChars, type TextFile, textOf, wholeText } from './item-parts.ts';
import { type Bytes, wholeOf } from './read-archive.ts';
import { scanTags } from './read-bookmarks.ts';
import { dialects, type Fields, itemReader, itemsWithin } from './read-entries.ts';

export const isPropertyList = (raw: string): boolean =>
  raw.startsWith('bplist0') || raw.slice(0, 200).includes('<!DOCTYPE plist');
export const leafMark = /<string>WebBookmarkTypeLeaf</g;

interface PropertyListFile extends TextFile {
  /** Without a text if it is binary. */
  head: { text: string };
  own: { bytes: Bytes };
  marks: EntryMarks;
}

const itemOfNode = itemReader(dialects.safari);

export async function* readSafariBookmarks(file: PropertyListFile): AsyncGenerator<ImportItem> {
  const { name, own, marks } = file;
  const isBinary = file.head.text === '';
  const list = isBinary ? binaryList(await wholeOf(own.bytes(), name), name) : await xmlList(file);
  for (const item of itemsWithin(list, itemOfNode)) {
    if (item.url === '') continue;
    marks.reachedNext();
    yield item;
  }
}

const maxDepth = 500;
const tagStart = /<(\/?)(array|data|date|dict|false|integer|key|plist|real|string|true)(?=[\s/>])/gi;

async function xmlList({ text, name }: TextFile): Promise<unknown> {
  const root: unknown[] = [];
  const open: { into: unknown[] | Fields; key: string }[] = [{ into: root, key: '' }];
  let words = '';
  let isWhole = false;
  for await (const part of scanTags([await wholeText(text(), name)], tagStart)) {
    if (typeof part === 'string') {
      words += part;
      continue;
    }
    const { name: tag, isEnd, isEmpty } = part;
    const isContainer = tag === 'array' || tag === 'dict';
    const { into, key } = open[open.length - 1];
    const put = (value: unknown) => (Array.isArray(into) ? into.push(value) : Object.assign(into, { [key]: value }));
    if (tag === 'plist') isWhole = isEnd;
    else if (isContainer && isEnd) open.splice(Math.max(1, open.length - 1));
    else if (isContainer) {
      const inner = tag === 'array' ? [] : Object.create(null);
      put(inner);
      if (!isEmpty) open.push({ into: inner, key: '' });
      if (open.length > maxDepth) throw new ImportError(`${name} is nested too deeply`);
    } else if (tag === 'key') open[open.length - 1].key = decodeXML(words);
    else if (isEnd) put(decodeXML(words));
    words = '';
  }
  if (!isWhole) throw new ImportError(`${name} is cut off: it ends within its list`);
  return root;
}

/** Max characters of all objects. The file stores a shared text once. */
const maxTextChars = 4 * maxEntryChars;

/** Texts, dates (ms since the epoch) and lists; other values are null. Errors: ImportError if damaged. */
function binaryList(bytes: Buffer, name: string): unknown {
  const damaged = (cause?: unknown) => new ImportError(`${name} is a damaged or truncated property list`, { cause });
  const numberAt = (at: number, size: number) =>
    size === 8 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUIntBE(at, size);
  const lists = new Set<number>();
  let elements = 0;
  const texts = new Map<number, string>();
  let chars = 0;
  const textAt = (start: number, end: number, isWide: boolean): string => {
    const text = texts.get(start) ?? decoded(bytes.subarray(start, end), isWide);
    texts.set(start, text);
    chars += text.length;
    if (end > bytes.length || chars > maxTextChars) throw damaged();
    return text;
  };
  try {
    const trailer = bytes.length - 32;
    const [offsetSize, refSize] = [bytes.readUInt8(trailer + 6), bytes.readUInt8(trailer + 7)];
    const [top, table] = [numberAt(trailer + 16, 8), numberAt(trailer + 24, 8)];
    const objectOf = (ref: number, depth: number): unknown => {
      const at = numberAt(table + ref * offsetSize, offsetSize);
      const marker = bytes.readUInt8(at);
      const kind = marker >> 4;
      const isLong = kind > 3 && (marker & 15) === 15;
      const lengthSize = isLong ? 2 ** (bytes.readUInt8(at + 1) & 15) : 0;
      const length = isLong ? numberAt(at + 2, lengthSize) : marker & 15;
      const start = at + 1 + (isLong ? 1 + lengthSize : 0);
      if (kind === 3) return fromApple(bytes.readDoubleBE(start));
      if (kind === 5 || kind === 6) return textAt(start, start + length * (kind - 4), kind === 6);
      if (kind !== 10 && kind !== 13) return null;
      const count = kind === 10 ? length : 2 * length;
      elements += count;
      // A list that contains itself, or is in several others, could be read endlessly.
      if (lists.has(at) || depth > maxDepth || elements * refSize > bytes.length) throw damaged();
      lists.add(at);
      const objects = Array.from({ length: count }, (_, no) =>
        objectOf(numberAt(start + no * refSize, refSize), depth + 1),
      );
      if (kind === 10) return objects;
      return Object.fromEntries(objects.slice(length).map((value, no) => [textOf(objects[no]) ?? '', value]));
    };
    return objectOf(top, 0);
  } catch (error) {
    throw error instanceof RangeError ? damaged(error) : error;
  }
}

/** Latin or big-endian UTF-16. */
const decoded = (bytes: Buffer, isWide: boolean): string =>
  isWide ? Buffer.from(bytes).swap16().toString('utf16le') : bytes.toString('latin1');
