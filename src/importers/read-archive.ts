/** Reads ZIP archives and gzip without unpacking to disk. Names are only labels, sizes limited, bombs refused. */
import { createReadStream } from 'node:fs';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createInflateRaw } from 'node:zlib';
import { boundedPieces, collected } from '../compute/structures/pieces.ts';
import { ImportError } from './item-parts.ts';

export type Bytes = () => AsyncIterable<Buffer>;

/** Bytes that can be read at any offset. */
export interface Archive {
  size: number;
  read(start: number, end: number): AsyncIterable<Buffer>;
}

export interface ArchiveEntry {
  name: string;
  /** Unpacked size. */
  size: number;
  bytes: Bytes;
}

/** Max compression ratio. A text shrinks to a tenth, a list of equal lines to a hundredth. */
const maxRatio = 200;
const alwaysAllowed = 64 * 2 ** 20;
/** Max bytes of the list of entries: some 500,000 entries. */
const maxDirectoryBytes = 64 * 2 ** 20;
const endBytes = 22 + 65_535;

export const fileArchive = (path: string, size: number): Archive => ({
  size,
  read: (start, end) => (end > start ? createReadStream(path, { start, end: end - 1 }) : Readable.from([])),
});

export const bufferArchive = (bytes: Buffer): Archive => ({
  size: bytes.length,
  read: async function* (start, end) {
    yield bytes.subarray(start, end);
  },
});

/** Errors: ImportError beyond `maxBytes`. */
export async function wholeOf(pieces: AsyncIterable<Buffer>, name: string, maxBytes = alwaysAllowed): Promise<Buffer> {
  const tooLong = () => new ImportError(`${name} has more than ${maxBytes} bytes`);
  return Buffer.concat(await collected(boundedPieces(pieces, maxBytes, tooLong)));
}

/** The files of a ZIP, in its order. Errors: ImportError for a damaged, encrypted or hostile archive. */
export async function archiveEntries(zip: Archive, name: string): Promise<ArchiveEntry[]> {
  const damaged = () => new ImportError(`${name} is a damaged or truncated ZIP archive`);
  const at = async (start: number, length: number) => {
    if (start < 0 || start + length > zip.size) throw damaged();
    return wholeOf(zip.read(start, start + length), name, maxDirectoryBytes + endBytes);
  };
  const tail = await at(Math.max(0, zip.size - endBytes), Math.min(zip.size, endBytes));
  const end = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0 || end + 22 > tail.length) throw damaged();
  let [size, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  const wide = end - 20;
  if (wide >= 0 && tail.toString('latin1', wide, wide + 4) === 'PK\x06\x07') {
    const record = await at(Number(tail.readBigUInt64LE(wide + 8)), 56);
    [size, start] = [Number(record.readBigUInt64LE(40)), Number(record.readBigUInt64LE(48))];
  }
  if (size > maxDirectoryBytes) throw new ImportError(`${name} has too many files`);
  const directory = await at(start, size);
  const entries: ArchiveEntry[] = [];
  for (let from = 0; from + 46 <= directory.length; ) {
    if (directory.readUInt32LE(from) !== 0x02014b50) throw damaged();
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      directory.readUInt16LE(from + offset),
    );
    const [flags, method] = [8, 10].map((offset) => directory.readUInt16LE(from + offset));
    const label = directory.toString('utf8', from + 46, from + 46 + nameLength);
    const extra = directory.subarray(from + 46 + nameLength, from + 46 + nameLength + extraLength);
    const [full, packed, header] = wideValues(
      [24, 20, 42].map((offset) => directory.readUInt32LE(from + offset)),
      extra,
    );
    from += 46 + nameLength + extraLength + commentLength;
    if (/^(?:[\\/]|[a-z]:)|(?:^|[\\/])\.\.(?:[\\/]|$)/i.test(label))
      throw new ImportError(`${name} has a file whose path leaves the archive: ${JSON.stringify(label.slice(0, 100))}`);
    if (/[\\/]$/.test(label)) continue;
    if ((flags & 1) !== 0) throw new ImportError(`${name} is encrypted: unpack it first`);
    const bytes = async function* () {
      const local = await at(header, 30);
      const data = header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
      if (data + packed > zip.size || (method !== 0 && method !== 8)) throw damaged();
      const stored = zip.read(data, data + packed);
      yield* bounded(method === 0 ? stored : through(stored, createInflateRaw()), full, `${name}: ${label}`);
    };
    entries.push({ name: label, size: full, bytes });
    if (entries.length > maxFiles) throw tooManyFiles(name);
  }
  refuseBomb(entries, zip.size, name);
  return entries;
}

export const maxFiles = 200_000;
export const tooManyFiles = (name: string) => new ImportError(`${name} has more than ${maxFiles} files`);

function refuseBomb(entries: readonly ArchiveEntry[], packed: number, name: string): void {
  const unpacked = entries.reduce((sum, { size }) => sum + size, 0);
  if (unpacked > Math.max(alwaysAllowed, packed * maxRatio)) throw tooLarge(name);
}

/** Adds files of archives in the archive, one level deep, with one in memory at a time. `packed`: its size. */
export async function withInnerEntries(entries: readonly ArchiveEntry[], packed: number, name: string) {
  let open: { entry: ArchiveEntry; bytes: Buffer } | null = null;
  const bytesOf = async (entry: ArchiveEntry): Promise<Buffer> => {
    if (open?.entry !== entry) open = { entry, bytes: await wholeOf(entry.bytes(), entry.name) };
    if (open.bytes.length !== entry.size) throw new ImportError(`${entry.name} is a damaged or truncated ZIP archive`);
    return open.bytes;
  };
  const all: ArchiveEntry[] = [];
  for (const entry of entries) {
    if (!/\.zip$/i.test(entry.name)) {
      all.push(entry);
      continue;
    }
    const read: Archive['read'] = async function* (start, end) {
      yield (await bytesOf(entry)).subarray(start, end);
    };
    if (all.length > maxFiles) throw tooManyFiles(name);
    try {
      for (const inner of await archiveEntries({ size: entry.size, read }, entry.name))
        all.push({ ...inner, name: `${entry.name}/${inner.name}` });
    } catch (error) {
      // Fails when this file is read.
      const fail = () => {
        throw error;
      };
      all.push({ ...entry, bytes: fail });
    }
  }
  if (all.length > maxFiles) throw tooManyFiles(name);
  refuseBomb(all, packed, name);
  return all;
}

/** In ZIP64, sizes of 4 GB and more are in the extra field, in this order. */
function wideValues(values: number[], extra: Buffer): number[] {
  let wide: Buffer | null = null;
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
    if (extra.readUInt16LE(at) === 1) wide = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  let next = 0;
  return values.map((value) => {
    if (value !== 0xffffffff || wide === null || next + 8 > wide.length) return value;
    next += 8;
    return Number(wide.readBigUInt64LE(next - 8));
  });
}

export const gunzipped =
  (packed: Bytes, size: number, name: string): Bytes =>
  () =>
    bounded(through(packed(), createGunzip()), Math.max(alwaysAllowed, size * maxRatio), name);

async function* through(packed: AsyncIterable<Buffer>, unpack: Transform): AsyncGenerator<Buffer> {
  yield* pipeline(Readable.from(packed), unpack, () => {}) as AsyncIterable<Buffer>;
}

async function* bounded(pieces: AsyncIterable<Buffer>, maxBytes: number, name: string): AsyncGenerator<Buffer> {
  try {
    yield* boundedPieces(pieces, maxBytes, () => tooLarge(name));
  } catch (cause) {
    if (cause instanceof ImportError) throw cause;
    throw new ImportError(`${name} is damaged: it cannot be unpacked`, { cause });
  }
}

const tooLarge = (name: string) => new ImportError(`${name} unpacks to too many bytes`);
