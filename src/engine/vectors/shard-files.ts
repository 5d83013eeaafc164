/**
 * A shard's row file, read and written on its thread. The owner chooses paths, fsyncs and renames. A file is loaded only if size and
 * sha256 match the manifest.
 *
 *   8 × u32 header (magic, version, dim, stride, count) | labels u32 × count | inverse f32 × count | count × stride i8
 */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { endianness } from 'node:os';
import { errorMessage } from '../../domain/error-message.ts';
import { VectorRows } from './vector-rows.ts';

const MAGIC = 0x52425652;
/** Rows of versions 1 and 2 are rotated. */
const VERSION = 3;
const HEADER_WORDS = 8;
/** Bytes per read or write. */
const PIECE_BYTES = 16 * 2 ** 20;

export interface FileToLoad {
  path: string;
  bytes: number;
  sha256: string;
}

/** Returns the SHA-256 in hex. Errors: file system errors. */
export function saveRows(rows: VectorRows, path: string): string {
  const { labels, inverse, bytes } = rows.parts();
  const header = Uint32Array.of(MAGIC, VERSION, rows.dim, rows.stride, rows.count, 0, 0, 0);
  const hash = createHash('sha256');
  const file = openSync(path, 'wx', 0o600);
  try {
    for (const part of [header, labels, inverse, bytes]) {
      const whole = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      hash.update(whole);
      for (let at = 0; at < whole.length; ) at += writeSync(file, whole, at, Math.min(PIECE_BYTES, whole.length - at));
    }
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}

/** The rows of a file, or its fault. */
export function loadRows(dim: number, { path, bytes, sha256 }: FileToLoad): VectorRows | string {
  if (endianness() !== 'LE') return 'written on a machine of another byte order';
  return readingFile(path, (file) => {
    if (fstatSync(file).size !== bytes) return 'another size';
    const hash = createHash('sha256');
    const header = new Uint32Array(HEADER_WORDS);
    if (!readPart(file, header, hash)) return 'cut short';
    const rows = new VectorRows(dim);
    const [magic, version, storedDim, stride, count] = header;
    if (magic !== MAGIC || version !== VERSION) return 'no file of rows';
    if (storedDim !== dim || stride !== rows.stride) return 'another dimension';
    if (header.byteLength + count * (8 + stride) !== bytes) return 'another count';
    const parts = rows.allocate(count);
    for (const part of [parts.labels, parts.inverse, parts.bytes]) if (!readPart(file, part, hash)) return 'cut short';
    if (hash.digest('hex') !== sha256) return 'another checksum';
    rows.filled();
    return rows;
  });
}

/** Returns a read error as a fault. */
function readingFile<Result>(path: string, read: (file: number) => Result): Result | string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return read(file);
  } catch (error) {
    return errorMessage(error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readPart(file: number, part: Uint32Array | Float32Array | Int8Array, hash: Hash): boolean {
  const whole = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  for (let at = 0; at < whole.length; ) {
    const read = readSync(file, whole, at, Math.min(PIECE_BYTES, whole.length - at), null);
    if (read === 0) return false;
    hash.update(whole.subarray(at, at + read));
    at += read;
  }
  return true;
}
