import type { Logger } from 'pino';
import { startBackfill } from '../commands/backfill-model.ts';
import { installModel } from '../commands/manage-models.ts';
import type { JobPolicy } from '../commands/move-job.ts';
import { isOutdated, renewOutdatedModels } from '../commands/renew-models.ts';
import { dimProblem } from '../domain/known-models.ts';
import { builtInModel, type EmbeddingModel, localProvider, modelIdOf } from '../domain/model.ts';
import type { Settings } from '../settings/read-settings.ts';
import { requireRoomToUpgrade } from '../store/room-to-open.ts';
import type { Store } from '../store/store.ts';

/** The store's active model; at the first start it becomes the configured one. */
export async function ensureActiveModel(
  store: Store,
  { embedder, jobs }: Settings,
  { now, log }: { now: () => number; log: Logger },
): Promise<EmbeddingModel | null> {
  const active = store.reader.models.activeModel();
  if (active !== undefined) return active;
  if (embedder.provider === 'none') return null;
  if (embedder.provider !== localProvider && embedder.model === builtInModel.model_name) {
    log.warn(
      { provider: embedder.provider },
      `embedder.model is not set: the provider is asked for a model called ${builtInModel.model_name}`,
    );
  }
  const problem = dimProblem(embedder.model, embedder.dim);
  if (problem !== null) log.warn({ model: embedder.model }, `embedder.dim: ${problem}`);
  const isLocal = embedder.provider === localProvider;
  const outside = { provider: embedder.provider, model_name: embedder.model, dim: embedder.dim, floor: null };
  const named = isLocal ? builtInModel : outside;
  return store.commit(
    installModel(
      {
        id: modelIdOf(named),
        ...named,
        max_input_tokens: embedder.max_input_tokens,
      },
      { at: now(), max_attempts: jobs.max_attempts },
    ),
  );
}

/**
 * Replaces local models of earlier versions by the built-in one, and retries failed fillings. Writes only if needed:
 * the disk may be full. Errors: OperatorError `disk_full`.
 */
export async function renewModels(
  store: Store,
  dataDir: string,
  policy: JobPolicy & { max_input_tokens: number },
  log: Logger,
): Promise<void> {
  await retryFilling(store, policy);
  if (!store.reader.models.all().some(isOutdated)) return;
  requireRoomToUpgrade(dataDir);
  const models = await store.commit(renewOutdatedModels(policy));
  log.warn(
    { models },
    'the local models of an earlier version are deleted; vectors of the built-in model are made behind',
  );
}

/** The encoder may not have worked before. */
async function retryFilling(store: Store, policy: JobPolicy): Promise<void> {
  const id = modelIdOf(builtInModel);
  const model = store.reader.models.get(id);
  if (model === undefined || store.reader.backfills.get(model.space)?.status !== 'failed') return;
  await store.commit(startBackfill(id, policy));
}
