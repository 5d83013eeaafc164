/**
 * Deletes local models of earlier versions, whose encoders no longer exist, with their vectors. If one was active, the built-in model
 * replaces it and is filled in the background, while words serve. Runs at each start, before vectors are read.
 */
import { builtInModel, type EmbeddingModel, isBuiltIn, isOutside, modelIdOf } from '../domain/model.ts';
import { newModel } from '../machines/model.ts';
import type { Command } from '../store/store.ts';
import { startBackfill } from './backfill-model.ts';
import { retire } from './manage-models.ts';
import type { JobPolicy } from './move-job.ts';

export function isOutdated(model: EmbeddingModel): boolean {
  return !isOutside(model) && !isBuiltIn(model);
}

/** Returns the ids of deleted models. */
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
