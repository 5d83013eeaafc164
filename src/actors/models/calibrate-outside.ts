/**
 * Measures the floor of an outside model (compute/embedding/floor-sample.ts) before its first vectors are made, and stores it with the
 * model: without one every passage would be a hit of every query. Three small requests, once in a model's life.
 */
import { setModelFloor } from '../../commands/manage-models.ts';
import { FLOOR_SAMPLE, floorOfSample } from '../../compute/embedding/floor-sample.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { Embedders } from '../../providers/embedders.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface FloorCalibration {
  embedders: Pick<Embedders, 'queryVectors' | 'documentVectors'>;
  reader: Pick<StoreReader, 'models'>;
  commit: CommitCommand;
}

/** Makes sure that a model has a floor. Errors: of the calls, as those for any vectors; of the store. */
export type CalibrateOutside = (model: EmbeddingModel, signal: AbortSignal) => Promise<void>;

export function floorCalibrator({ embedders, reader, commit }: FloorCalibration): CalibrateOutside {
  /** By vector space: whoever comes meanwhile waits for the same measurement, and has its error. */
  const measuring = new Map<number, Promise<void>>();

  const measure = async (model: EmbeddingModel): Promise<void> => {
    const rowsOf = (rows: Float32Array) =>
      Array.from({ length: rows.length / model.dim }, (_, at) => rows.subarray(at * model.dim, (at + 1) * model.dim));
    const passages = await embedders.documentVectors(
      model,
      FLOOR_SAMPLE.map(({ passage }) => passage),
    );
    const queries = rowsOf(
      await embedders.queryVectors(
        model,
        FLOOR_SAMPLE.flatMap((subject) => subject.queries),
      ),
    );
    const bySubject = FLOOR_SAMPLE.map((_, at) => queries.slice(2 * at, 2 * at + 2));
    await commit(setModelFloor(model, floorOfSample(rowsOf(passages), bySubject)));
  };

  return async (model, signal) => {
    const { id, space } = model;
    if (reader.models.get(id)?.floor != null) return;
    signal.throwIfAborted();
    let measured = measuring.get(space);
    if (measured === undefined) {
      measured = measure(model).finally(() => measuring.delete(space));
      measuring.set(space, measured);
    }
    await measured;
  };
}
