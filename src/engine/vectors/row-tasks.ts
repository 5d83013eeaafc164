/**
 * Work-thread tasks on all rows of a space: their file, and dropping erased ones. The owner chooses paths, fsyncs and
 * renames. A file is loaded only if size and sha256 match the manifest.
 *   8 × u32 header (magic, version, dim, bytes of a row, count) | rows as in memory (vector-rows.ts)
 */

import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { endianness } from 'node:os';
import { addBit, type Bitmap, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { errorMessage } from '../../domain/errors.ts';
import { openedFile, readInto, sha256Of, writePieces } from '../../files/checked-file.ts';
import { NO_LABEL, type SharedRows, VectorRows } from './vector-rows.ts';

const MAGIC = 0x52425652;
/** Earlier versions used several files, without labels in the rows. */
const VERSION = 4;
const HEADER_WORDS = 8;
const PIECE_BYTES = 4 * 2 ** 20;

export interface FileToLoad {
  path: string;
  bytes: number;
  sha256: string;
}

/**
 * Fill empty rows from a file, without labels outside of `keep`. `fault`: why the file is not used, or null; then rows
 * are empty. `dropped`: labels outside of `keep`.
 */
export function loadRows({ shared, file, keep }: { shared: SharedRows; file: FileToLoad; keep: Bitmap }) {
  const rows = new VectorRows(shared);
  const fault = readRows(rows, file);
  const held = createBitmap(keep.length * 32);
  let dropped = 0;
  for (const label of rows.liveLabels()) {
    if (hasBit(keep, label)) addBit(held, label);
    else if (rows.erase(label)) dropped++;
  }
  return { fault, held, dropped };
}

/** Reads a file into empty rows. Returns why it cannot be used, including read errors, or null. */
export function readRows(rows: VectorRows, { path, bytes, sha256 }: FileToLoad): string | null {
  if (endianness() !== 'LE') return 'written on a machine with another byte order';
  try {
    using opened = openedFile(path, 'r');
    const file = opened.descriptor;
    if (fstatSync(file).size !== bytes) return 'another size';
    const header = new Uint32Array(HEADER_WORDS);
    const headerBytes = new Uint8Array(header.buffer);
    if (!readInto(file, headerBytes)) return 'cut short';
    const [magic, version, dim, rowBytes, count] = header;
    if (magic !== MAGIC || version !== VERSION) return 'not a file of rows';
    if (dim !== rows.dim || rowBytes !== rows.rowBytes) return 'another dimension';
    if (header.byteLength + count * rowBytes !== bytes) return 'another count';
    const target = rows.allocate(count);
    if (!readInto(file, target)) return 'cut short';
    if (createHash('sha256').update(headerBytes).update(target).digest('hex') !== sha256) return 'another checksum';
    rows.filled(count);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Write the rows to a new file; returns the SHA-256 in hex. Errors: file system errors. */
export function saveRows({ shared, path }: { shared: SharedRows; path: string }): string {
  const rows = new VectorRows(shared);
  const { count, dim, rowBytes } = rows;
  const step = Math.max(1, Math.floor(PIECE_BYTES / rowBytes));
  function* pieces(): Generator<Uint8Array> {
    yield new Uint8Array(Uint32Array.of(MAGIC, VERSION, dim, rowBytes, count, 0, 0, 0).buffer);
    for (let row = 0; row < count; row += step) yield rows.copy(row, Math.min(count, row + step));
  }
  return writePieces(path, pieces(), 'wx');
}

export async function isIntact({ path, sha256 }: { path: string; sha256: string }): Promise<boolean> {
  return (await sha256Of(path).catch(() => null)) === sha256;
}

/** Copy the live rows to an empty store. The caller must repeat erasures that happen meanwhile. */
export function copyLiveRows({ from, to }: { from: SharedRows; to: SharedRows }): void {
  const source = new VectorRows(from);
  const target = new VectorRows(to);
  const count = source.seen();
  for (let row = 0; row < count; row++) {
    const label = source.labelOf(row);
    if (label !== NO_LABEL) target.appendRow(label, source, row);
  }
}
