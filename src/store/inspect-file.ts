/**
 * Checks a store's file before LMDB maps it: LMDB trusts the content, and an invalid file ends the process. Reads two pages;
 * look-apart.ts detects damage further inside.
 *
 * Layout (lmdb 0.9.90 of the package `lmdb`, 64 bits, little-endian): pages 0 and 1 are meta pages; after a page header of 24 bytes
 * follow magic, version, address, map size, two databases of 48 bytes (the first field of the first is the page size; the last field is
 * the root page number), last page, transaction number.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

const MAGIC = 0xbeefc0de;
const at = { magic: 24, pageSize: 48, roots: [88, 136], commit: 152 } as const;
const metaBytes = 160;
const noPage = 0xffff_ffff_ffff_ffffn;

/** Why the store's file cannot be opened; null if it can or no store ever existed. `indexDir`: contains index files only if a store existed. */
export function faultOfStoreFile(path: string, indexDir: string): string | null {
  const dataFile = join(path, 'data.mdb');
  const isThere = existsSync(dataFile);
  const file = isThere ? openSync(dataFile, 'r') : null;
  try {
    const bytes = file === null ? 0 : fstatSync(file).size;
    if (file === null || bytes === 0) {
      const wasThere = existsSync(join(indexDir, 'sparse', 'manifest.json'));
      return wasThere ? `it is ${isThere ? 'empty' : 'missing'}, and there are index files of it` : null;
    }
    return faultOfStates(file);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** A file that another process is creating is empty at first. */
export function isBegun(dataFile: string): boolean {
  const file = openSync(dataFile, 'r');
  try {
    const first = stateAt(file, 0);
    return first !== null && stateAt(file, first.readUInt32LE(at.pageSize)) !== null;
  } finally {
    closeSync(file);
  }
}

function faultOfStates(file: number): string | null {
  const first = stateAt(file, 0);
  if (first === null) return 'it is no store, or its beginning is damaged';
  const pageSize = first.readUInt32LE(at.pageSize);
  const second = stateAt(file, pageSize);
  if (second === null) return 'its beginning is damaged';
  const isNewer = second.readBigUInt64LE(at.commit) > first.readBigUInt64LE(at.commit);
  const latest = isNewer ? second : first;
  const bytes = fstatSync(file).size; // asked for last: a process that writes meanwhile makes the file longer before it names a new state
  for (const place of at.roots) {
    const root = latest.readBigUInt64LE(place);
    if (root !== noPage && (root + 1n) * BigInt(pageSize) > BigInt(bytes))
      return `it ends after ${bytes} bytes, too early`;
  }
  return null;
}

function stateAt(file: number, offset: number): Buffer | null {
  const state = Buffer.alloc(metaBytes);
  const read = readSync(file, state, 0, metaBytes, offset);
  return read === metaBytes && state.readUInt32LE(at.magic) === MAGIC ? state : null;
}
