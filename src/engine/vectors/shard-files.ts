/**
 * A shard's file of rows, written and read on its thread. Only paths that the owner hands over are touched; fsync, rename and the manifest are the
 * owner's. A file is loaded only if size and sha256 are what the manifest says.
 *
 *   8 × u32 header (magic, version, dim, stride, count) | labels u32 × count | inverse f32 × count | count × stride i8
 */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { endianness } from 'node:os';
import { errorMessage } from '../../domain/error-message.ts';
import { VectorRows } from './vector-rows.ts';

const MAGIC = 0x52425652;
/** 2: rows of 64 dimensions and more are rotated; before, of 512. */
const VERSION = 2;
const HEADER_WORDS = 8;
/** Bytes given to one read or write. */
const PIECE_BYTES = 16 * 2 ** 20;

export interface FileToLoad {
  path: string;
  bytes: number;
  sha256: string;
}

/** Write the rows; gives the SHA-256 of what was written, in hex. Errors: those of the file system (full, not there). */
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

/** The rows of a file, or what is wrong with it. */
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

/** A file that cannot be opened or read is a fault of the file, told in its words. */
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
