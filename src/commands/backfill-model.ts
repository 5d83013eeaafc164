/** A backfill: started with its job, planned, advanced slice by slice in the job's checkpoints, and sealed. */
import type { NameSpans } from '../compute/text/name-tags.ts';
import { type Backfill, type EmbeddingModel, isBuiltIn } from '../domain/model.ts';
import type { LabelRange } from '../domain/page.ts';
import { firstBackfill } from '../machines/backfill.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob, type JobPolicy, moveBackfill, moveJob, putBackfill, waitWhilePaused } from './move-job.ts';
import { noteNames } from './page-entities.ts';

/** Null for an unknown model. Keeps a running backfill and continues a failed one; otherwise all pages are examined. */
export function startBackfill(modelId: string, policy: JobPolicy): Command<Backfill | null> {
  return (transaction) => {
    const model = transaction.models.get(modelId);
    if (model === undefined) return null;
    const before = transaction.backfills.get(model.space);
    return before?.status === 'running' ? before : begin(transaction, model, before?.status !== 'failed', policy);
  };
}

/** Open a gap for a page without a model's vectors, and start a backfill to fill it. */
export function leaveGap(transaction: Transaction, model: EmbeddingModel, pageNo: number, policy: JobPolicy): void {
  if (!transaction.backfills.hasGap(model.space, pageNo)) {
    transaction.backfills.openGap(model.space, pageNo, transaction.pages.get(pageNo)?.chunk_count ?? 0);
  }
  if (model.status !== 'ready') return; // the backfill is running, or a user must start it
  const before = transaction.backfills.get(model.space);
  if (before?.status === 'running' || before?.status === 'failed') return;
  begin(transaction, model, false, policy);
}

function begin(
  transaction: Transaction,
  model: EmbeddingModel,
  afresh: boolean,
  { at, max_attempts }: JobPolicy,
): Backfill | null {
  const { backfills, counters } = transaction;
  const before = backfills.get(model.space);
  const job = createJob(transaction, { kind: 'backfill_model', page_no: null, max_attempts, at });
  const start = { at, job_no: job.no, lastPage: counters.peek('page') - 1 };
  const first = firstBackfill(model, { ...start, lastPage: afresh ? start.lastPage : 0 });
  if (before === undefined) putBackfill(transaction, first, undefined);
  const begun = before === undefined ? first : moveBackfill(transaction, before, { type: 'start', ...start, afresh });
  if (begun !== null) waitWhilePaused(transaction, job, begun, at);
  return begun;
}

/** Open gaps for pages without the model's vectors. Returns whether more follow; null if the backfill has stopped. */
export function openGaps(space: number, at: number, limit: number): Command<boolean | null> {
  return (transaction) => {
    const { backfills, pages, vectors, refusedTexts } = transaction;
    const backfill = backfills.get(space);
    if (backfill === undefined) return null;
    if (backfill.cursor >= backfill.last_page) return false;
    const cursor = Math.min(backfill.cursor + limit, backfill.last_page);
    for (let no = backfill.cursor + 1; no <= cursor; no++) {
      const chunks = pages.head(no)?.chunk_count ?? 0;
      if (chunks === 0) continue;
      if (refusedTexts.get(space, no) !== undefined) {
        refusedTexts.remove(space, no);
        vectors.remove(space, no);
      }
      if (!vectors.has(space, no)) backfills.openGap(space, no, chunks);
    }
    const advanced = { type: 'advance', at, cursor, embedded: 0, made: 0, busyMs: 0 } as const;
    return moveBackfill(transaction, backfill, advanced) === null ? null : cursor < backfill.last_page;
  };
}

export function pauseFill(paused: boolean, at: number): Command<void> {
  return (transaction) => {
    const { models, backfills, jobs } = transaction;
    models.pauseFill(paused);
    for (const model of models.all().filter(isBuiltIn)) {
      const backfill = backfills.get(model.space);
      const job = jobs.get(backfill?.job_no ?? 0);
      if (backfill === undefined || job?.status !== 'pending') continue;
      if (paused) waitWhilePaused(transaction, job, backfill, at);
      else moveJob(transaction, job, { type: 'defer', at, runAt: at });
    }
  };
}

interface BackfillPlan {
  at: number;
  chunks: number;
  tokens: number;
}

/** False if the model is gone. */
export function planBackfill(space: number, plan: BackfillPlan): Command<boolean> {
  return (transaction) => {
    const backfill = transaction.backfills.get(space);
    return backfill !== undefined && moveBackfill(transaction, backfill, { type: 'plan', ...plan }) !== null;
  };
}

/** Rows of a page, for the content with these labels. */
export interface EmbeddedPage extends LabelRange {
  page_no: number;
  /** Ascending: all chunks, the chunks refused before, or the next chunks of a page of the built-in model. */
  ordinals: readonly number[];
  rows: Float32Array;
  /** Reasons of the provider by ordinal. The rows of refused chunks are zeros. */
  refused: ReadonlyMap<number, string>;
  /** Names found in the chunks; null for outside models, or if names are not wanted. */
  names: NameSpans | null;
}

export interface StoredRows extends Pick<EmbeddedPage, 'page_no' | 'first' | 'ordinals' | 'rows'> {
  /** Whether the page has all vectors now. */
  isWhole: boolean;
}

interface BackfillSlice {
  at: number;
  /** Last page of the slice; null when filling gaps. */
  cursor: number | null;
  /** Chunks of the slice that already had vectors. */
  found: number;
  /** Gaps whose page is deleted, empty, or has its vectors. */
  closed: readonly number[];
  pages: readonly EmbeddedPage[];
  busyMs: number;
}

/** Returns what was stored; null if the backfill has stopped. Skips pages deleted or replaced meanwhile. */
export function saveSlice(space: number, slice: BackfillSlice): Command<StoredRows[] | null> {
  return (transaction) => {
    const { backfills, pages, vectors } = transaction;
    const backfill = backfills.get(space);
    if (backfill === undefined) return null;
    const stored: StoredRows[] = [];
    let made = 0;
    for (const page of slice.pages) {
      if (!storeRows(transaction, space, page, slice.at)) continue;
      if (page.names !== null) noteNames(transaction, { ...page, names: page.names }, slice.at);
      const { page_no, first, ordinals, rows } = page;
      stored.push({ page_no, first, ordinals, rows, isWhole: !backfills.isBegun(space, page_no) });
      made += page.ordinals.length - page.refused.size;
    }
    for (const no of slice.closed) {
      const page = pages.get(no);
      const isFull = vectors.has(space, no) && !backfills.isBegun(space, no);
      if (page === undefined || page.chunk_count === 0 || isFull) backfills.closeGap(space, no);
    }
    const { at, cursor, found, busyMs } = slice;
    const embedded = cursor === null ? 0 : found + made;
    const advanced = moveBackfill(transaction, backfill, { type: 'advance', at, cursor, embedded, made, busyMs });
    return advanced === null ? null : stored;
  };
}

/** Add rows to the page's rows. False if its content was replaced, or it has these rows already. */
function storeRows(
  { backfills, pages, vectors, refusedTexts }: Transaction,
  space: number,
  { page_no, first, count, ordinals, rows, refused }: EmbeddedPage,
  at: number,
): boolean {
  const page = pages.get(page_no);
  if (page?.first_label !== first || page.chunk_count !== count) return false;
  const before = vectors.get(space, page_no);
  const refusedBefore = refusedTexts.get(space, page_no);
  const lacking = backfills.lacking(space, page_no);
  if (lacking !== undefined ? ordinals[0] !== count - lacking : before !== undefined && refusedBefore === undefined)
    return false;
  if (before === undefined && ordinals[0] !== 0) return false;
  const dim = rows.length / ordinals.length;
  const all = before ?? new Float32Array(count * dim);
  for (const [place, ordinal] of ordinals.entries()) {
    all.set(rows.subarray(place * dim, (place + 1) * dim), ordinal * dim);
  }
  vectors.put(space, page_no, all);
  const done = (ordinals.at(-1) ?? -1) + 1;
  if (done < count && backfills.hasGap(space, page_no)) backfills.beginGap(space, page_no, count - done);
  else backfills.closeGap(space, page_no);
  const kept = lacking === undefined ? undefined : refusedBefore;
  const refusedNow = [...(kept?.ordinals ?? []), ...refused.keys()];
  const reason = [...refused.values()].at(-1) ?? kept?.reason;
  if (reason === undefined) refusedTexts.remove(space, page_no);
  else refusedTexts.put(space, page_no, { ordinals: refusedNow, reason, at });
  return true;
}

/** Note why a backfill waits. It continues on its own. False for a deleted model. */
export function noteBackfillPause(space: number, at: number, message: string): Command<boolean> {
  return (transaction) => {
    const backfill = transaction.backfills.get(space);
    return backfill !== undefined && moveBackfill(transaction, backfill, { type: 'stumble', at, message }) !== null;
  };
}

/** Finish the backfill and return true if every page has its vectors. `tokens`: of all chunks; counted just before. */
export function sealBackfill(space: number, { at, chunks, tokens }: BackfillPlan): Command<boolean> {
  return (transaction) => {
    const backfill = transaction.backfills.get(space);
    if (backfill === undefined) return true; // the model is gone
    const gaps = transaction.backfills.newestGaps(space, 1).length > 0;
    return moveBackfill(transaction, backfill, { type: 'finish', at, gaps, chunks, tokens }) !== null;
  };
}
