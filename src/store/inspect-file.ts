/**
 * What can be told of a store's file before LMDB maps it: LMDB trusts what it finds, and a file that is no store ends the process without a
 * word. Reads two pages. Damage further inside is not looked for here: that is for a process of its own (look-apart.ts).
 *
 * Layout (lmdb 0.9.90 of the package `lmdb`, 64 bits, little-endian): pages 0 and 1 each name a state of the store; behind a page's header
 * of 24 bytes are magic, version, address, size of the map, two databases of 48 bytes (the first has the page size as its first field; the
 * last field is the number of the root page), the last page, the number of the commit.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

const MAGIC = 0xbeefc0de;
const at = { magic: 24, pageSize: 48, roots: [88, 136], commit: 152 } as const;
const metaBytes = 160;
const noPage = 0xffff_ffff_ffff_ffffn;

/**
 * Why the file in the store's folder cannot be opened; null where it can, or where there was never a store.
 * `indexDir`: holds index files only of a store that was there once.
 */
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

/** Whether the file has begun to be a store: one that another process is just making is empty at first. */
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

/** The beginning of a page that names a state; null where it is none. */
function stateAt(file: number, offset: number): Buffer | null {
  const state = Buffer.alloc(metaBytes);
  const read = readSync(file, state, 0, metaBytes, offset);
  return read === metaBytes && state.readUInt32LE(at.magic) === MAGIC ? state : null;
}
