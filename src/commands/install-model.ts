/** Make the configured model the active one when the store has none yet. Later, the registry rules. */
import type { EmbeddingModel } from '../domain/model.ts';
import type { Command } from '../store/store.ts';

/** The active model afterwards. */
export function installModel(model: Omit<EmbeddingModel, 'space' | 'status'>): Command<EmbeddingModel> {
  return (transaction) => {
    const activeId = transaction.models.activeId();
    const active = activeId === null ? undefined : transaction.models.get(activeId);
    if (active !== undefined) return active;
    const installed: EmbeddingModel = { ...model, space: transaction.counters.take('space'), status: 'ready' };
    transaction.models.put(installed);
    transaction.models.activate(installed.id);
    return installed;
  };
}
