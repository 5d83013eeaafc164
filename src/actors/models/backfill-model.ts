/**
 * The handler of `backfill_model` jobs: gives every page vectors of a model. Progress is in the backfill's row, so that
 * an interrupted attempt continues after the last stored slice.
 *
 * 1. plan, once: count chunks and tokens; calibrate the floor of an outside model, which also checks its provider
 * 2. load the model's space, with what earlier attempts stored
 * 3. sweep: embed slices in parallel, store them in page order with the cursor, add them to the space; for the built-in
 *    model, only leave gaps (fill-built-in.ts)
 * 4. the same for the pages of gaps; then seal, or repeat if a gap came meanwhile
 *
 * Refused texts are stored as refused; above `fewRefusals` and `refusedShare`, the backfill fails. An open breaker, or
 * the call that opened it, ends the attempt until its cooldown is over; the attempt does not count.
 */
import {
  type EmbeddedPage,
  noteBackfillPause,
  openGaps,
  planBackfill,
  type StoredRows,
  saveSlice,
  sealBackfill,
} from '../../commands/backfill-model.ts';
import { joinedRows } from '../../compute/embedding/pool-vectors.ts';
import { JobError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import { type Backfill, type EmbeddingModel, isBuiltIn, isOutside } from '../../domain/model.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';
import { nextTurn } from '../system/background.ts';
import { extendTimeUnlessSuspect, type JobContext, type JobHandler } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';
import { countPages, type PageSlice, refusedIn, sliceOf, slicesFrom } from './backfill-slices.ts';
import { batchChunks, nextBatch, type TakeTurn } from './fill-built-in.ts';
import { type CalibrateOutside, type EmbeddedTexts, embedPages } from './model-embedder.ts';

interface BackfillDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'now' | 'monotonic'> {
  embedders: Pick<Embedders, 'documentVectors' | 'passages' | 'breakerOf'>;
  calibrate: CalibrateOutside;
  /** Slices that are read and embedded in advance while one is stored. */
  width: number;
  takeTurn: TakeTurn;
  /** Whether names found by the encoder are stored. */
  readNames: boolean;
}

interface EmbeddedSlice {
  slice: PageSlice;
  pages: EmbeddedPage[];
}

/** Retry time while the encoder cannot be used, ms. */
const unusableEncoderMs = 120_000;
const gapsAtOnce = 64;
/** Pages checked for missing vectors in one transaction: some ms. */
const gapsOpenedAtOnce = 500;
/** Max chunks that a provider may refuse: this number, or this share of all chunks if that is more. */
const fewRefusals = 10;
const refusedShare = 0.05;

export function backfillHandler(dependencies: BackfillDependencies): JobHandler {
  const { reader, embedders, now } = dependencies;

  return async (job, context) => {
    const { signal, checkpoint } = context;
    const found = reader.backfills.ofJob(job.no);
    const model = found && reader.models.get(found.model_id);
    if (found === undefined || model === undefined) throw new JobError('this job has no backfill', { permanent: true });
    if (found.status !== 'running') return undefined;
    try {
      await fillModel(dependencies, { found, model, job, context });
    } catch (error) {
      if (reader.models.isFillPaused() && isBuiltIn(model)) throw error;
      const waitMs =
        error instanceof ProviderError && error.code === 'unreachable' && isBuiltIn(model)
          ? unusableEncoderMs
          : error instanceof ProviderError && !error.permanent
            ? embedders.breakerOf(model).waitMs()
            : 0;
      if (!(error instanceof BreakerOpenError) && waitMs === 0) throw error;
      const { message } = error as Error;
      if (!signal.aborted) await checkpoint(noteBackfillPause(model.space, now(), message));
      throw error instanceof BreakerOpenError ? error : new BreakerOpenError(model.provider, waitMs);
    }
    return undefined;
  };
}

/** One attempt at a backfill. Errors: as of the handler, but an open breaker is not yet recognized. */
async function fillModel(
  { ask, reader, embedders, calibrate, width, takeTurn, readNames, now, monotonic }: BackfillDependencies,
  { found, model, job, context }: { found: Backfill; model: EmbeddingModel; job: Job; context: JobContext },
): Promise<void> {
  const { id, space, dim } = model;
  const { signal, checkpoint } = context;
  const ofEncoder = isBuiltIn(model);
  const isNew = found.total_chunks === null;
  /** The counts in the backfill's row. */
  const goingOn = (): { chunks: number; tokens: number } => {
    const row = reader.backfills.get(space);
    return { chunks: row?.embedded_chunks ?? 0, tokens: row?.total_tokens ?? 0 };
  };
  // Counting reads all pages, and each captured page starts a fill, so the built-in model reuses its last counts.
  const counts = ofEncoder && !isNew ? goingOn() : await countPages(reader, signal);
  /** Refused chunks: of finished pages, and of this attempt. Chunks after the cursor are sent again. */
  let refusals = refusedIn(reader, space, found.cursor < found.last_page ? found.cursor : undefined).chunks;
  /** Time of the last stored slice, to measure the speed. */
  let lapAt = monotonic();

  const embed = async (slice: PageSlice): Promise<EmbeddedSlice> => {
    if (slice.pages.length === 0) return { slice, pages: [] };
    // The collection may have grown since the plan, by pages that were indexed with vectors of the model.
    const most = Math.max(fewRefusals, Math.floor(counts.chunks * refusedShare));
    const tolerated = Math.max(0, most - refusals);
    const embedded = await embedPages(embedders, model, slice.pages, { signal, tolerated });
    refusals += embedded.refused.size;
    const names = readNames ? embedded.names : null;
    return { slice, pages: pagesOf(slice, dim, { ...embedded, names }) };
  };

  const store = async ({ slice, pages }: EmbeddedSlice, cursor: number | null): Promise<StoredRows[]> => {
    const busyMs = Math.round(monotonic() - lapAt);
    lapAt = monotonic();
    const { found, closed } = slice;
    const stored = await checkpoint(saveSlice(space, { at: now(), cursor, found, closed, pages, busyMs }));
    if (stored === null) throw gone();
    return stored;
  };

  /** The rows are in the store already: if adding fails, the space gets them when it opens next. */
  const addToSpace = async (stored: readonly StoredRows[]): Promise<void> => {
    if (stored.length === 0) return;
    const rows = joined(stored);
    const chunks = stored.flatMap(({ first, ordinals }) => ordinals.map((at) => ({ first: first + at, count: 1 })));
    const pages = stored.filter(({ isWhole }) => isWhole);
    const whole = pages.map(({ first }) => first);
    await ask('index.addVectors', { model_id: id, space, chunks, rows, whole });
    if (id !== reader.models.activeId()) return;
    // If the clusters service has stopped, the next start finds the pages.
    await ask('cluster.place', { page_nos: pages.map(({ page_no }) => page_no) }).catch(() => {});
  };

  const leaveGaps = async (): Promise<void> => {
    // No checkpoint after the sweep: it would reset the counts of attempts and crashes before the fill begins.
    const isOver = ({ cursor, last_page } = reader.backfills.get(space) ?? found) => cursor >= last_page;
    while (!isOver()) if ((await checkpoint(openGaps(space, now(), gapsOpenedAtOnce))) === null) throw gone();
  };

  /** After a failed attempt, the texts that may have caused it are stored one by one. */
  const fillBuiltIn = async (): Promise<void> => {
    const isCareful = job.attempts > 1;
    const attempt = { signal, extendTime: extendTimeUnlessSuspect(job, context) };
    for (let batches = 0; ; batches++) {
      signal.throwIfAborted();
      const embedded = await takeTurn(async () => {
        // Read just before use, as pages may have come and gone.
        const slice = nextBatch(reader, model, isCareful && batches < batchChunks ? 1 : batchChunks);
        return slice === null ? null : embed(slice);
      }, attempt);
      if (embedded === null) return;
      await addToSpace(await store(embedded, null));
    }
  };

  const sweep = async (): Promise<void> => {
    const slices = slicesFrom(reader, space, found.cursor, found.last_page);
    const ahead: Promise<EmbeddedSlice>[] = [];
    const embedAhead = async (count: number) => {
      while (ahead.length < count) {
        await nextTurn(signal);
        const next = slices.next();
        if (next.done === true) return;
        ahead.push(withHandledRejection(embed(next.value)));
      }
    };
    let adding = Promise.resolve();
    try {
      await embedAhead(width);
      for (let first = ahead.shift(); first !== undefined; first = ahead.shift()) {
        const embedded = await first;
        await embedAhead(width); // no thread waits for the store
        const stored = await store(embedded, embedded.slice.upTo);
        await adding;
        adding = withHandledRejection(addToSpace(stored));
      }
      await adding;
    } finally {
      await Promise.allSettled([...ahead, adding]);
    }
  };

  const fillGaps = async (): Promise<void> => {
    for (;;) {
      const numbers = reader.backfills.gaps(space, gapsAtOnce);
      if (numbers.length === 0) return;
      await addToSpace(await store(await embed(sliceOf(reader, space, numbers)), null));
    }
  };

  if (isNew) {
    if (isOutside(model)) await calibrate(model, signal);
    if (!(await checkpoint(planBackfill(space, { at: now(), ...counts })))) throw gone();
  }
  await ask('index.openSpace', { model_id: id });
  lapAt = monotonic();
  await (ofEncoder ? leaveGaps() : sweep());
  for (let isSealed = false; !isSealed; ) {
    await (ofEncoder ? fillBuiltIn() : fillGaps());
    const isCounted = isNew || !ofEncoder;
    const { chunks, tokens } = isCounted ? await countPages(reader, signal) : goingOn();
    const embedded = isCounted ? chunks - refusedIn(reader, space).chunks : chunks;
    isSealed = await checkpoint(sealBackfill(space, { at: now(), chunks: embedded, tokens }));
  }
}

/** The results of a slice, page by page. Shapes: rows of all its chunks; `refused` by their indexes among them. */
function pagesOf({ pages }: PageSlice, dim: number, { rows, refused, names }: EmbeddedTexts): EmbeddedPage[] {
  let from = 0;
  return pages.map(({ page_no, first, count, ordinals }) => {
    const start = from;
    from += ordinals.length;
    const refusedHere = ordinals.flatMap((ordinal, place) => {
      const reason = refused.get(start + place);
      return reason === undefined ? [] : [[ordinal, reason] as const];
    });
    const ofPage = rows.subarray(start * dim, from * dim);
    const named = names?.slice(start, from).flat() ?? null;
    return { page_no, first, count, ordinals, rows: ofPage, refused: new Map(refusedHere), names: named };
  });
}

/** Rows of all pages. Copies nothing if they are adjacent in memory, as those of a slice are. */
function joined(pages: readonly StoredRows[]): Float32Array {
  const { buffer, byteOffset } = pages[0].rows;
  let end = byteOffset;
  const isWhole = pages.every(({ rows }) => {
    const follows = rows.buffer === buffer && rows.byteOffset === end;
    end += rows.byteLength;
    return follows;
  });
  return isWhole
    ? new Float32Array(buffer, byteOffset, (end - byteOffset) / 4)
    : joinedRows(pages.map(({ rows }) => rows));
}

/** The same promise. Its failure is handled when its result is awaited. */
function withHandledRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

function gone(): JobError {
  return new JobError('the model was deleted', { permanent: true });
}
