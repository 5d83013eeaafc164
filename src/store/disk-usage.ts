import { lstat, readdir, statfs } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type DiskPart, type DiskResponse, diskParts } from '../domain/admin.ts';
import { nullIfMissing } from '../domain/errors.ts';

const folders: readonly (readonly [string, DiskPart])[] = [
  ['store', 'store'],
  [join('index', 'sparse'), 'words'],
  [join('index', 'dense'), 'passage_vectors'],
  [join('index', 'pages'), 'page_vectors'],
];
const blockBytes = 512;

/** Counts blocks, because files may be sparse. A file deleted meanwhile counts as 0. */
export async function diskUsage(dir: string): Promise<Pick<DiskResponse, 'parts' | 'free_bytes' | 'disk_bytes'>> {
  const bytes = new Map<DiskPart, number>(diskParts.map((part) => [part, 0]));
  for (const file of await readdir(dir, { recursive: true })) {
    const part = folders.find(([folder]) => file.startsWith(folder + sep))?.[1] ?? 'other';
    bytes.set(part, (bytes.get(part) ?? 0) + (await bytesOf(join(dir, file))));
  }
  const { bavail, blocks, bsize } = await statfs(dir);
  return {
    parts: diskParts.map((part) => ({ part, bytes: bytes.get(part) ?? 0 })),
    free_bytes: bavail * bsize,
    disk_bytes: blocks * bsize,
  };
}

async function bytesOf(path: string): Promise<number> {
  const { blocks } = (await lstat(path).catch(nullIfMissing)) ?? { blocks: 0 };
  return blocks * blockBytes;
}
