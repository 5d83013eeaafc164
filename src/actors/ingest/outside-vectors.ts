/**
 * Vectors of outside models for pages being indexed. A page waits for the active model. For another model it waits briefly: if that
 * provider is down, refuses or is slow, the page gets a gap, which the model's backfill fills; during the backfill, or after its
 * failure, the provider gets no single pages.
 */
import { type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { Deadline, systemClock } from '../../providers/clock.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CalibrateOutside } from '../models/calibrate-outside.ts';

export interface OutsideVectorsOptions {
  embedders: Pick<Embedders, 'documentVectors'>;
  reader: Pick<StoreReader, 'models' | 'backfills'>;
  calibrate: CalibrateOutside;
  /** How long pages wait for an inactive model, ms. */
  patienceMs: number;
}

/**
 * Rows by space for outside models among `models`; none for a model that gets a gap.
 * Errors: of the active model's provider; the signal's reason.
 */
export type OutsideVectors = (
  models: readonly EmbeddingModel[],
  passages: readonly string[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<number, Float32Array>>;

class TooLate extends Error {}

export function outsideVectors({ embedders, reader, calibrate, patienceMs }: OutsideVectorsOptions): OutsideVectors {
  /** Spaces of slow models: not asked until their backfills have closed the gaps. */
  const late = new Set<number>();

  const isLeftToBackfill = ({ space }: EmbeddingModel): boolean => {
    if (reader.backfills.get(space)?.status === 'failed') return true;
    if (late.has(space) && reader.backfills.gaps(space, 1).length === 0) late.delete(space);
    return late.has(space);
  };

  const rowsOf = async (model: EmbeddingModel, passages: readonly string[], signal: AbortSignal) => {
    await calibrate(model, signal);
    return embedders.documentVectors(model, passages, signal);
  };

  const rowsInTime = async (
    model: EmbeddingModel,
    passages: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array | null> => {
    if (isLeftToBackfill(model)) return null;
    try {
      const tooLate = new TooLate(`no vectors within ${patienceMs} ms`);
      return await new Deadline(systemClock, patienceMs, signal, tooLate).run((limited) =>
        rowsOf(model, passages, limited),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TooLate) late.add(model.space);
      else if (!(error instanceof BreakerOpenError || error instanceof ProviderError)) throw error;
      return null;
    }
  };

  return async (models, passages, signal) => {
    const rows = await Promise.all(
      models.filter(isOutside).map(async (model) => {
        const isActive = model.id === reader.models.activeId();
        return [model.space, await (isActive ? rowsOf : rowsInTime)(model, passages, signal)] as const;
      }),
    );
    return new Map(rows.flatMap(([space, found]) => (found === null ? [] : [[space, found] as const])));
  };
}
