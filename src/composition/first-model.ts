/** The embedding model that a library begins with. */
import type { Logger } from 'pino';
import { installModel } from '../commands/install-model.ts';
import type { JobPolicy } from '../commands/move-job.ts';
import { isOutdated, renewOutdatedModels } from '../commands/renew-models.ts';
import { traitsOf } from '../compute/embedding/local-model.ts';
import { dimProblem } from '../domain/known-models.ts';
import { type EmbeddingModel, localModelName, localProvider, modelIdOf } from '../domain/model.ts';
import type { Settings } from '../settings/read-settings.ts';
import { requireRoomToUpgrade } from '../store/room-to-open.ts';
import type { Store } from '../store/store.ts';

/** The store's active model; where it has none, as at the first start, the one that the settings name is made it. */
export async function ensureActiveModel(
  store: Store,
  { embedder, jobs }: Settings,
  { now, log }: { now: () => number; log: Logger },
): Promise<EmbeddingModel | null> {
  const active = store.reader.models.activeModel();
  if (active !== undefined) return active;
  if (embedder.provider === 'none') return null;
  if (embedder.provider !== localProvider && embedder.model === localModelName) {
    log.warn(
      { provider: embedder.provider },
      'embedder.model is not set: the provider is asked for a model called wink',
    );
  }
  const problem = dimProblem(embedder.model, embedder.dim);
  if (problem !== null) log.warn({ model: embedder.model }, `embedder.dim: ${problem}`);
  const named = { provider: embedder.provider, model_name: embedder.model, dim: embedder.dim };
  return store.commit(
    installModel(
      {
        id: modelIdOf(named),
        ...named,
        max_input_tokens: embedder.max_input_tokens,
        ...traitsOf(embedder),
      },
      { at: now(), max_attempts: jobs.max_attempts },
    ),
  );
}

/**
 * Models whose stored vectors another version of the embedded model made are filled again. Writes only then: the disk may be full.
 * Errors: OperatorError `disk_full`.
 */
export async function renewModels(store: Store, dataDir: string, policy: JobPolicy, log: Logger): Promise<void> {
  if (!store.reader.models.all().some(isOutdated)) return;
  requireRoomToUpgrade(dataDir);
  const models = await store.commit(renewOutdatedModels(policy));
  log.warn({ models }, 'vectors of another version of the embedded model are made anew');
}
