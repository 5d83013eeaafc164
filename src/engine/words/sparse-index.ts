/**
 * The owner of the sparse index: which segments there are, what is deleted in them, which snapshot the searchers hold, and
 * what is on disk. It runs on the main thread and does no heavy work there: searching is the searchers', merging and file
 * contents are the work thread's.
 *
 * Life of a segment: `add` takes a mini segment that a thread has built → waiting → published, and with that searchable,
 * which is when `add` resolves → merged with others of its tier into a larger one, which takes their place in one
 * publication → … → a file, named by the manifest. Minis that wait together go out in one publication.
 *
 * What keeps this free of races:
 * - State changes between two awaits only. The lists below are the state: a document is in exactly one of waiting, joining
 *   and members; `retiring` are members that a merge has replaced and that searchers may still be reading.
 * - A deletion marks the label wherever it is, retiring segments included, so no search that starts afterwards finds it.
 *   Deletions are shared memory: it needs no publication.
 * - A merge works on frozen deletions; those that arrived meanwhile are carried over before its result takes its place.
 * - One publication at a time, one merge at a time, one save at a time.
 * - A label deleted before it is added (a page forgotten while it was being indexed) is remembered and never becomes live.
 */
import pLimit from 'p-limit';
import { addBit, type Bitmap, bitsNotIn, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { QueueFullError, type SharedPool } from '../../threads/thread-pool.ts';
import type { IndexLog } from '../index-log.ts';
import { type SearcherPool, Searchers } from '../searchers.ts';
import { deletedCount } from './deletions.ts';
import { chooseIdleMerge, chooseMerge, type SegmentSize } from './merge-policy.ts';
import { labelSegment, MAX_SEGMENT_DOCS, openSegment } from './segment.ts';
import { SegmentFiles, type SegmentTasks } from './segment-files.ts';
import {
  carryDeletions,
  createMember,
  deletedLabels,
  deleteLabel,
  freezeDeletions,
  holdsLabel,
  type SegmentMember,
} from './segment-members.ts';

export interface SparseIndexOptions {
  dir: string;
  storeId: string;
  /** Pools of one pinned thread each. */
  searchers: readonly SearcherPool[];
  /** Names this index on the searchers, which may hold several. */
  namespace: string;
  worker: SharedPool<SegmentTasks>;
  log: IndexLog;
  /** Minis that may wait for publication; more are refused. */
  maxWaiting?: number;
  /** Segments at which minis that wait are merged before they are published, so that searches stay fast under a flood. */
  maxSegments?: number;
  /** Documents added between two saves in the background. */
  saveEveryDocs?: number;
  /** Fingerprint of the word vectors of the segments' forward indexes; without it, a segment may have any or none. */
  vocabulary?: number | undefined;
  /** Called before files become valid, with whatever labels were added until then. */
  noteLabels?: () => Promise<void>;
}

export interface SparseIndexStats {
  segments: number;
  /** Live documents. */
  docs: number;
  deletions: number;
  /** Of the segments' shared memory. */
  bytes: number;
  waiting: number;
  generation: number;
}

export interface OpenedIndex {
  index: SparseIndex;
  /** Live labels that no segment holds, ascending: to be built again from the text and added. */
  missing: Uint32Array;
  /** Files were there once and are not, or cannot be used: more is missing than was not saved yet. */
  lost: boolean;
  /** Documents of the files that are not live: their terms stay there until a purge. */
  dropped: number;
}

/** The index is closing and takes nothing more. */
export class IndexClosedError extends Error {
  readonly code = 'index_closed';
  readonly retryable = false;
}

interface WaitingAdd {
  readonly member: SegmentMember;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SparseIndex {
  /** Who is asked what the index holds. */
  readonly searchers: Searchers;
  readonly #options: Required<Omit<SparseIndexOptions, 'vocabulary' | 'noteLabels'>>;
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
    this.#files = new SegmentFiles(options);
    this.searchers = new Searchers(options.searchers, options.namespace, () => this.#publish(), options.log);
  }

  /**
   * Load the segments on disk and publish them. Documents whose label is not in `live` are deleted.
   * A folder without a manifest gets one if there is nothing live, so that from then on a missing one is a lost one.
   * Errors: of the folder (not of files in it, these are set aside) and of the searchers.
   */
  static async open(options: SparseIndexOptions, live: Bitmap): Promise<OpenedIndex> {
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
    const fresh = index.#files.lost && live.every((word) => word === 0);
    if (fresh) await index.#files.save(index.#members);
    await index.#publish();
    index.#mergeSoon();
    return { index, missing: bitsNotIn(live, indexed), lost: index.#files.lost && !fresh, dropped };
  }

  /**
   * Add a segment under its documents' labels; resolves when every searcher finds them. Labels that are live
   * already are not added again, labels deleted before never become live.
   * Errors: QueueFullError when too many wait (try again later), RangeError if the labels do not ascend or fit,
   * IndexClosedError; those of the threads. After an error nothing of the segment is searchable.
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

  /** Delete labels: when this returns, no search that starts afterwards finds them. Unknown ones are remembered. */
  remove(labels: Iterable<number>): void {
    const members = this.#everyMember();
    for (const label of labels) {
      for (const member of this.#retiring) deleteLabel(member, label);
      if (!members.some((member) => deleteLabel(member, label))) this.#deletedAhead.add(label);
    }
    this.#mergeSoon();
  }

  /** Make the files agree with the index as it is now. Errors: those of the file system; the old files then still load. */
  save(): Promise<void> {
    return this.#saves(async () => {
      const docs = this.#docsUnsaved;
      await this.#files.save([...this.#members]);
      this.#docsUnsaved -= docs;
    });
  }

  /** For quiet times: bring small segments together, so that searches and files are few. Then save. */
  async consolidate(): Promise<void> {
    await this.#merges(() => this.#replace(chooseIdleMerge(this.#sizes())));
    await this.save();
  }

  /** Rewrite every segment with deleted documents and save: no term of a deleted chunk is left in memory or on disk. */
  async purge(): Promise<void> {
    const worn = this.#members.filter(({ deletions }) => deletedCount(deletions) > 0).map(({ id }) => id);
    for (const id of worn) await this.#merges(() => this.#replace([id]));
    await this.save();
  }

  stats(): SparseIndexStats {
    const deletions = this.#members.reduce((sum, member) => sum + deletedCount(member.deletions), 0);
    return {
      segments: this.#members.length,
      docs: this.#members.reduce((sum, { segment }) => sum + segment.docs, 0) - deletions,
      deletions,
      bytes: this.#members.reduce((sum, { segment }) => sum + segment.buffer.byteLength, 0),
      waiting: this.#waiting.length,
      generation: this.#files.generation,
    };
  }

  /** Publish what waits, finish what runs, save. Takes no more adds; the pools stay open. */
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

  /** Make the joining minis members and publish them; if that fails they are members no more. */
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

  /** Bring every searcher to the members of now; what was retired before then is read by nobody. */
  #publish(): Promise<void> {
    return this.#publications(async () => {
      const retired = new Set(this.#retiring);
      await this.searchers.publish([...this.#members]);
      this.#retiring = this.#retiring.filter((member) => !retired.has(member));
    });
  }

  /** Merge in the background until the policy asks for nothing. */
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
      this.#options.log.error({ err: error }, 'sparse index: merge failed, tried again with the next change'),
    );
  }

  /** Put the merge of some members in their place and publish it. */
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

  /** Merge on the work thread and put the result in place, with no await between the last carried deletion and that. */
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
