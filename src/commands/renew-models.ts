/**
 * Vectors of an earlier version of the embedded model do not compare with those of the present one. A model that has such vectors
 * moves to an empty space and is filled again beside the service, as after its registration; if it is the active one, searches use its
 * vectors as they come, and the words. Run at each start, before anything reads a vector.
 */
import { traitsOf } from '../compute/embedding/local-model.ts';
import { type EmbeddingModel, isOutside } from '../domain/model.ts';
import { newModel } from '../machines/model.ts';
import type { Command } from '../store/store.ts';
import { startBackfill } from './backfill-model.ts';
import { type JobPolicy, moveJob } from './move-job.ts';

/** What rows say that were written before versions were noted. */
const firstVersion = 1;

/** Whether what made the model's stored vectors is another version than the present one. */
export function isOutdated(model: EmbeddingModel): boolean {
  return !isOutside(model) && (model.version ?? firstVersion) !== traitsOf(model).version;
}

/** Gives the ids of the models that are filled again. */
export function renewOutdatedModels(policy: JobPolicy): Command<string[]> {
  return (transaction) => {
    const { models, backfills, jobs, counters } = transaction;
    return models.all().flatMap((model) => {
      if (!isOutdated(model)) return [];
      const backfill = backfills.get(model.space);
      const job = backfill && jobs.get(backfill.job_no);
      if (job !== undefined) moveJob(transaction, job, { type: 'cancel', at: policy.at, reason: 'cancelled: renewed' });
      backfills.remove(model.space);
      models.abandonSpace(model.space);
      // What the old vectors were worth is not what the new ones are.
      const { fusion: _, ...kept } = model;
      models.put(newModel({ ...kept, ...traitsOf(model) }, counters.take('space')));
      if (model.status !== 'registered') startBackfill(model.id, policy)(transaction);
      return [model.id];
    });
  };
}
