/**
 * What happens to a backfill: started together with its job, planned, taken forward slice by slice, sealed. The slices and the seal
 * come from the attempt that owns the job, as parts of its checkpoints.
 */
import type { Backfill, EmbeddingModel } from '../domain/model.ts';
import type { LabelRange } from '../domain/page.ts';
import { firstBackfill } from '../machines/backfill.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob, type JobPolicy } from './move-job.ts';
import { moveBackfill, putBackfill } from './move-rows.ts';

/** Null for an unknown model. A backfill that runs is left alone; one that failed goes on; a finished one looks at every page again. */
export function startBackfill(modelId: string, policy: JobPolicy): Command<Backfill | null> {
  return (transaction) => {
    const model = transaction.models.get(modelId);
    if (model === undefined) return null;
    const before = transaction.backfills.get(model.space);
    return before?.status === 'running' ? before : begin(transaction, model, before?.status !== 'failed', policy);
  };
}

/** Note that a page lacks a model's vectors, and see to it that they are made. */
export function leaveGap(transaction: Transaction, model: EmbeddingModel, pageNo: number, policy: JobPolicy): void {
  transaction.backfills.openGap(model.space, pageNo);
  if (model.status !== 'ready') return; // its backfill runs, or somebody has to start it
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
  if (before !== undefined) return moveBackfill(transaction, before, { type: 'start', ...start, afresh });
  const first = firstBackfill(model, { ...start, lastPage: afresh ? start.lastPage : 0 });
  putBackfill(transaction, first, undefined);
  return first;
}

export interface BackfillPlan {
  at: number;
  chunks: number;
  tokens: number;
}

/** False where the model is gone. */
export function planBackfill(space: number, plan: BackfillPlan): Command<boolean> {
  return (transaction) => {
    const backfill = transaction.backfills.get(space);
    return backfill !== undefined && moveBackfill(transaction, backfill, { type: 'plan', ...plan }) !== null;
  };
}

/** A page's rows, made of the content that had these labels. */
export interface EmbeddedPage extends LabelRange {
  page_no: number;
  /** Chunks that the rows are of, ascending: all, or those that were refused before. */
  ordinals: readonly number[];
  rows: Float32Array;
  /** Why the provider refuses chunks, by ordinal; their rows are zeros. */
  refused: ReadonlyMap<number, string>;
}

/** All rows of a page, as they are stored. */
export interface StoredPage extends LabelRange {
  rows: Float32Array;
}

export interface BackfillSlice {
  at: number;
  /** The last page of the slice, or null for pages of gaps. */
  cursor: number | null;
  /** Chunks of pages in it that had their vectors already. */
  found: number;
  /** Gaps that turned out to be none: their page is gone, is empty or has its vectors. */
  closed: readonly number[];
  pages: readonly EmbeddedPage[];
  busyMs: number;
}

/**
 * Store a slice; gives the pages that were stored, or null where the backfill does not run any more. A page whose content was
 * replaced or forgotten meanwhile is passed over: its new content brought its vectors along, or left a gap.
 */
export function saveSlice(space: number, slice: BackfillSlice): Command<StoredPage[] | null> {
  return (transaction) => {
    const { backfills, pages, vectors } = transaction;
    const backfill = backfills.get(space);
    if (backfill === undefined) return null;
    const stored: StoredPage[] = [];
    let made = 0;
    for (const page of slice.pages) {
      const rows = storeRows(transaction, space, page, slice.at);
      if (rows === null) continue;
      stored.push({ first: page.first, count: page.count, rows });
      made += page.ordinals.length - page.refused.size;
    }
    for (const no of slice.closed) {
      const page = pages.get(no);
      if (page === undefined || page.chunk_count === 0 || vectors.has(space, no)) backfills.closeGap(space, no);
    }
    const { at, cursor, found, busyMs } = slice;
    const embedded = cursor === null ? 0 : found + made;
    const advanced = moveBackfill(transaction, backfill, { type: 'advance', at, cursor, embedded, made, busyMs });
    return advanced === null ? null : stored;
  };
}

/** Store a page's new rows beside those it has. Gives all of them; null where the content is another one by now, or has them already. */
function storeRows(
  { backfills, pages, vectors, refusedTexts }: Transaction,
  space: number,
  { page_no, first, count, ordinals, rows, refused }: EmbeddedPage,
  at: number,
): Float32Array | null {
  const page = pages.get(page_no);
  const before = vectors.get(space, page_no);
  if (page?.first_label !== first || page.chunk_count !== count) return null;
  if (before !== undefined && refusedTexts.get(space, page_no) === undefined) return null;
  if (before === undefined && ordinals.length < count) return null;
  const dim = rows.length / ordinals.length;
  const all = before ?? rows;
  if (before !== undefined) {
    for (const [place, ordinal] of ordinals.entries()) {
      all.set(rows.subarray(place * dim, (place + 1) * dim), ordinal * dim);
    }
  }
  vectors.put(space, page_no, all);
  backfills.closeGap(space, page_no);
  const reason = [...refused.values()].at(-1);
  if (reason === undefined) refusedTexts.remove(space, page_no);
  else refusedTexts.put(space, page_no, { ordinals: [...refused.keys()], reason, at });
  return all;
}

/** Note what holds a backfill up; it goes on by itself. False where the model is gone. */
export function noteBackfillPause(space: number, at: number, message: string): Command<boolean> {
  return (transaction) => {
    const backfill = transaction.backfills.get(space);
    return backfill !== undefined && moveBackfill(transaction, backfill, { type: 'stumble', at, message }) !== null;
  };
}

/**
 * Finish the backfill if every page has its vectors: `ready` then, else false and nothing changes. `chunks`: those that have vectors, `tokens`: of all
 * chunks, both counted just before.
 */
export function sealBackfill(space: number, { at, chunks, tokens }: BackfillPlan): Command<boolean> {
  return (transaction) => {
    const backfill = transaction.backfills.get(space);
    if (backfill === undefined) return true; // the model is gone
    const gaps = transaction.backfills.gaps(space, 1).length > 0;
    return moveBackfill(transaction, backfill, { type: 'finish', at, gaps, chunks, tokens }) !== null;
  };
}
