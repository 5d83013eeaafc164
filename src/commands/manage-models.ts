import { builtInModel, type EmbeddingModel, isBuiltIn, isOutside, modelIdOf } from '../domain/model.ts';
import { newModel, nextModel } from '../machines/model.ts';
import type { Command, Transaction } from '../store/store.ts';
import { startBackfill } from './backfill-model.ts';
import { type JobPolicy, moveJob } from './move-job.ts';

/** Null for a known id. The space number is new, so that no data of an earlier model with this id belongs to it. */
export function registerModel(model: Omit<EmbeddingModel, 'space' | 'status'>): Command<EmbeddingModel | null> {
  return ({ models, counters }) => {
    if (models.get(model.id) !== undefined) return null;
    const registered = newModel(model, counters.take('space'));
    models.put(registered);
    return registered;
  };
}

type ActivateOutcome =
  | { outcome: 'activated'; model: EmbeddingModel }
  | { outcome: 'unknown' }
  | { outcome: 'not_ready'; status: string };

/** Move the pointer to a model whose `space` was made ready. */
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

type RetireOutcome = { outcome: 'retired'; space: number } | { outcome: 'unknown' } | { outcome: 'active' };

/** Also cancels its backfill. Its vectors are deleted in slices (`emptySpace`). */
export function retireModel(id: string, at: number): Command<RetireOutcome> {
  return (transaction) => {
    const { models } = transaction;
    const model = models.get(id);
    if (model === undefined) return { outcome: 'unknown' };
    if (models.activeId() === id) return { outcome: 'active' };
    retire(transaction, model, at);
    return { outcome: 'retired', space: model.space };
  };
}

export function retire(transaction: Transaction, model: EmbeddingModel, at: number): void {
  const { models, backfills, jobs } = transaction;
  const backfill = backfills.get(model.space);
  const job = backfill && jobs.get(backfill.job_no);
  if (job !== undefined) moveJob(transaction, job, { type: 'cancel', at, reason: 'cancelled: model deleted' });
  backfills.remove(model.space);
  models.remove(model);
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

/*
 * Makes the configured model active if the store has no active model. Pages without its vectors get them in the
 * background. Until then searches use words and the existing vectors.
 */

export function installModel(
  model: Omit<EmbeddingModel, 'space' | 'status'>,
  policy: JobPolicy,
): Command<EmbeddingModel> {
  return (transaction) => {
    const { models, counters } = transaction;
    const active = models.activeModel();
    if (active !== undefined) return active;
    const hasPages = counters.peek('page') > 1;
    const installed =
      models.get(model.id) ?? newModel(model, counters.take('space'), hasPages ? 'registered' : 'ready');
    models.put(installed);
    models.activate(installed.id);
    if (installed.status !== 'ready') startBackfill(installed.id, policy)(transaction);
    return models.get(installed.id) ?? installed;
  };
}

export function setModelFloor({ id, space }: Pick<EmbeddingModel, 'id' | 'space'>, floor: number): Command<boolean> {
  return ({ models }) => {
    const model = models.get(id);
    if (model?.space !== space) return false;
    models.put({ ...model, floor });
    return true;
  };
}

/* Deletes local models of earlier versions, which have no encoder. If one is active, the built-in model replaces it. */

export function isOutdated(model: EmbeddingModel): boolean {
  return !isOutside(model) && !isBuiltIn(model);
}

export function renewOutdatedModels({
  max_input_tokens,
  ...policy
}: JobPolicy & { max_input_tokens: number }): Command<string[]> {
  return (transaction) => {
    const { models, counters } = transaction;
    const outdated = models.all().filter(isOutdated);
    const active = models.activeModel();
    if (active !== undefined && isOutdated(active)) {
      const id = modelIdOf(builtInModel);
      if (models.get(id) === undefined)
        models.put(newModel({ id, ...builtInModel, max_input_tokens }, counters.take('space')));
      models.activate(id);
      startBackfill(id, policy)(transaction);
    }
    for (const model of outdated) retire(transaction, model, policy.at);
    return outdated.map(({ id }) => id);
  };
}
