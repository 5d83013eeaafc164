/** What is done with models in the registry: registered, activated, deleted. */
import type { EmbeddingModel } from '../domain/model.ts';
import { newModel, nextModel } from '../machines/model.ts';
import type { Command } from '../store/store.ts';
import { moveJob } from './move-job.ts';

/** Null for an id that is known. Its space is new, so that nothing of a model that had this id before is taken for its own. */
export function registerModel(model: Omit<EmbeddingModel, 'space' | 'status'>): Command<EmbeddingModel | null> {
  return ({ models, counters }) => {
    if (models.get(model.id) !== undefined) return null;
    const registered = newModel(model, counters.take('space'));
    models.put(registered);
    return registered;
  };
}

export type ActivateOutcome =
  | { outcome: 'activated'; model: EmbeddingModel }
  | { outcome: 'unknown' }
  | { outcome: 'not_ready'; status: string };

/** Move the pointer; `space` is the one that was made ready for it. */
export function activateModel(id: string, space: number): Command<ActivateOutcome> {
  return ({ models }) => {
    const model = models.get(id);
    if (model?.space !== space) return { outcome: 'unknown' };
    const active = nextModel(model, { type: 'activate' });
    if (active === null) return { outcome: 'not_ready', status: model.status };
    models.activate(id);
    return { outcome: 'activated', model: active };
  };
}

export type RetireOutcome = { outcome: 'retired'; space: number } | { outcome: 'unknown' } | { outcome: 'active' };

/** Delete a model; its vectors go in slices (`emptySpace`). Its backfill is cancelled. */
export function retireModel(id: string, at: number): Command<RetireOutcome> {
  return (transaction) => {
    const { models, backfills, jobs } = transaction;
    const model = models.get(id);
    if (model === undefined) return { outcome: 'unknown' };
    if (models.activeId() === id) return { outcome: 'active' };
    const backfill = backfills.get(model.space);
    const job = backfill && jobs.get(backfill.job_no);
    if (job !== undefined) moveJob(transaction, job, { type: 'cancel', at, reason: 'cancelled: model deleted' });
    backfills.remove(model.space);
    models.remove(model);
    return { outcome: 'retired', space: model.space };
  };
}

/** Delete the vectors, gaps and refusals of some pages of a deleted model's space; false when none is left. */
export function emptySpace(space: number, limit: number): Command<boolean> {
  return ({ models, vectors, refusedTexts, backfills }) => {
    const dropped =
      vectors.dropSome(space, limit) + backfills.dropGaps(space, limit) + refusedTexts.dropSome(space, limit);
    if (dropped > 0) return true;
    models.forgetDropped(space);
    return false;
  };
}
