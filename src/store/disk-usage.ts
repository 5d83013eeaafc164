import { lstatSync } from 'node:fs';
import { readdir, statfs } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type DiskPart, type DiskResponse, diskParts } from '../domain/disk.ts';

const folders: readonly (readonly [string, DiskPart])[] = [
  ['store', 'store'],
  [join('index', 'sparse'), 'words'],
  [join('index', 'dense'), 'passage_vectors'],
  [join('index', 'pages'), 'page_vectors'],
];
/** Bytes per block of `stat`. */
const blockBytes = 512;

const blocksOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0;

/** Counts blocks, as files may be sparse. A file deleted meanwhile counts as 0. */
export async function diskUsage(dir: string): Promise<Pick<DiskResponse, 'parts' | 'free_bytes' | 'disk_bytes'>> {
  const bytes = new Map<DiskPart, number>(diskParts.map((part) => [part, 0]));
  for (const file of await readdir(dir, { recursive: true })) {
    const part = folders.find(([folder]) => file.startsWith(folder + sep))?.[1] ?? 'other';
    bytes.set(part, (bytes.get(part) ?? 0) + blocksOf(join(dir, file)) * blockBytes);
  }
  const { bavail, blocks, bsize } = await statfs(dir);
  return {
    parts: diskParts.map((part) => ({ part, bytes: bytes.get(part) ?? 0 })),
    free_bytes: bavail * bsize,
    disk_bytes: blocks * bsize,
  };
}
