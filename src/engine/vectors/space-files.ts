/** The files of a vector space, `<generation>.rows`, and their lag. If a save fails, the old generation stays valid. */
import { rm } from 'node:fs/promises';
import pLimit from 'p-limit';
import { z } from 'zod';
import { fileFacts, indexFolder } from '../index-folder.ts';
import type { IndexLog } from '../index-log.ts';
import type { FileToLoad } from './row-tasks.ts';

const file = z.strictObject({ name: z.string().regex(/^\d+\.rows$/), ...fileFacts });

const current = z.strictObject({
  format: z.literal(4),
  generation: z.int().min(0),
  store_id: z.string(),
  model_id: z.string(),
  dim: z.int().min(1),
  rows: file.nullable(),
});
type SpaceManifest = z.infer<typeof current>;
export const spaceManifest = z.discriminatedUnion('format', [current, z.object({ format: z.literal([1, 2, 3]) })]);

export interface SpaceFilesOptions {
  dir: string;
  /** Identity of the store to which the labels belong. */
  storeId: string;
  modelId: string;
  dim: number;
  log: IndexLog;
  /** Called before files become valid, so the mark covers their labels. */
  noteLabels?: () => Promise<void>;
}

/** Writes the rows to a new path; returns the SHA-256 in hex. */
export type WriteRows = (path: string) => Promise<string>;

export type SpaceFiles = Awaited<ReturnType<typeof openSpaceFiles>>;

/** Read the folder's manifest; creates the folder. A foreign manifest is set aside. Errors: of the folder. */
export async function openSpaceFiles(options: SpaceFilesOptions) {
  const { dir, storeId, modelId, dim, log, noteLabels } = options;
  const folder = indexFolder({
    dir,
    manifest: spaceManifest,
    ours: /^(\d+\.rows|shard-\d+(\.\d+)?\.(rows|graph(\.\d+)?))$/, // earlier versions had shards and graphs
    filesOf: (found) => (found.format === 4 && found.rows !== null ? [found.rows.name] : []),
    foreign: (found) => foreignness(found, options),
    told: (files, reason) => log.warn({ model: modelId, files, reason }, 'vector space: files set aside'),
    noteLabels,
  });
  const found = (await folder.read()) as SpaceManifest | null;
  const first: SpaceManifest = { format: 4, generation: 0, store_id: storeId, model_id: modelId, dim, rows: null };
  let manifest = found ?? first;
  let rowsLost = false;
  /** Numbers of changes (adds, removals, compactions) in total and saved. */
  let [changes, saved] = [0, 0];
  const saves = pLimit(1);

  return {
    adopted: found !== null,
    /** Number of the valid generation; 0 before the first save. */
    number: () => manifest.generation,
    rowsLost: () => rowsLost,
    unsaved: () => changes - saved,
    changed(count = 1): void {
      changes += count;
    },
    rows: (): FileToLoad | null => manifest.rows && { ...manifest.rows, path: folder.path(manifest.rows.name) },
    /** Set the file aside, because it cannot be loaded. */
    async refuse(fault: string): Promise<void> {
      if (manifest.rows !== null) await folder.setAside([manifest.rows.name], fault);
      manifest = { ...manifest, rows: null };
      changes++;
      rowsLost = true;
    },
    /** Write a first manifest, so that a missing one later shows a loss. */
    async begin(): Promise<void> {
      await folder.replace(async () => manifest);
      await folder.sweep(manifest, { isSaved: true });
    },
    sweep: () => folder.sweep(found === null ? null : manifest, { isSaved: false }),
    /** Saves the rows as the next generation. Errors: those of `write` and the file system; the old files then load. */
    save: (write: WriteRows): Promise<void> =>
      saves(async () => {
        const written = changes;
        if (manifest.generation > 0 && written === saved) return;
        const generation = manifest.generation + 1;
        const name = `${generation}.rows`;
        const path = folder.temporary(name);
        manifest = await folder.replace(async () => {
          const sha256 = await write(path);
          return { ...manifest, generation, rows: { name, bytes: await folder.keep(path, name), sha256 } };
        });
        saved = written;
        await folder.sweep(manifest, { isSaved: true });
      }),
    settled: (): Promise<void> => saves(async () => undefined),
    drop: (): Promise<void> => saves(() => rm(dir, { recursive: true, force: true })),
  };
}

/** Why the manifest belongs to another space; null if it does not. */
function foreignness(found: z.infer<typeof spaceManifest>, options: SpaceFilesOptions): string | null {
  const { storeId, modelId, dim } = options;
  if (found.format !== 4) return 'from an earlier version';
  if (found.store_id !== storeId) return `of another store, ${found.store_id}`;
  if (found.model_id !== modelId) return `of another model, ${found.model_id}`;
  if (found.dim !== dim) return `of ${found.dim} dimensions, not ${dim}`;
  return null;
}
