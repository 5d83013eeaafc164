/** State changes of watches, backfills and models: apply an event of the row's machine and store all that follows. Jobs: move-job.ts. */
import type { Backfill, EmbeddingModel } from '../domain/model.ts';
import { type BackfillEvent, nextBackfill } from '../machines/backfill.ts';
import { type ModelEvent, nextModel } from '../machines/model.ts';
import { nextWatch, type WatchEvent } from '../machines/watch.ts';
import type { Transaction } from '../store/store.ts';
import type { StoredWatch } from '../store/watches.ts';

/** Null, without changes, if the watch does not accept the event. */
export function moveWatch(transaction: Transaction, watch: StoredWatch, event: WatchEvent): StoredWatch | null {
  const moved = nextWatch(watch, event);
  if (moved === null) return null;
  const stored = { ...moved, identity: watch.identity };
  transaction.watches.put(stored, watch);
  return stored;
}

/** Also moves the model; null, without changes, if the backfill does not accept the event. */
export function moveBackfill(transaction: Transaction, backfill: Backfill, event: BackfillEvent): Backfill | null {
  const moved = nextBackfill(backfill, event);
  if (moved !== null) putBackfill(transaction, moved, backfill);
  return moved;
}

/** Store a backfill and update its model; `before` is undefined for a model's first one. */
export function putBackfill(transaction: Transaction, backfill: Backfill, before: Backfill | undefined): void {
  transaction.backfills.put(backfill);
  if (backfill.status === before?.status) return;
  const model = transaction.models.get(backfill.model_id);
  if (model !== undefined) moveModel(transaction, model, { type: `backfill.${backfill.status}` });
}

/** Null, without changes, if the model does not accept the event. */
export function moveModel({ models }: Transaction, model: EmbeddingModel, event: ModelEvent): EmbeddingModel | null {
  const moved = nextModel(model, event);
  if (moved !== null) models.put(moved);
  return moved;
}
