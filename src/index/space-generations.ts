/**
 * What a vector space has on disk, and how far that is behind: which generation of files is valid, how many changes each shard
 * has seen and how many of them its files have. Files change by whole generations (space-files.ts): one save at a time, a
 * failed one leaves the old generation valid, and shards without changes keep their files.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { graphPathOf } from '../threads/graph-path.ts';
import type { FileToLoad, GraphToLoad } from '../threads/shard-files.ts';
import type { LoadReport, SaveReport } from '../threads/shard-thread.ts';
import type { IndexLog } from './index-log.ts';
import {
  dropQuarantined,
  keepFile,
  readManifest,
  type ShardFiles,
  type SpaceManifest,
  setAside,
  setManifestAside,
  sweep,
  temporaryPath,
  writeManifest,
} from './space-files.ts';

export interface GenerationsOptions {
  /** The space's own folder. */
  dir: string;
  /** Whose vectors the files are to be. */
  storeId: string;
  modelId: string;
  dim: number;
  shards: number;
  log: IndexLog;
  /** Called before files become valid, with whatever labels were added until then. */
  noteLabels?: () => Promise<void>;
}

/** Has a shard write its files to paths that do not exist. */
export type WriteShard = (shard: number, rowsPath: string, graphPath: string) => Promise<SaveReport>;

export class SpaceGenerations {
  /** Whether the folder has a manifest that counts. */
  readonly adopted: boolean;
  readonly #options: GenerationsOptions;
  /** Labels added to and removed from each shard and slices of upkeep, and how many of these its files have. */
  readonly #changes: number[];
  readonly #saved: number[];
  #manifest: SpaceManifest;
  #rowsLost = false;
  readonly #saves = pLimit(1);

  private constructor(options: GenerationsOptions, manifest: SpaceManifest | null) {
    this.#options = options;
    this.adopted = manifest !== null;
    this.#manifest = manifest ?? emptyManifest(options);
    this.#changes = this.#manifest.shards.map(() => 0);
    this.#saved = this.#manifest.shards.map(() => 0);
  }

  /** Read the manifest of the folder, which is made if need be. One that is not this space's is set aside. Errors: of the folder. */
  static async open(options: GenerationsOptions): Promise<SpaceGenerations> {
    const { dir, modelId, log } = options;
    const found = await readManifest(dir);
    if (found === null) return new SpaceGenerations(options, null);
    const fault = typeof found === 'string' ? found : foreignness(found, options);
    if (fault === undefined && typeof found !== 'string') return new SpaceGenerations(options, found);
    log.warn({ model: modelId, dir, fault }, 'vector space: manifest set aside');
    await setManifestAside(dir);
    return new SpaceGenerations(options, null);
  }

  /** Number of the valid generation; 0 before the first save. */
  get number(): number {
    return this.#manifest.generation;
  }

  /** Whether rows that the manifest names could not be loaded. */
  get rowsLost(): boolean {
    return this.#rowsLost;
  }

  /** Changes that are in no file. */
  get unsaved(): number {
    return this.#changes.reduce((total, changes, shard) => total + changes - this.#saved[shard], 0);
  }

  changed(shard: number, count = 1): void {
    this.#changes[shard] += count;
  }

  /** The valid files of a shard. */
  filesOf(shard: number): { rows: FileToLoad | null; graphs: GraphToLoad[] } {
    const { dir } = this.#options;
    const { rows, graphs } = this.#manifest.shards[shard];
    return {
      rows: rows && { ...rows, path: join(dir, rows.name) },
      graphs: graphs.map((graph) => ({ ...graph, path: join(dir, graph.name) })),
    };
  }

  /** Take note of how loading went: files that were refused are set aside. */
  async loaded(shard: number, { rowsFault, graphFault, dropped }: LoadReport): Promise<void> {
    const { dir, modelId, log } = this.#options;
    const { rows, graphs } = this.#manifest.shards[shard];
    this.changed(shard, dropped);
    if (rowsFault === null && graphFault === null) return;
    log.warn({ model: modelId, shard, rowsFault, graphFault }, 'vector space: file set aside');
    if (rows !== null && rowsFault !== null) await setAside(dir, rows.name);
    for (const graph of graphs) await setAside(dir, graph.name);
    this.#manifest.shards[shard] = { rows: rowsFault === null ? rows : null, graphs: [] };
    this.changed(shard);
    if (rowsFault !== null) this.#rowsLost = true;
  }

  /** A new folder: it gets a manifest, so that from then on a missing one is a lost one. */
  async begin(): Promise<void> {
    await writeManifest(this.#options.dir, this.#manifest);
    await sweep(this.#options.dir, this.#manifest);
  }

  /** Delete what a crash left beside the valid files. */
  async sweep(): Promise<void> {
    await sweep(this.#options.dir, this.adopted ? this.#manifest : null);
  }

  /** Make the files agree with the shards as they are now. Errors: those of `write` and the file system; the old files then still load. */
  save(write: WriteShard): Promise<void> {
    return this.#saves(() => this.#writeGeneration(write));
  }

  /** Resolves when no save runs. */
  async settled(): Promise<void> {
    await this.#saves(async () => undefined);
  }

  /** Delete what was set aside. */
  async dropQuarantined(): Promise<void> {
    await dropQuarantined(this.#options.dir);
  }

  /** Delete the folder. */
  async drop(): Promise<void> {
    await this.#saves(() => rm(this.#options.dir, { recursive: true, force: true }));
  }

  async #writeGeneration(write: WriteShard): Promise<void> {
    const { dir, noteLabels } = this.#options;
    const first = this.#manifest.generation === 0;
    const generation = this.#manifest.generation + 1;
    const changes = [...this.#changes];
    const stale = [...changes.keys()].filter((shard) => first || changes[shard] !== this.#saved[shard]);
    if (stale.length === 0) return;
    const shards = [...this.#manifest.shards];
    try {
      for (const shard of stale) {
        shards[shard] = await this.#writeShard(shard, `shard-${shard}.${generation}`, write);
      }
      const manifest = { ...this.#manifest, generation, shards };
      await noteLabels?.();
      await writeManifest(dir, manifest);
      this.#manifest = manifest;
    } catch (error) {
      await sweep(dir, this.#manifest);
      throw error;
    }
    changes.forEach((count, shard) => {
      this.#saved[shard] = count;
    });
    await sweep(dir, this.#manifest);
  }

  async #writeShard(shard: number, stem: string, write: WriteShard): Promise<ShardFiles> {
    const { dir } = this.#options;
    const [rowsName, graphName] = [`${stem}.rows`, `${stem}.graph`];
    const [rowsPath, graphPath] = [temporaryPath(dir, rowsName), temporaryPath(dir, graphName)];
    const saved = await write(shard, rowsPath, graphPath);
    const rows = await keepFile(dir, rowsPath, rowsName, saved.rowsSha256);
    const graphs: ShardFiles['graphs'] = [];
    for (const [number, { sha256, covered }] of saved.graphs.entries()) {
      const [temporary, name] = [graphPathOf(graphPath, number), graphPathOf(graphName, number)];
      graphs.push({ ...(await keepFile(dir, temporary, name, sha256)), covered });
    }
    return { rows, graphs };
  }
}

/** Why a manifest is not this space's; undefined if it is. */
function foreignness(found: SpaceManifest, options: GenerationsOptions): string | undefined {
  const { storeId, modelId, dim, shards } = options;
  if (found.store_id !== storeId) return `of another store, ${found.store_id}`;
  if (found.model_id !== modelId) return `of another model, ${found.model_id}`;
  if (found.dim !== dim) return `of ${found.dim} dimensions, not ${dim}`;
  if (found.shards.length !== shards) return `of ${found.shards.length} shards, not ${shards}`;
  return undefined;
}

function emptyManifest({ storeId, modelId, dim, shards }: GenerationsOptions): SpaceManifest {
  return {
    format: 2,
    generation: 0,
    store_id: storeId,
    model_id: modelId,
    dim,
    space: 'cosine',
    shards: Array.from({ length: shards }, () => ({ rows: null, graphs: [] })),
  };
}
