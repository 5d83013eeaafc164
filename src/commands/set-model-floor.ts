/** Store what was measured of a model, unless the model has gone or been registered anew meanwhile. */
import type { EmbeddingModel, Fusion } from '../domain/model.ts';
import type { Command } from '../store/store.ts';

/** Whether it was stored. */
export function setModelFloor(model: Pick<EmbeddingModel, 'id' | 'space'>, floor: number): Command<boolean> {
  return setMeasured(model, { floor });
}

/** Whether it was stored. */
export function setModelFusion(model: Pick<EmbeddingModel, 'id' | 'space'>, fusion: Fusion): Command<boolean> {
  return setMeasured(model, { fusion });
}

function setMeasured(
  { id, space }: Pick<EmbeddingModel, 'id' | 'space'>,
  measured: Pick<EmbeddingModel, 'floor'> | { fusion: Fusion },
): Command<boolean> {
  return ({ models }) => {
    const model = models.get(id);
    if (model?.space !== space) return false;
    models.put({ ...model, ...measured });
    return true;
  };
}
