/**
 * Embedding models: registers, deletes and activates them, estimates and starts backfills. A model is activated only
 * with all vectors in memory; a search reads the active pointer once. A deletion answers after the model's row, files
 * and, in slices, vectors are deleted. The next start deletes what a crash leaves.
 */

import { pauseFill, startBackfill } from '../../commands/backfill-model.ts';
import { activateModel, emptySpace, registerModel, retireModel } from '../../commands/manage-models.ts';
import { DomainError, required, unknownId } from '../../domain/errors.ts';
import { dimProblem } from '../../domain/known-models.ts';
import type { MessageName } from '../../domain/messages.ts';
import {
  builtInModel,
  type EmbeddingModel,
  isBuiltIn,
  localProvider,
  type ModelBackfillResponse,
  type ModelInfo,
  maxModelName,
  modelIdOf,
  type RegisterModelRequest,
} from '../../domain/model.ts';
import { idOf, isoOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';
import type { Handlers, LibraryParts, StartService } from '../system/service.ts';
import { refusedIn } from './backfill-slices.ts';
import { backfillEstimator, type EstimateDependencies } from './estimate-backfill.ts';

interface ModelsDependencies
  extends EstimateDependencies,
    Pick<LibraryParts, 'ask' | 'commit' | 'maxAttempts' | 'log' | 'now'> {
  /** Whether models of this outside provider can be registered. */
  isKnownProvider: (provider: string) => boolean;
  /** Max tokens of a chunk. Every model must accept as many. */
  chunkBudget: number;
  /** The runtime of the encoder, or why it cannot be used; null before its first use. */
  encoderRuntime: () => string | null;
}

type ModelMessages = Extract<MessageName, `model.${string}`>;

/** Pages whose vectors are deleted in one transaction: some ms. */
const deletedAtOnce = 100;

export function modelsService(dependencies: ModelsDependencies): StartService<ModelMessages> {
  const { ask, reader, commit, maxAttempts, encoderRuntime, log, now } = dependencies;
  const estimate = backfillEstimator(dependencies);

  const infoOf = (model: EmbeddingModel): ModelInfo => {
    const { id, provider, model_name, dim, max_input_tokens, status } = model;
    return { id, provider, model_name, dim, max_input_tokens, is_active: reader.models.activeId() === id, status };
  };
  const listed = (model: EmbeddingModel): ModelInfo => {
    const runtime = isBuiltIn(model) ? { runtime: encoderRuntime() } : {};
    return { ...infoOf(model), ...progressOf(reader, model), ...runtime };
  };
  const requireModel = (id: string): EmbeddingModel => required(reader.models.get(id), 'model', id);

  const register = async (request: RegisterModelRequest): Promise<ModelInfo> => {
    const { provider, model_name, dim, max_input_tokens } = request;
    const problem = problemOf(request, dependencies);
    if (problem !== null) throw new DomainError('invalid', problem);
    const id = request.id ?? modelIdOf(request);
    const model = await commit(
      registerModel({
        ...{ id, provider, model_name, dim, max_input_tokens },
        floor: provider === localProvider ? builtInModel.floor : null,
      }),
    );
    if (model === null) throw new DomainError('conflict', `the model ${id} is already registered`);
    return infoOf(model);
  };

  const activate = async (id: string): Promise<ModelInfo> => {
    const { space, status } = requireModel(id);
    if (status === 'ready') await ask('index.openSpace', { model_id: id });
    const outcome = await commit(activateModel(id, space));
    if (outcome.outcome === 'unknown') throw unknownId('model', id);
    if (outcome.outcome === 'not_ready') {
      throw new DomainError('conflict', `the model is ${outcome.status}; only ready models can be activated`);
    }
    return infoOf(outcome.model);
  };

  const retire = async (id: string): Promise<undefined> => {
    const outcome = await commit(retireModel(id, now()));
    if (outcome.outcome === 'unknown') throw unknownId('model', id);
    if (outcome.outcome === 'active') throw new DomainError('conflict', 'the active model cannot be deleted');
    await clear(outcome.space);
    return undefined;
  };
  const clear = async (space: number) => {
    await ask('index.dropSpace', { space });
    while (await commit(emptySpace(space, deletedAtOnce))) await new Promise(setImmediate);
  };

  const handlers: Handlers<ModelMessages> = {
    'model.list': () => ({ models: reader.models.all().map(listed) }),
    'model.register': register,
    'model.activate': ({ model_id }) => activate(model_id),
    'model.pauseFill': async ({ paused }) => {
      await commit(pauseFill(paused, now()));
      return { models: reader.models.all().map(listed) };
    },
    'model.retire': ({ model_id }) => retire(model_id),
    'model.backfill': async ({ model_id }) => {
      const { total_chunks } = await ask('index.state', {});
      return backfillOf(reader, requireModel(model_id), total_chunks);
    },
    'model.estimateBackfill': ({ model_id }, signal) => estimate(requireModel(model_id), signal),
    'model.startBackfill': async ({ model_id }) => {
      const started = await commit(startBackfill(model_id, { at: now(), max_attempts: maxAttempts }));
      if (started === null) throw unknownId('model', model_id);
      return { model_id, status: 'backfilling' };
    },
  };

  return async () => {
    const background = new Background(log);
    background.soon('leftovers of deleted models could not be deleted', async () => {
      for (const space of reader.models.droppedSpaces()) {
        log.info({ space }, 'leftovers of a deleted model were deleted');
        await clear(space);
      }
    });
    return { handlers, stop: () => background.stop() };
  };
}

/** Why a model cannot be registered: the field and its fault. Null if it can. */
function problemOf(request: RegisterModelRequest, { chunkBudget, isKnownProvider }: ModelsDependencies): string | null {
  const { provider, model_name, dim, max_input_tokens } = request;
  if (request.id == null && modelIdOf(request).length > maxModelName) {
    return `id: required, because the default made of these names has more than ${maxModelName} characters`;
  }
  if (max_input_tokens < chunkBudget) {
    return `max_input_tokens: ${max_input_tokens} is less than the chunk limit of ${chunkBudget} tokens`;
  }
  if (provider !== localProvider) {
    const variable = `SERVICE_PROVIDERS__${provider.toUpperCase()}__BASE_URL`;
    if (!isKnownProvider(provider))
      return `provider: ${shown(provider)} is unknown; set its address as ${shown(variable)}`;
    const problem = dimProblem(model_name, dim);
    return problem === null ? null : `dim: ${problem}`;
  }
  if (isBuiltIn(request)) return null;
  const { model_name: name, dim: numbers } = builtInModel;
  return `model_name: the one built-in model is ${name} of ${numbers} dimensions, not ${shown(model_name)} of ${dim}`;
}

function progressOf(reader: StoreReader, model: EmbeddingModel): Partial<ModelInfo> {
  const { made_chunks = 0, busy_ms = 0, ...row } = reader.backfills.get(model.space) ?? {};
  const { pages, chunks } = reader.backfills.pending(model.space);
  const rate = made_chunks > 0 && busy_ms > 0 ? (1000 * made_chunks) / busy_ms : null;
  const swept =
    !isBuiltIn(model) && 'cursor' in row && row.status === 'running' && (row.cursor ?? 0) < (row.last_page ?? 0);
  const paused = isBuiltIn(model) && reader.models.isFillPaused();
  const pending = swept ? Math.max(chunks, (row.total_chunks ?? 0) - (row.embedded_chunks ?? 0)) : chunks;
  const eta_s = pending === 0 ? 0 : rate === null || paused ? null : pending / rate;
  return { vectors_pending: pending, pages_pending: pages, rate_per_s: rate, eta_s, paused };
}

/** Progress of a model's backfill, with the chunks that never get vectors. `chunks`: those of all pages. */
function backfillOf(reader: StoreReader, model: EmbeddingModel, chunks: number): ModelBackfillResponse {
  const { id, space } = model;
  const row = reader.backfills.get(space);
  if (row === undefined) {
    const none = { cursor_page_id: null, started_at: null, updated_at: null, finished_at: null, last_error: null };
    return { model_id: id, status: 'not_started', total_chunks: 0, embedded_chunks: 0, total_tokens: 0, ...none };
  }
  const refused = refusedIn(reader, space);
  const counted = refused.chunks === 1 ? '1 chunk has' : `${refused.chunks} chunks have`;
  const lacks = refused.reason === null ? null : `${counted} no vector: ${refused.reason}`;
  // Vectors of the built-in model change without its backfill, so they are counted.
  const counts = isBuiltIn(model)
    ? {
        total_chunks: chunks,
        embedded_chunks: Math.max(0, chunks - reader.backfills.pending(space).chunks - refused.chunks),
      }
    : {
        total_chunks: Math.max(row.total_chunks ?? 0, row.embedded_chunks + refused.chunks),
        embedded_chunks: row.embedded_chunks,
      };
  return {
    model_id: id,
    status: row.status,
    ...counts,
    total_tokens: row.total_tokens ?? 0,
    cursor_page_id: row.cursor === 0 ? null : idOf('page', row.cursor),
    started_at: isoOf(row.started_at),
    updated_at: isoOf(row.updated_at),
    finished_at: row.finished_at === null ? null : isoOf(row.finished_at),
    last_error: row.last_error ?? lacks,
  };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}
