/**
 * The handler of `backfill_model` jobs: a model comes to have vectors of every page. What is done is in the row of the backfill, so
 * that after any interruption the next attempt goes on behind the last slice that was stored.
 *
 * 1. plan, once: count chunks and tokens; calibrate the floor of an outside model, which also shows whether its provider answers
 *    with vectors of its dimensions before thousands of texts are sent
 * 2. have the model's space in memory, with what earlier attempts stored
 * 3. sweep: slices of pages are embedded, as many at a time as there are threads, stored in the order of the pages together with
 *    the cursor, and added to the space, each while the next ones are embedded and stored
 * 4. the same for the pages of gaps; then save the space and seal; a gap that came meanwhile leads back to 4
 *
 * Texts that the provider refuses are told apart from the others, which do not wait for them: the store knows them, and the next
 * backfill that looks at every page tries them again. Where more are refused than `fewRefusals` and
 * `refusedShare` allow, the provider or its settings are at fault, and the backfill fails.
 *
 * An open breaker ends the attempt, uncounted, until its cooldown is over; so does the call that opened it, a probe that failed
 * included: one job makes all the calls, and would soon have used its attempts up by them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EmbeddedPage,
  noteBackfillPause,
  planBackfill,
  type StoredPage,
  saveSlice,
  sealBackfill,
} from '../../commands/backfill-model.ts';
import { JobError } from '../../domain/errors.ts';
import type { Backfill, EmbeddingModel } from '../../domain/model.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { StoreReader } from '../../store/store.ts';
import type { JobContext, JobHandler } from '../jobs/job-actor.ts';
import { isOverloaded, type SystemAsk } from '../system/system-messages.ts';
import { countPages, type PageSlice, refusedIn, sliceOf, slicesFrom } from './backfill-slices.ts';
import type { ModelEmbedder } from './model-embedder.ts';

export interface BackfillDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  embedder: ModelEmbedder;
  /** Slices that are read ahead and embedded while one is stored. */
  width: number;
  /** Wall clock and monotonic, ms. */
  now: () => number;
  monotonic: () => number;
}

interface EmbeddedSlice {
  slice: PageSlice;
  pages: EmbeddedPage[];
}

/** Pages of gaps taken at a time. */
const gapsAtOnce = 64;
/** So many chunks may be refused by the provider: a few, however small the collection, or this share of it. */
const fewRefusals = 10;
const refusedShare = 0.05;
/** Full queues of the shards are waited for so long, ms, so often, before the attempt fails. */
const overloadWaitMs = 250;
const overloadWaits = 240;

export function backfillHandler(dependencies: BackfillDependencies): JobHandler {
  const { reader, embedder, now } = dependencies;

  return async (job, context) => {
    const { signal, checkpoint } = context;
    const found = reader.backfills.ofJob(job.no);
    const model = found && reader.models.get(found.model_id);
    if (found === undefined || model === undefined) throw new JobError('there is nothing to fill', { permanent: true });
    if (found.status !== 'running') return undefined;
    try {
      await new BackfillAttempt(dependencies, found, model, context).fill();
    } catch (error) {
      const waitMs = error instanceof ProviderError && !error.permanent ? embedder.waitMs(model) : 0;
      if (!(error instanceof BreakerOpenError) && waitMs === 0) throw error;
      const { message } = error as Error;
      if (!signal.aborted) await checkpoint(noteBackfillPause(model.space, now(), message));
      throw error instanceof BreakerOpenError ? error : new BreakerOpenError(model.provider, waitMs);
    }
    return undefined;
  };
}

/** One attempt at a backfill: what it has counted so far, and its steps. */
class BackfillAttempt {
  readonly #dependencies: BackfillDependencies;
  readonly #found: Backfill;
  readonly #model: EmbeddingModel;
  readonly #context: JobContext;
  /** Chunks that are refused: of the pages that are done, and of this attempt. Further ones will be asked about again. */
  #refusals: number;
  #chunks = 0;
  /** The clock of the speed: time between two stored slices, whatever ran beside. */
  #lapAt: number;

  constructor(dependencies: BackfillDependencies, found: Backfill, model: EmbeddingModel, context: JobContext) {
    this.#dependencies = dependencies;
    this.#found = found;
    this.#model = model;
    this.#context = context;
    const upTo = found.cursor < found.last_page ? found.cursor : undefined;
    this.#refusals = refusedIn(dependencies.reader, model.space, upTo).chunks;
    this.#lapAt = dependencies.monotonic();
  }

  /** Errors: as of the handler, before an open breaker is told apart. */
  async fill(): Promise<void> {
    const { ask, reader, monotonic, now } = this.#dependencies;
    const { signal, checkpoint } = this.#context;
    const { id, space } = this.#model;
    // Since the plan the collection may have grown by what was indexed with vectors of the model.
    const counts = await countPages(reader, signal);
    this.#chunks = counts.chunks;
    if (this.#found.total_chunks === null) await this.#plan(counts);
    await ask('index.openSpace', { model_id: id, save: false });
    this.#lapAt = monotonic();
    await this.#sweep();
    for (let isSealed = false; !isSealed; ) {
      await this.#fillGaps();
      await ask('index.openSpace', { model_id: id, save: true });
      const { chunks, tokens } = await countPages(reader, signal);
      const embedded = chunks - refusedIn(reader, space).chunks;
      isSealed = await checkpoint(sealBackfill(space, { at: now(), chunks: embedded, tokens }));
    }
  }

  async #plan(counts: { chunks: number; tokens: number }): Promise<void> {
    const { embedder, now } = this.#dependencies;
    const { signal, checkpoint } = this.#context;
    await embedder.calibrate(this.#model, signal);
    if (!(await checkpoint(planBackfill(this.#model.space, { at: now(), ...counts })))) throw gone();
  }

  async #sweep(): Promise<void> {
    const { reader, width } = this.#dependencies;
    const { signal } = this.#context;
    const slices = slicesFrom(reader, this.#model.space, this.#found.cursor, this.#found.last_page);
    const ahead: Promise<EmbeddedSlice>[] = [];
    const embedAhead = async (count: number) => {
      while (ahead.length < count) {
        await new Promise(setImmediate); // searches that came meanwhile go first
        signal.throwIfAborted();
        const next = slices.next();
        if (next.done === true) return;
        ahead.push(toldLater(this.#embed(next.value)));
      }
    };
    let adding = Promise.resolve();
    try {
      await embedAhead(width);
      for (let first = ahead.shift(); first !== undefined; first = ahead.shift()) {
        const embedded = await first;
        await embedAhead(width); // no thread waits for the store
        const stored = await this.#store(embedded, embedded.slice.upTo);
        await adding;
        adding = toldLater(this.#addToSpace(stored));
      }
      await adding;
    } finally {
      await Promise.allSettled([...ahead, adding]);
    }
  }

  async #fillGaps(): Promise<void> {
    const { reader } = this.#dependencies;
    const { space } = this.#model;
    for (;;) {
      const numbers = reader.backfills.gaps(space, gapsAtOnce);
      if (numbers.length === 0) return;
      await this.#addToSpace(await this.#store(await this.#embed(sliceOf(reader, space, numbers)), null));
    }
  }

  async #embed(slice: PageSlice): Promise<EmbeddedSlice> {
    if (slice.pages.length === 0) return { slice, pages: [] };
    const { signal } = this.#context;
    const most = Math.max(fewRefusals, Math.floor(this.#chunks * refusedShare));
    const tolerated = Math.max(0, most - this.#refusals);
    const { rows, refused } = await this.#dependencies.embedder.embed(this.#model, slice.pages, { signal, tolerated });
    this.#refusals += refused.size;
    return { slice, pages: pagesOf(slice, this.#model.dim, rows, refused) };
  }

  async #store({ slice, pages }: EmbeddedSlice, cursor: number | null): Promise<StoredPage[]> {
    const { monotonic, now } = this.#dependencies;
    const busyMs = Math.round(monotonic() - this.#lapAt);
    this.#lapAt = monotonic();
    const { found, closed } = slice;
    const save = saveSlice(this.#model.space, { at: now(), cursor, found, closed, pages, busyMs });
    const stored = await this.#context.checkpoint(save);
    if (stored === null) throw gone();
    return stored;
  }

  /** They are in the store: what does not come in now comes when the space is opened the next time. */
  async #addToSpace(pages: readonly StoredPage[]): Promise<void> {
    if (pages.length === 0) return;
    const { id, space } = this.#model;
    const rows = joined(pages);
    const labels = pages.map(({ first, count }) => ({ first, count }));
    for (let waits = 0; ; waits++) {
      try {
        return await this.#dependencies.ask('index.addVectors', { model_id: id, space, pages: labels, rows });
      } catch (error) {
        if (!isOverloaded(error) || waits === overloadWaits) throw error;
        await delay(overloadWaitMs, undefined, { signal: this.#context.signal });
      }
    }
  }
}

/** What was made of a slice, page by page. Shapes: rows of all its chunks; `refused` by their places among them. */
function pagesOf(
  { pages }: PageSlice,
  dim: number,
  rows: Float32Array,
  refused: ReadonlyMap<number, string>,
): EmbeddedPage[] {
  let from = 0;
  return pages.map(({ page_no, first, count, ordinals }) => {
    const start = from;
    from += ordinals.length;
    const refusedHere = ordinals.flatMap((ordinal, place) => {
      const reason = refused.get(start + place);
      return reason === undefined ? [] : [[ordinal, reason] as const];
    });
    const ofPage = rows.subarray(start * dim, from * dim);
    return { page_no, first, count, ordinals, rows: ofPage, refused: new Map(refusedHere) };
  });
}

/** Rows of all pages: where they lie one behind the other already, as those of a slice do, without copying them. */
function joined(pages: readonly StoredPage[]): Float32Array {
  const { buffer, byteOffset } = pages[0].rows;
  const length = pages.reduce((sum, page) => sum + page.rows.length, 0);
  let end = byteOffset;
  const isWhole = pages.every(({ rows }) => {
    const follows = rows.buffer === buffer && rows.byteOffset === end;
    end += rows.byteLength;
    return follows;
  });
  if (isWhole) return new Float32Array(buffer, byteOffset, length);
  const rows = new Float32Array(length);
  let at = 0;
  for (const page of pages) {
    rows.set(page.rows, at);
    at += page.rows.length;
  }
  return rows;
}

/** The same promise: its failure is dealt with when its turn comes. */
function toldLater<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

function gone(): JobError {
  return new JobError('the model was deleted', { permanent: true });
}
