/**
 * A vector space's files and how far they lag. Files change by whole generations: one save at a time; a failed one leaves the old
 * generation valid.
 *
 *   <generation>.rows    every row (row-tasks.ts)
 */
import { rm } from 'node:fs/promises';
import pLimit from 'p-limit';
import { z } from 'zod';
import { fileFacts, IndexFolder } from '../index-folder.ts';
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
  /** Identity of the store whose labels these are. */
  storeId: string;
  modelId: string;
  dim: number;
  log: IndexLog;
  /** Called before files become valid, so the mark covers their labels. */
  noteLabels?: () => Promise<void>;
}

/** Writes the rows to a new path; returns the SHA-256 in hex. */
export type WriteRows = (path: string) => Promise<string>;

export class SpaceFiles {
  readonly adopted: boolean;
  readonly #options: SpaceFilesOptions;
  readonly #folder: IndexFolder<z.infer<typeof spaceManifest>>;
  /** Adds, removals and compactions, and how many of these are saved. */
  #changes = 0;
  #saved = 0;
  #manifest: SpaceManifest;
  #rowsLost = false;
  readonly #saves = pLimit(1);

  private constructor(
    options: SpaceFilesOptions,
    folder: IndexFolder<z.infer<typeof spaceManifest>>,
    manifest: SpaceManifest | null,
  ) {
    const { storeId, modelId, dim } = options;
    this.#options = options;
    this.#folder = folder;
    this.adopted = manifest !== null;
    this.#manifest = manifest ?? { format: 4, generation: 0, store_id: storeId, model_id: modelId, dim, rows: null };
  }

  /** Read the folder's manifest, creating the folder. A foreign one is set aside. Errors: of the folder. */
  static async open(options: SpaceFilesOptions): Promise<SpaceFiles> {
    const { dir, modelId, log, noteLabels } = options;
    const folder = new IndexFolder({
      dir,
      manifest: spaceManifest,
      ours: /^(\d+\.rows|shard-\d+(\.\d+)?\.(rows|graph(\.\d+)?))$/, // earlier versions had shards and graphs
      filesOf: (found) => (found.format === 4 && found.rows !== null ? [found.rows.name] : []),
      foreign: (found) => foreignness(found, options),
      told: (files, reason) => log.warn({ model: modelId, files, reason }, 'vector space: files set aside'),
      noteLabels,
    });
    return new SpaceFiles(options, folder, (await folder.read()) as SpaceManifest | null);
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
    return this.#changes - this.#saved;
  }

  changed(count = 1): void {
    this.#changes += count;
  }

  get rows(): FileToLoad | null {
    const { rows } = this.#manifest;
    return rows && { ...rows, path: this.#folder.path(rows.name) };
  }

  /** Set the file aside: it cannot be loaded. */
  async refuse(fault: string): Promise<void> {
    const { rows } = this.#manifest;
    if (rows !== null) await this.#folder.setAside([rows.name], fault);
    this.#manifest = { ...this.#manifest, rows: null };
    this.changed();
    this.#rowsLost = true;
  }

  /** Write a first manifest, so that a missing one means a loss. */
  async begin(): Promise<void> {
    await this.#folder.replace(async () => this.#manifest);
    await this.#folder.sweep(this.#manifest, { isSaved: true });
  }

  async sweep(): Promise<void> {
    await this.#folder.sweep(this.adopted ? this.#manifest : null, { isSaved: false });
  }

  /** Save the current rows. Errors: those of `write` and the file system; the old files then still load. */
  save(write: WriteRows): Promise<void> {
    return this.#saves(() => this.#writeGeneration(write));
  }

  async settled(): Promise<void> {
    await this.#saves(async () => undefined);
  }

  async drop(): Promise<void> {
    await this.#saves(() => rm(this.#options.dir, { recursive: true, force: true }));
  }

  async #writeGeneration(write: WriteRows): Promise<void> {
    const changes = this.#changes;
    if (this.#manifest.generation > 0 && changes === this.#saved) return;
    const generation = this.#manifest.generation + 1;
    const name = `${generation}.rows`;
    const path = this.#folder.temporary(name);
    this.#manifest = await this.#folder.replace(async () => {
      const sha256 = await write(path);
      return { ...this.#manifest, generation, rows: { name, bytes: await this.#folder.keep(path, name), sha256 } };
    });
    this.#saved = changes;
    await this.#folder.sweep(this.#manifest, { isSaved: true });
  }
}

/** Null if the manifest is this space's. */
function foreignness(found: z.infer<typeof spaceManifest>, options: SpaceFilesOptions): string | null {
  const { storeId, modelId, dim } = options;
  if (found.format !== 4) return 'of an earlier version';
  if (found.store_id !== storeId) return `of another store, ${found.store_id}`;
  if (found.model_id !== modelId) return `of another model, ${found.model_id}`;
  if (found.dim !== dim) return `of ${found.dim} dimensions, not ${dim}`;
  return null;
}
