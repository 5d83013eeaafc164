/**
 * Owner of the sparse index: segments, deletions, the searchers' snapshot and files. No heavy work on the main thread.
 *
 * Life of a segment: `add` → waiting → published, together with others, when `add` resolves → merged with others of its
 * tier into a larger one, which replaces them in one publication → … → a file named by the manifest. Invariants:
 * - State changes between two awaits only. A document is in exactly one of waiting, joining and members; `retiring` are
 *   members replaced by a merge that searchers may still read.
 * - A deletion marks the label everywhere, also in retiring segments, in shared memory: later searches never find it.
 * - A merge uses frozen deletions; later ones are carried over before its result is put in place.
 * - One publication, one merge and one save at a time.
 * - A label deleted before it is added (page forgotten during indexing) is remembered and never becomes live.
 */
import pLimit from 'p-limit';
import { addBit, type Bitmap, bitsNotIn, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { QueueFullError } from '../../threads/thread-pool.ts';
import { IndexClosedError } from '../index-folder.ts';
import type { Searchers } from '../searchers.ts';
import { chooseIdleMerge, chooseMerge, type SegmentSize } from './merge-policy.ts';
import {
  carryDeletions,
  createMember,
  deletedCount,
  deletedLabels,
  deleteLabel,
  freezeDeletions,
  holdsLabel,
  labelSegment,
  MAX_SEGMENT_DOCS,
  openSegment,
  type SegmentMember,
} from './segment.ts';
import { type SegmentFiles, type SegmentFilesOptions, segmentFiles } from './segment-files.ts';

export interface SparseIndexOptions extends SegmentFilesOptions {
  searchers: Searchers;
  /** Max mini segments that wait for publication; more are refused. */
  maxWaiting?: number;
  /** From this number of segments, waiting minis are merged before publication, to keep searches fast. */
  maxSegments?: number;
  /** Number of documents added between two background saves. */
  saveEveryDocs?: number;
}

export type OpenedIndex = Awaited<ReturnType<typeof SparseIndex.open>>;

interface WaitingAdd {
  readonly member: SegmentMember;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SparseIndex {
  readonly #options: Required<Omit<SparseIndexOptions, 'noteLabels'>>;
  readonly #files: SegmentFiles;
  #members: SegmentMember[] = [];
  #retiring: SegmentMember[] = [];
  #waiting: WaitingAdd[] = [];
  #joining: SegmentMember[] = [];
  readonly #deletedAhead = new Set<number>();
  #nextId = 1;
  #docsUnsaved = 0;
  #closing = false;
  #pump: Promise<void> | undefined;
  readonly #publications = pLimit(1);
  readonly #merges = pLimit(1);
  readonly #saves = pLimit(1);
  #mergeAsked = false;

  private constructor(options: SparseIndexOptions) {
    this.#options = { maxWaiting: 1024, maxSegments: 64, saveEveryDocs: 20_000, ...options };
    this.#files = segmentFiles(options);
  }

  /**
   * Load and publish the segments on disk. Documents with a label not in `live` are deleted. A folder without a manifest gets one if
   * nothing is live, so that later a missing one means a loss.
   * `missing`: live labels in no segment, ascending: rebuild from the text and add them. `lost`: files existed and are missing or
   * unusable: more is missing than unsaved changes. `dropped`: dead documents in the files, until a purge.
   * Errors: of the folder (bad files are set aside) and of the searchers.
   */
  static async open(options: SparseIndexOptions, live: Bitmap) {
    const index = new SparseIndex(options);
    const indexed = createBitmap(live.length * 32);
    let dropped = 0;
    for (const { id, segment } of await index.#files.load()) {
      const member = createMember(id, segment);
      for (const label of segment.labels) {
        if (hasBit(live, label) && !hasBit(indexed, label)) addBit(indexed, label);
        else if (deleteLabel(member, label)) dropped++;
      }
      index.#members.push(member);
      index.#nextId = Math.max(index.#nextId, id + 1);
    }
    const fresh = index.#files.lost() && live.every((word) => word === 0);
    if (fresh) await index.#files.save(index.#members);
    await index.#publish();
    index.#mergeSoon();
    return { index, missing: bitsNotIn(live, indexed), lost: index.#files.lost() && !fresh, dropped };
  }

  /**
   * Every searcher finds the segment when this resolves, or none after an error. Live and deleted labels are skipped.
   * Errors: QueueFullError (retry), RangeError for labels that do not ascend or fit, IndexClosedError; of the threads.
   */
  async add(buffer: SharedArrayBuffer, labels: Uint32Array): Promise<void> {
    const { maxWaiting } = this.#options;
    if (this.#closing) throw new IndexClosedError('the sparse index is closing');
    if (this.#waiting.length >= maxWaiting) throw new QueueFullError(`sparse index: ${maxWaiting} segments waiting`);
    const segment = openSegment(buffer);
    labelSegment(segment, labels);
    const member = createMember(this.#nextId++, segment);
    const others = this.#everyMember();
    for (const label of labels) {
      if (this.#deletedAhead.has(label) || others.some((other) => holdsLabel(other, label))) deleteLabel(member, label);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ member, resolve, reject });
      this.#pump ??= this.#runPump();
    });
  }

  /** Searches that begin later do not find them. Unknown labels are remembered. */
  remove(labels: Iterable<number>): void {
    const members = this.#everyMember();
    for (const label of labels) {
      for (const member of this.#retiring) deleteLabel(member, label);
      if (!members.some((member) => deleteLabel(member, label))) this.#deletedAhead.add(label);
    }
    this.#mergeSoon();
  }

  /** Errors: file system errors; the old files then still load. */
  save(): Promise<void> {
    return this.#saves(async () => {
      const docs = this.#docsUnsaved;
      await this.#files.save([...this.#members]);
      this.#docsUnsaved -= docs;
    });
  }

  /** In quiet times: merge small segments, then save. */
  async consolidate(): Promise<void> {
    await this.#merges(() => this.#replace(chooseIdleMerge(this.#sizes())));
    await this.save();
  }

  /** Rewrite segments with deleted documents and save: no term of a deleted chunk stays in memory or on disk. */
  async purge(): Promise<void> {
    const worn = this.#members.filter(({ deletions }) => deletedCount(deletions) > 0).map(({ id }) => id);
    for (const id of worn) await this.#merges(() => this.#replace([id]));
    await this.save();
  }

  /** `bytes`: of the segments' shared memory. */
  stats() {
    const deletions = this.#members.reduce((sum, member) => sum + deletedCount(member.deletions), 0);
    return {
      segments: this.#members.length,
      docs: this.#members.reduce((sum, { segment }) => sum + segment.docs, 0) - deletions,
      deletions,
      bytes: this.#members.reduce((sum, { segment }) => sum + segment.buffer.byteLength, 0),
      waiting: this.#waiting.length,
      generation: this.#files.generation(),
    };
  }

  /** Publish waiting segments, finish running work, save. The pools stay open. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#pump;
    await this.#merges(async () => undefined);
    await this.save();
  }

  async #runPump(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      this.#joining = batch.map(({ member }) => member);
      try {
        await this.#join();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      this.#mergeSoon();
      if (this.#docsUnsaved >= this.#options.saveEveryDocs) {
        this.save().catch((error) => this.#options.log.error({ err: error }, 'sparse index: save failed'));
      }
    }
    this.#pump = undefined;
  }

  /** Make the joining minis members and publish them; undone if that fails. */
  async #join(): Promise<void> {
    let joined = this.#joining;
    try {
      const docs = joined.reduce((sum, { segment }) => sum + segment.docs, 0);
      const crowded = this.#members.length + joined.length > this.#options.maxSegments;
      if (crowded && joined.length > 1 && docs <= MAX_SEGMENT_DOCS) {
        await this.#merge(joined, (merged) => {
          this.#joining = [merged];
        });
      }
      joined = this.#joining;
      this.#members.push(...joined);
      this.#joining = [];
      await this.#publish();
      this.#docsUnsaved += docs;
      for (const { segment } of joined) for (const label of segment.labels) this.#deletedAhead.delete(label);
    } catch (error) {
      this.#joining = [];
      this.#members = this.#members.filter((member) => !joined.includes(member));
      this.#retiring.push(...joined);
      for (const member of joined) for (const label of deletedLabels(member)) this.#deletedAhead.add(label);
      throw error;
    }
  }

  /** Bring every searcher to the current members. Afterwards nothing reads the segments retired before. */
  #publish(): Promise<void> {
    return this.#publications(async () => {
      const retired = new Set(this.#retiring);
      await this.#options.searchers.publish([...this.#members]);
      this.#retiring = this.#retiring.filter((member) => !retired.has(member));
    });
  }

  #mergeSoon(): void {
    if (this.#mergeAsked || this.#closing) return;
    this.#mergeAsked = true;
    this.#merges(async () => {
      this.#mergeAsked = false;
      for (;;) {
        const ids = this.#closing ? [] : chooseMerge(this.#sizes());
        if (ids.length === 0) return;
        await this.#replace(ids);
      }
    }).catch((error) =>
      this.#options.log.error({ err: error }, 'sparse index: merge failed; trying again after the next change'),
    );
  }

  async #replace(ids: readonly number[]): Promise<void> {
    const inputs = this.#members.filter(({ id }) => ids.includes(id));
    if (inputs.length === 0) return;
    await this.#merge(inputs, (merged) => {
      this.#members = this.#members.filter((member) => !inputs.includes(member));
      if (merged.segment.docs > 0) this.#members.push(merged);
      this.#retiring.push(...inputs);
    });
    await this.#publish();
  }

  /** Merge on the work thread. No await between carrying the last deletion over and using the result. */
  async #merge(inputs: readonly SegmentMember[], putInPlace: (merged: SegmentMember) => void): Promise<void> {
    const frozen = inputs.map(({ deletions }) => freezeDeletions(deletions));
    const buffer = await this.#options.worker.run(
      'mergeSegments',
      inputs.map(({ segment }, i) => ({ segment: segment.buffer, deletions: frozen[i].buffer })),
    );
    const merged = createMember(this.#nextId++, openSegment(buffer));
    inputs.forEach((input, i) => {
      carryDeletions(input, frozen[i], merged);
    });
    putInPlace(merged);
  }

  #everyMember(): SegmentMember[] {
    return [...this.#members, ...this.#joining, ...this.#waiting.map(({ member }) => member)];
  }

  #sizes(): SegmentSize[] {
    return this.#members.map(({ id, segment, deletions }) => ({
      id,
      docs: segment.docs,
      deleted: deletedCount(deletions),
    }));
  }
}
