/**
 * Make the configured model the active one when the store has none. Later, the registry rules; so it does where a model of this id
 * was registered while there was no active one. Pages that were indexed without its vectors get them beside the service; until then
 * searches use those that there are, and the words, as with a model that is renewed.
 */
import type { EmbeddingModel } from '../domain/model.ts';
import { newModel } from '../machines/model.ts';
import type { Command } from '../store/store.ts';
import { startBackfill } from './backfill-model.ts';
import type { JobPolicy } from './move-job.ts';

/** The active model afterwards. */
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
