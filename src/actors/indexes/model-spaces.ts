/**
 * Models with vectors in memory. The active one stays open; others open on first use and close when idle, as 100,000
 * chunks of 1,024 numbers take 200 MB. A space reads its live labels in the turn in which it joins the open spaces, so
 * it misses no content. It is closed or dropped after its last user leaves; a drop aborts the users' signal. A later
 * model of the same id waits until the files are deleted.
 */
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addBitRange, type Bitmap, createBitmap } from '../../compute/structures/bitmap.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { LabelRange } from '../../domain/page.ts';
import { VectorSpace, type VectorSpaceOptions } from '../../engine/vectors/vector-space.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Catalog } from './catalog.ts';
import { openPageSpace } from './page-space.ts';
import { indexRecovery } from './recover-index.ts';

export interface ModelSpacesOptions extends ModelSpaceOptions {
  monotonic: () => number;
  /** Idle time before a space is closed, ms. */
  idleMs?: number;
}

interface Entry {
  model: EmbeddingModel;
  /** Resolves when its files are loaded. From then on it gets new content. */
  loaded: Promise<ModelSpace>;
  space: ModelSpace | null;
  complete: Promise<ModelSpace>;
  users: number;
  /** Aborted when the space is dropped; reason: DomainError `invalid`. */
  dropped: AbortController;
  usedAt: number;
  /** Called when the last user leaves a space that is being closed or dropped. */
  whenUnused: (() => void) | undefined;
}

const defaultIdleMs = 600_000;

export type ModelSpaces = ReturnType<typeof modelSpaces>;

export function modelSpaces(options: ModelSpacesOptions) {
  const { dir, catalog, reader, log, monotonic, idleMs = defaultIdleMs } = options;
  const entries = new Map<number, Entry>();
  /** Dropped spaces; their numbers are never reused. */
  const gone = new Set<number>();
  const leaving = new Set<Promise<void>>();

  const enter = (model: EmbeddingModel, completed: (loaded: Promise<ModelSpace>) => Promise<ModelSpace>): Entry => {
    const loaded =
      leaving.size === 0
        ? openModelSpace(model, options)
        : Promise.allSettled(leaving).then(() => openModelSpace(model, options));
    const complete = completed(loaded);
    const dropped = new AbortController();
    const used = { users: 0, usedAt: monotonic(), whenUnused: undefined };
    const entry: Entry = { model, loaded, space: null, complete, dropped, ...used };
    loaded.then(
      (space) => {
        entry.space = space;
      },
      () => {}, // `complete` reports the failure
    );
    entries.set(model.space, entry);
    complete.catch(() => {
      // The waiting callers get the error; the next one retries.
      if (entries.get(model.space) === entry) entries.delete(model.space);
    });
    return entry;
  };

  const leave = (no: number, end: (space: ModelSpace) => Promise<void>): Promise<void> => {
    const entry = entries.get(no);
    if (entry === undefined) return Promise.resolve();
    entries.delete(no);
    const left = (async () => {
      if (entry.users > 0) {
        await new Promise<void>((resolve) => {
          entry.whenUnused = resolve;
        });
      }
      const space = await entry.loaded.catch(() => null); // null if it never opened; its callers got the error
      if (space !== null) await end(space);
    })();
    leaving.add(left);
    const forget = () => leaving.delete(left);
    left.then(forget, forget);
    return left;
  };

  /** Work with complete vectors. Deletion of the model aborts `dropped`, and this fails with DomainError `invalid`. */
  const use = async <Result>(
    model: EmbeddingModel,
    work: (space: ModelSpace, dropped: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    if (gone.has(model.space)) throw deleted(model);
    const entry =
      entries.get(model.space) ??
      enter(model, async (space) => {
        const loaded = await space;
        await loaded.recover(loaded.missing);
        await loaded.settled();
        return loaded;
      });
    return held(entry, async () => {
      try {
        return await work(await entry.complete, entry.dropped.signal);
      } finally {
        entry.usedAt = monotonic();
      }
    });
  };

  /** Close a space after its last user; the next one reloads it. */
  const forget = (no: number): void => {
    leave(no, (space) => space.close()).catch((err) => log.error({ err, space: no }, 'a vector space was not saved'));
  };

  return {
    use,
    forget,
    /** Load a model without recovery, for the start. */
    load: (model: EmbeddingModel): Promise<ModelSpace> => enter(model, async (loaded) => loaded).loaded,
    /** Null if closed or still loading; not searched until complete. */
    opened: (space: number): ModelSpace | null => entries.get(space)?.space ?? null,
    /** Apply new and replaced content. Shapes: `vectors` by space, rows of all `pages`; zeros for missing rows. */
    async update(
      pages: readonly LabelRange[],
      obsolete: readonly LabelRange[],
      vectors: ReadonlyMap<number, Float32Array>,
    ): Promise<void> {
      await Promise.all(
        [...entries].map(([no, entry]) =>
          held(entry, async () => {
            const space = await entry.loaded;
            if (obsolete.length > 0) space.remove(obsolete);
            const rows = vectors.get(no);
            const isBegun = (label: number) => reader.backfills.isBegun(no, catalog.pageOf(label));
            const whole = pages.map(({ first }) => first).filter((label) => !isBegun(label));
            if (rows !== undefined && pages.length > 0) await space.add(pages, rows, whole);
          }),
        ),
      );
    },
    /** Delete removed content permanently, from memory and the files of every model. */
    async purge(): Promise<void> {
      for (const model of reader.models.all()) {
        const { chunks, pages } = spaceFolders(dir, model.space);
        if (gone.has(model.space) || !(existsSync(chunks) || existsSync(pages))) continue;
        await use(model, (space) => space.purge());
      }
    },
    async saveIfWorthIt(): Promise<void> {
      await Promise.all(
        [...entries.values()].map((entry) => held(entry, async () => (await entry.loaded).saveIfWorthIt())),
      );
    },
    /** Close idle spaces; `keep` is the active model's. */
    closeIdle(keep: number | null): void {
      for (const [no, { users, usedAt }] of entries)
        if (no !== keep && users === 0 && monotonic() - usedAt >= idleMs) forget(no);
    },
    /** Drop a model and delete its files. Resolves when they are gone. */
    async drop(space: number): Promise<void> {
      gone.add(space);
      const entry = entries.get(space);
      entry?.dropped.abort(deleted(entry.model));
      await leave(space, (open) => open.drop());
      await Promise.allSettled(leaving); // it may be closing already
      const { chunks, pages } = spaceFolders(dir, space);
      await Promise.all([chunks, pages].map((folder) => rm(folder, { recursive: true, force: true })));
    },
    /** Delete files of unknown models: leftovers of a crash. */
    async sweep(spaces: ReadonlySet<number>): Promise<void> {
      for (const side of ['dense', 'pages']) {
        const names = existsSync(join(dir, side)) ? readdirSync(join(dir, side)) : [];
        for (const name of names.filter((each) => /^\d+$/.test(each) && !spaces.has(Number(each)))) {
          log.warn({ side, space: name }, 'index files of a model that is gone are deleted');
          await rm(join(dir, side, name), { recursive: true, force: true });
        }
      }
    },
    async close(): Promise<void> {
      for (const no of [...entries.keys()]) void leave(no, (space) => space.close());
      await Promise.all(leaving);
    },
  };
}

/** Keeps a space from being closed or dropped during the work. */
async function held<Result>(entry: Entry, work: () => Promise<Result>): Promise<Result> {
  entry.users++;
  try {
    return await work();
  } finally {
    if (--entry.users === 0) entry.whenUnused?.();
  }
}

const deleted = ({ id }: EmbeddingModel) => new DomainError('invalid', `the model ${id} was deleted`);

interface ModelSpaceOptions
  extends Pick<VectorSpaceOptions, 'dir' | 'storeId' | 'searchers' | 'worker' | 'graphs' | 'log' | 'noteLabels'> {
  reader: StoreReader;
  catalog: Catalog;
}

function spaceFolders(dir: string, space: number): { chunks: string; pages: string } {
  return { chunks: join(dir, 'dense', String(space)), pages: join(dir, 'pages', String(space)) };
}

export type ModelSpace = Awaited<ReturnType<typeof openModelSpace>>;

/** Load one model's vectors of chunks and pages. A space that opens later catches up from its files and the store. */
async function openModelSpace(model: EmbeddingModel, options: ModelSpaceOptions) {
  const { dir, reader, catalog, ...rest } = options;
  const folders = spaceFolders(dir, model.space);
  const shared = { ...rest, dim: model.dim };
  const [opened, pages] = await Promise.all([
    VectorSpace.open(
      { ...shared, modelId: model.id, dir: folders.chunks },
      embeddedLabels(reader, catalog, model.space),
    ),
    openPageSpace({
      ...shared,
      reader,
      catalog,
      vectors: model.space,
      modelId: `pages of ${model.id}`,
      dir: folders.pages,
    }),
  ]);
  const { space: chunks, missing, lost } = opened;
  const recoverPage = async (no: number) => {
    const page = reader.pages.head(no);
    const rows = reader.vectors.get(model.space, no);
    if (page === undefined || rows === undefined) return;
    const labels = labelsOfPage(page);
    if (catalog.isFlushed(labels)) await addRows(chunks, [labels], rows);
  };
  const recovery = indexRecovery({ reader, catalog, side: model.id, recoverPage, log: rest.log });
  const settled = () => Promise.all([recovery.settled(), pages.settled()]);
  const recoveryStopped = () => {
    recovery.stop();
    return recovery.settled();
  };
  return {
    chunks,
    pages,
    /** Stored labels that the files lack, for `recover`, and whether the files exist but are unusable. */
    ...{ missing, lost },
    /** Dead rows in the loaded files. */
    dropped: opened.dropped + pages.dropped,
    lacking: recovery.lacking,
    isWhole: recovery.isWhole,
    /** Restore labels from the store; resolves to whether all are back. Errors: none. */
    recover: recovery.recover,
    /** Add stored rows of chunks. `whole`: first labels of pages whose rows are then complete. */
    async add(ranges: readonly LabelRange[], rows: Float32Array, whole: readonly number[]): Promise<void> {
      await Promise.all([addRows(chunks, ranges, rows), pages.add(whole)]);
    },
    remove(ranges: readonly LabelRange[]): void {
      chunks.remove(labelsOf(ranges));
      pages.remove(ranges.map(({ first }) => first));
    },
    settled,
    /** No byte of removed vectors stays in memory or on disk. */
    async purge(): Promise<void> {
      await settled();
      await Promise.all([chunks.purge(), pages.purge()]);
    },
    saveIfWorthIt: () => Promise.all([chunks.saveIfWorthIt(), pages.saveIfWorthIt()]),
    stopRecovery: recovery.stop,
    async close(): Promise<void> {
      await recoveryStopped();
      await Promise.all([chunks.close(), pages.close()]);
    },
    /** Close without saving and delete the files. */
    async drop(): Promise<void> {
      await recoveryStopped();
      await Promise.all([chunks.drop(), pages.drop()]);
    },
  };
}

/** Labels of pages with vectors in the space. Undurable ones are excluded: their job adds them by `index.add`. */
function embeddedLabels(reader: StoreReader, catalog: Catalog, space: number): Bitmap {
  const labels = createBitmap(catalog.labelEnd);
  const begun = reader.backfills.begunIn(space);
  for (const no of reader.vectors.pageNumbers(space)) {
    const range = catalog.labelsOf(no);
    if (catalog.isFlushed(range)) addBitRange(labels, range.first, range.count - (begun.get(no) ?? 0));
  }
  return labels;
}

function labelsOfPage({ first_label, chunk_count }: { first_label: number; chunk_count: number }): LabelRange {
  return { first: first_label, count: chunk_count };
}

export function labelsOf(ranges: readonly LabelRange[]): Uint32Array {
  const labels = new Uint32Array(ranges.reduce((sum, { count }) => sum + count, 0));
  let at = 0;
  for (const { first, count } of ranges) {
    for (let ordinal = 0; ordinal < count; ordinal++) labels[at++] = first + ordinal;
  }
  return labels;
}

/** Add rows; rows of zeros (chunks without terms) are skipped. */
async function addRows(space: VectorSpace, pages: readonly LabelRange[], rows: Float32Array): Promise<void> {
  const labels = labelsOf(pages);
  if (labels.length > 0) await space.add(labels, rows, { passOverZeros: true });
}
