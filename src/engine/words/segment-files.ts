/**
 * The sparse index's folder: immutable files `<id>.segment` (segment.ts), named by the manifest with documents, bytes
 * and SHA-256. Chunks of a file that fails a check are indexed again from the text. One owner, one call at a time.
 */
import { z } from 'zod';
import { errorMessage } from '../../domain/errors.ts';
import type { SharedPool } from '../../threads/thread-pool.ts';
import { fileFacts, indexFolder } from '../index-folder.ts';
import type { IndexLog } from '../index-log.ts';
import { openSegment, type Segment, type SegmentMember } from './segment.ts';

export type SegmentTasks = typeof import('./segment-tasks.ts');

const segmentName = /^\d+\.segment$/;
const segmentEntry = z.strictObject({ file: z.string().regex(segmentName), docs: z.int().min(0), ...fileFacts });
export const segmentManifest = z.strictObject({
  format: z.literal(1),
  store_id: z.string(),
  generation: z.int().min(1),
  segments: z.array(segmentEntry),
});
type Manifest = z.infer<typeof segmentManifest>;
type SegmentEntry = z.infer<typeof segmentEntry>;

/** An id is not reused while its file may exist. */
type StoredSegment = Pick<SegmentMember, 'id' | 'segment'>;

export interface SegmentFilesOptions {
  dir: string;
  storeId: string;
  worker: SharedPool<SegmentTasks>;
  log: IndexLog;
  /** Called before files become valid, so that the mark covers their labels. */
  noteLabels?: () => Promise<void>;
}

export type SegmentFiles = ReturnType<typeof segmentFiles>;

export function segmentFiles({ dir, storeId, worker, log, noteLabels }: SegmentFilesOptions) {
  const folder = indexFolder<Manifest>({
    dir,
    manifest: segmentManifest,
    ours: segmentName,
    filesOf: ({ segments }) => segments.map(({ file }) => file),
    foreign: ({ store_id }) => (store_id === storeId ? null : 'of another store'),
    told: ([file], reason) => log.warn({ file, reason }, 'sparse index: file set aside, indexing its chunks again'),
    noteLabels,
  });
  let saved = new Map<number, SegmentEntry>();
  let generation = 0;
  let lost = false;

  const write = async ({ id, segment }: StoredSegment): Promise<SegmentEntry> => {
    const file = `${id}.segment`;
    const path = folder.temporary(file);
    const sha256 = await worker.run('writeSegment', { path, segment: segment.buffer });
    return { file, docs: segment.docs, bytes: await folder.keep(path, file), sha256 };
  };

  const read = async (entry: SegmentEntry): Promise<Segment | undefined> => {
    try {
      const found = await worker.run('readSegment', folder.path(entry.file));
      if (found.segment.byteLength !== entry.bytes) throw new Error('its size differs from the manifest');
      if (found.sha256 !== entry.sha256) throw new Error('its checksum differs from the manifest');
      const segment = openSegment(found.segment);
      if (segment.docs !== entry.docs) throw new Error('its number of documents differs from the manifest');
      return segment;
    } catch (error) {
      lost = true;
      await folder.setAside([entry.file], errorMessage(error));
      return undefined;
    }
  };

  return {
    generation: () => generation,
    /** Whether `load` found no manifest, or set a file aside. */
    lost: () => lost,
    /** The segments that pass every check. Errors: only if the folder cannot be created or listed. */
    async load(): Promise<StoredSegment[]> {
      const manifest = await folder.read();
      lost = manifest === null;
      generation = manifest?.generation ?? 0;
      const stored: StoredSegment[] = [];
      for (const entry of manifest?.segments ?? []) {
        const id = Number.parseInt(entry.file, 10);
        const segment = await read(entry);
        if (segment === undefined || saved.has(id)) continue;
        saved.set(id, entry);
        stored.push({ id, segment });
      }
      await folder.sweep(manifest, { isSaved: false });
      return stored;
    },
    /**
     * Makes the folder contain exactly these segments: writes new ones, then the manifest, then deletes the rest.
     * Errors: file system errors; the folder then loads in its old state, and the next save retries.
     */
    async save(segments: readonly StoredSegment[]): Promise<void> {
      const entries = new Map<number, SegmentEntry>();
      const manifest = await folder.replace(async () => {
        for (const stored of segments) entries.set(stored.id, saved.get(stored.id) ?? (await write(stored)));
        return { format: 1, store_id: storeId, generation: generation + 1, segments: [...entries.values()] };
      });
      generation = manifest.generation;
      saved = entries;
      await folder.sweep(manifest, { isSaved: true });
    },
  };
}
