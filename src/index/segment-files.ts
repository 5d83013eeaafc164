/**
 * The sparse index's folder: one file per segment, and a manifest that names those which count.
 *
 *   manifest.json   format, store id, generation, and of each segment its file, documents, bytes and SHA-256
 *   <id>.segment    the bytes of a segment (compute/bm25/segment.ts); never changed once the manifest names it
 *   *.new           being written; *.bad: set aside because it failed a check
 *
 * A file counts when the manifest names it and size, checksum, format, word vectors and number of documents agree. Anything else is set
 * aside with a log line and never stops a start: the folder is a cache, and what it lacks is indexed again from the text.
 * Files set aside go with the next save, for they may hold text that was forgotten since. One owner, one call at a time.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { openSegment, type Segment } from '../compute/bm25/segment.ts';
import { errorCode } from '../domain/error-code.ts';
import { errorMessage } from '../domain/error-message.ts';
import { replaceFile, replaceText, TEMPORARY_SUFFIX } from '../files/durable-file.ts';
import type { SharedPool } from '../threads/thread-pool.ts';
import type { IndexLog } from './index-log.ts';
import { quarantine } from './quarantine.ts';

/** The tasks of the work thread that segments need; the pool may have others. */
export type SegmentTasks = typeof import('../threads/segment-tasks.ts');

const MANIFEST = 'manifest.json';
const BAD_SUFFIX = '.bad';
const segmentEntry = z.strictObject({
  file: z.string().regex(/^\d+\.segment$/),
  docs: z.int().min(0),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
const manifestSchema = z.strictObject({
  format: z.literal(1),
  store_id: z.string(),
  generation: z.int().min(1),
  segments: z.array(segmentEntry),
});
type Manifest = z.infer<typeof manifestSchema>;
type SegmentEntry = z.infer<typeof segmentEntry>;

/** A segment of the index, whose id is never used twice while its file may exist. */
export interface StoredSegment {
  readonly id: number;
  readonly segment: Segment;
}

export interface SegmentFilesOptions {
  dir: string;
  /** Identity of the store whose labels the segments hold. */
  storeId: string;
  worker: SharedPool<SegmentTasks>;
  log: IndexLog;
  /** Fingerprint of the word vectors that forward indexes must have; without it, a segment may have any or none. */
  vocabulary?: number | undefined;
  /** Called before files become valid, with whatever labels were added until then. */
  noteLabels?: () => Promise<void>;
}

export class SegmentFiles {
  readonly #options: SegmentFilesOptions;
  /** What the manifest on disk says of each segment id. */
  #saved = new Map<number, SegmentEntry>();
  #generation = 0;
  #lost = false;

  constructor(options: SegmentFilesOptions) {
    this.#options = options;
  }

  /** Number of the last manifest read or written; 0 before the first. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether `load` found no manifest, or a file or manifest that does not count and is set aside. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The segments that pass every check. Errors: only if the folder cannot be made or listed. */
  async load(): Promise<StoredSegment[]> {
    const { dir } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const manifest = await this.#readManifest();
    if (manifest === undefined) {
      this.#lost = true;
      for (const file of await readdir(dir)) if (file.endsWith('.segment')) await this.#setAside(file, 'no manifest');
    }
    this.#generation = manifest?.generation ?? 0;
    const stored: StoredSegment[] = [];
    for (const entry of manifest?.segments ?? []) {
      const id = Number.parseInt(entry.file, 10);
      const segment = await this.#readSegment(entry);
      if (segment === undefined || this.#saved.has(id)) continue;
      this.#saved.set(id, entry);
      stored.push({ id, segment });
    }
    await this.#deleteOthers((file) => file.endsWith(BAD_SUFFIX));
    return stored;
  }

  /**
   * Make the folder hold these segments and no others: new ones are written, then the manifest, then the rest is deleted.
   * Errors: those of the file system; the folder then loads as what it was, and the next save tries again.
   */
  async save(segments: readonly StoredSegment[]): Promise<void> {
    const { dir, storeId, worker, noteLabels } = this.#options;
    const entries = new Map<number, SegmentEntry>();
    for (const { id, segment } of segments) {
      const file = `${id}.segment`;
      const entry = this.#saved.get(id) ?? {
        file,
        docs: segment.docs,
        bytes: segment.buffer.byteLength,
        sha256: await replaceFile(join(dir, file), (path) =>
          worker.run('writeSegment', { path, segment: segment.buffer }),
        ),
      };
      entries.set(id, entry);
    }
    const manifest: Manifest = {
      format: 1,
      store_id: storeId,
      generation: this.#generation + 1,
      segments: [...entries.values()],
    };
    await noteLabels?.();
    await replaceText(join(dir, MANIFEST), JSON.stringify(manifest, null, 1));
    this.#generation = manifest.generation;
    this.#saved = entries;
    await this.#deleteOthers(() => false);
  }

  async #readManifest(): Promise<Manifest | undefined> {
    const { dir, storeId } = this.#options;
    try {
      const manifest = manifestSchema.parse(JSON.parse(await readFile(join(dir, MANIFEST), 'utf8')));
      if (manifest.store_id === storeId) return manifest;
      await this.#setAside(MANIFEST, 'of another store');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') await this.#setAside(MANIFEST, 'not a manifest that can be read');
    }
    return undefined;
  }

  async #readSegment(entry: SegmentEntry): Promise<Segment | undefined> {
    const { dir, worker } = this.#options;
    try {
      const read = await worker.run('readSegment', join(dir, entry.file));
      if (read.segment.byteLength !== entry.bytes) throw new Error('its size is not the manifest’s');
      if (read.sha256 !== entry.sha256) throw new Error('its checksum is not the manifest’s');
      const segment = openSegment(read.segment);
      const { vocabulary = segment.vocabulary } = this.#options;
      if (segment.vocabulary !== vocabulary) throw new Error('its forward index is of other word vectors');
      if (segment.docs !== entry.docs) throw new Error('its number of documents is not the manifest’s');
      return segment;
    } catch (error) {
      await this.#setAside(entry.file, errorMessage(error));
      return undefined;
    }
  }

  async #setAside(file: string, reason: string): Promise<void> {
    const { dir, log } = this.#options;
    this.#lost = true;
    log.warn({ file, reason }, 'sparse index: file set aside, its chunks are indexed again');
    await quarantine(join(dir, file), join(dir, file + BAD_SUFFIX));
  }

  /** Delete the files of ours that the manifest does not name, except those to keep. */
  async #deleteOthers(keep: (file: string) => boolean): Promise<void> {
    const { dir } = this.#options;
    const named = new Set([MANIFEST, ...[...this.#saved.values()].map(({ file }) => file)]);
    for (const file of await readdir(dir)) {
      const ours = file.endsWith('.segment') || file.endsWith(BAD_SUFFIX) || file.endsWith(TEMPORARY_SUFFIX);
      if (ours && !named.has(file) && !keep(file)) await rm(join(dir, file), { recursive: true, force: true });
    }
  }
}
