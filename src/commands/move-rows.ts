/**
 * The ways in which watches, backfills and models move: an event of the row's machine, and what it gives is stored with all that
 * follows from it. Jobs, and the pages that follow them, move in move-job.ts.
 */
import type { Backfill, EmbeddingModel } from '../domain/model.ts';
import { type BackfillEvent, nextBackfill } from '../machines/backfill.ts';
import { type ModelEvent, nextModel } from '../machines/model.ts';
import { nextWatch, type WatchEvent } from '../machines/watch.ts';
import type { Transaction } from '../store/store.ts';
import type { StoredWatch } from '../store/watches.ts';

/** Apply an event; null, and nothing written, where the watch does not accept it. */
export function moveWatch(transaction: Transaction, watch: StoredWatch, event: WatchEvent): StoredWatch | null {
  const moved = nextWatch(watch, event);
  if (moved === null) return null;
  const stored = { ...moved, identity: watch.identity };
  transaction.watches.put(stored, watch);
  return stored;
}

/** Apply an event to a backfill and its model; null, and nothing written, where the backfill does not accept it. */
export function moveBackfill(transaction: Transaction, backfill: Backfill, event: BackfillEvent): Backfill | null {
  const moved = nextBackfill(backfill, event);
  if (moved !== null) putBackfill(transaction, moved, backfill);
  return moved;
}

/** Store a backfill; `before` is the row that it replaces, or undefined for a model's first one. A model follows its backfill. */
export function putBackfill(transaction: Transaction, backfill: Backfill, before: Backfill | undefined): void {
  transaction.backfills.put(backfill);
  if (backfill.status === before?.status) return;
  const model = transaction.models.get(backfill.model_id);
  if (model !== undefined) moveModel(transaction, model, { type: `backfill.${backfill.status}` });
}

/** Apply an event; null, and nothing written, where the model does not accept it. */
export function moveModel({ models }: Transaction, model: EmbeddingModel, event: ModelEvent): EmbeddingModel | null {
  const moved = nextModel(model, event);
  if (moved !== null) models.put(moved);
  return moved;
}
