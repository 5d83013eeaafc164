/**
 * A vector space's files and how far they lag: the valid generation, and per shard the number of changes seen and saved. Files change by
 * whole generations: one save at a time; a failed one leaves the old generation valid; unchanged shards keep their files.
 *
 *   shard-<n>.<generation>.rows
 */
import { rm } from 'node:fs/promises';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { LoadReport } from '../../threads/shard-thread.ts';
import { fileFacts, IndexFolder } from '../index-folder.ts';
import type { IndexLog } from '../index-log.ts';
import type { FileToLoad } from './shard-files.ts';

const file = z.strictObject({ name: z.string().regex(/^shard-\d+\.\d+\.rows$/), ...fileFacts });

/** Null rows: never saved. Formats 1 and 2 also name graphs, no longer used. */
const shardFiles = z.object({ rows: file.nullable() });

export const spaceManifest = z.strictObject({
  format: z.literal([1, 2, 3]).transform((): 3 => 3),
  generation: z.int().min(0),
  store_id: z.string(),
  model_id: z.string(),
  dim: z.int().min(1),
  space: z.literal('cosine'),
  /** A label is in shard `label % shards.length`. */
  shards: z.array(shardFiles),
});
type SpaceManifest = z.infer<typeof spaceManifest>;

export interface SpaceFilesOptions {
  dir: string;
  storeId: string;
  modelId: string;
  dim: number;
  shards: number;
  log: IndexLog;
  /** Called before files become valid, so the mark covers their labels. */
  noteLabels?: () => Promise<void>;
}

/** Makes a shard write its rows to a new path; returns the SHA-256 in hex. */
export type WriteShard = (shard: number, path: string) => Promise<string>;

export class SpaceFiles {
  readonly adopted: boolean;
  readonly #options: SpaceFilesOptions;
  readonly #folder: IndexFolder<SpaceManifest>;
  /** Adds, removals and compactions per shard, and how many of these are saved. */
  readonly #changes: number[];
  readonly #saved: number[];
  #manifest: SpaceManifest;
  #rowsLost = false;
  readonly #saves = pLimit(1);

  private constructor(options: SpaceFilesOptions, folder: IndexFolder<SpaceManifest>, manifest: SpaceManifest | null) {
    this.#options = options;
    this.#folder = folder;
    this.adopted = manifest !== null;
    this.#manifest = manifest ?? emptyManifest(options);
    this.#changes = this.#manifest.shards.map(() => 0);
    this.#saved = this.#manifest.shards.map(() => 0);
  }

  /** Read the folder's manifest, creating the folder. A foreign one is set aside. Errors: of the folder. */
  static async open(options: SpaceFilesOptions): Promise<SpaceFiles> {
    const { dir, modelId, log, noteLabels } = options;
    const folder = new IndexFolder({
      dir,
      manifest: spaceManifest,
      ours: /^shard-\d+(\.\d+)?\.(rows|graph(\.\d+)?)$/, // earlier versions had graphs, and set files aside without their generation
      filesOf: ({ shards }) => shards.flatMap(({ rows }) => (rows === null ? [] : [rows.name])),
      foreign: (found) => foreignness(found, options),
      told: (files, reason) => log.warn({ model: modelId, files, reason }, 'vector space: files set aside'),
      noteLabels,
    });
    return new SpaceFiles(options, folder, await folder.read());
  }

  /** Number of the valid generation; 0 before the first save. */
  get number(): number {
    return this.#manifest.generation;
  }

  /** Whether named rows could not be loaded. */
  get rowsLost(): boolean {
    return this.#rowsLost;
  }

  get unsaved(): number {
    return this.#changes.reduce((total, changes, shard) => total + changes - this.#saved[shard], 0);
  }

  changed(shard: number, count = 1): void {
    this.#changes[shard] += count;
  }

  rowsOf(shard: number): FileToLoad | null {
    const { rows } = this.#manifest.shards[shard];
    return rows && { ...rows, path: this.#folder.path(rows.name) };
  }

  /** Record how loading went; a refused file is set aside. */
  async loaded(shard: number, { fault, dropped }: LoadReport): Promise<void> {
    const { rows } = this.#manifest.shards[shard];
    this.changed(shard, dropped);
    if (fault === null || rows === null) return;
    await this.#folder.setAside([rows.name], fault);
    this.#manifest.shards[shard] = { rows: null };
    this.changed(shard);
    this.#rowsLost = true;
  }

  /** Write a first manifest, so that a missing one means a loss. */
  async begin(): Promise<void> {
    await this.#folder.write(this.#manifest);
    await this.#folder.sweep(this.#manifest, { isSaved: true });
  }

  /** Delete leftovers of a crash. */
  async sweep(): Promise<void> {
    await this.#folder.sweep(this.adopted ? this.#manifest : null, { isSaved: false });
  }

  /** Save the current shards. Errors: those of `write` and the file system; the old files then still load. */
  save(write: WriteShard): Promise<void> {
    return this.#saves(() => this.#writeGeneration(write));
  }

  async settled(): Promise<void> {
    await this.#saves(async () => undefined);
  }

  async drop(): Promise<void> {
    await this.#saves(() => rm(this.#options.dir, { recursive: true, force: true }));
  }

  async #writeGeneration(write: WriteShard): Promise<void> {
    const first = this.#manifest.generation === 0;
    const generation = this.#manifest.generation + 1;
    const changes = [...this.#changes];
    const stale = [...changes.keys()].filter((shard) => first || changes[shard] !== this.#saved[shard]);
    if (stale.length === 0) return;
    const shards = [...this.#manifest.shards];
    try {
      for (const shard of stale) {
        const name = `shard-${shard}.${generation}.rows`;
        const path = this.#folder.temporary(name);
        const sha256 = await write(shard, path);
        shards[shard] = { rows: { name, bytes: await this.#folder.keep(path, name), sha256 } };
      }
      const manifest = { ...this.#manifest, generation, shards };
      await this.#folder.write(manifest);
      this.#manifest = manifest;
    } catch (error) {
      await this.#folder.sweepFailed();
      throw error;
    }
    changes.forEach((count, shard) => {
      this.#saved[shard] = count;
    });
    await this.#folder.sweep(this.#manifest, { isSaved: true });
  }
}

/** Null if the manifest is this space's. */
function foreignness(found: SpaceManifest, options: SpaceFilesOptions): string | null {
  const { storeId, modelId, dim, shards } = options;
  if (found.store_id !== storeId) return `of another store, ${found.store_id}`;
  if (found.model_id !== modelId) return `of another model, ${found.model_id}`;
  if (found.dim !== dim) return `of ${found.dim} dimensions, not ${dim}`;
  if (found.shards.length !== shards) return `of ${found.shards.length} shards, not ${shards}`;
  return null;
}

function emptyManifest({ storeId, modelId, dim, shards }: SpaceFilesOptions): SpaceManifest {
  return {
    format: 3,
    generation: 0,
    store_id: storeId,
    model_id: modelId,
    dim,
    space: 'cosine',
    shards: Array.from({ length: shards }, () => ({ rows: null })),
  };
}
