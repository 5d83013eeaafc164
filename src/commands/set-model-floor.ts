/** Store a model's measured floor, unless the model has gone or been registered anew meanwhile. */
import type { EmbeddingModel } from '../domain/model.ts';
import type { Command } from '../store/store.ts';

/** Whether it was stored. */
export function setModelFloor({ id, space }: Pick<EmbeddingModel, 'id' | 'space'>, floor: number): Command<boolean> {
  return ({ models }) => {
    const model = models.get(id);
    if (model?.space !== space) return false;
    models.put({ ...model, floor });
    return true;
  };
}
