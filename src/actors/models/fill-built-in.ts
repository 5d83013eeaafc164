/**
 * Fills the gaps of the built-in model: first chunks of all pages, the newest first, then the others. Each small batch
 * is read just before use, and durable before the next. The libraries of a host take turns.
 */
import { type EmbeddingModel, localProvider } from '../../domain/model.ts';
import { BreakerOpenError } from '../../providers/resilient-call.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Semaphore } from '../../threads/semaphore.ts';
import type { JobContext } from '../system/job-actor.ts';
import type { PageSlice, PageToEmbed } from './backfill-slices.ts';

/** Runs work in the library's turn; the time limit starts then. Errors: of the work; the signal's reason. */
export type TakeTurn = <Result>(
  work: () => Promise<Result>,
  attempt: Pick<JobContext, 'signal' | 'extendTime'>,
) => Promise<Result>;

/** How often a waiting attempt restarts its time limit, ms. */
const extendEveryMs = 60_000;

export interface EncoderTurns {
  /** One place, shared by all libraries of a host. */
  place: Pick<Semaphore, 'acquire' | 'release'>;
  library: string;
  /** Max share of one core that filling uses, in (0, 1]. */
  pace: number;
  monotonic: () => number;
  after: (ms: number, run: () => void) => void;
}

/** After each turn the place stays taken for a pause that keeps the pace. The library stores the result meanwhile. */
export function encoderTurns({ place, library, pace, monotonic, after }: EncoderTurns): TakeTurn {
  return async (work, { signal, extendTime }) => {
    // A stop request ends the wait by its signal.
    const waiting = setInterval(() => extendTime().catch(() => {}), extendEveryMs);
    await place.acquire(signal, library).finally(() => clearInterval(waiting));
    const began = monotonic();
    try {
      return await work();
    } finally {
      const waitMs = (monotonic() - began) * (1 / pace - 1);
      if (waitMs < 1) place.release();
      else after(waitMs, () => place.release());
    }
  };
}

/** Chunks of a batch: some seconds. All rows of a page are one value, which each batch of a long page rewrites. */
export const batchChunks = 16;
const mostChunks = 64;
const growth = 1 / 8;

/** The next chunks to embed; null if there is no gap. Errors: BreakerOpenError while filling is paused. */
export function nextBatch(reader: StoreReader, { space }: EmbeddingModel, chunks: number): PageSlice | null {
  if (reader.models.isFillPaused()) throw new BreakerOpenError(localProvider, 0);
  const numbers = reader.backfills.newestGaps(space, chunks);
  if (numbers.length === 0) return null;
  const slice: PageSlice = { pages: [], found: 0, closed: [], upTo: 0 };
  for (const no of numbers) {
    const page = pageOf(reader, space, no);
    if (page === null) slice.closed.push(no);
    else if (page.ordinals[0] === 0) slice.pages.push({ ...page, ...firstOf(page, 1) });
    else {
      const taken = slice.pages.reduce((sum, { ordinals }) => sum + ordinals.length, 0);
      const grown = chunks === 1 ? 1 : Math.min(mostChunks, Math.floor(page.ordinals[0] * growth));
      const size = Math.max(chunks, grown);
      if (taken < size) slice.pages.push({ ...page, ...firstOf(page, size - taken) });
      if (taken + page.ordinals.length >= size) break;
    }
  }
  return slice;
}

const firstOf = ({ ordinals, chunks }: PageToEmbed, count: number) => ({
  ordinals: ordinals.slice(0, count),
  chunks: chunks.slice(0, count),
});

/** A page with its chunks that lack vectors; null if none lacks them. */
function pageOf(reader: StoreReader, space: number, no: number): PageToEmbed | null {
  const page = reader.pages.head(no);
  if (page === undefined || page.chunk_count === 0) return null;
  const { title, first_label: first, chunk_count: count } = page;
  const done = count - (reader.backfills.lacking(space, no) ?? count);
  const chunks = reader.pages.chunks(no).slice(done);
  const ordinals = Array.from(chunks, (_, at) => done + at);
  return { page_no: no, first, count, title, text: reader.pages.body(no) ?? '', ordinals, chunks };
}
