/** What the registry notes of a model beside what it was asked for, where the service itself computes it. */
import { type EmbeddingModel, localDim } from '../../domain/model.ts';
import { localFloor } from './calibrate-floor.ts';
import { LOCAL_MODEL_VERSION } from './embed-local.ts';

type Traits = Pick<EmbeddingModel, 'floor' | 'version'>;

/** Of an outside model the floor is measured before its first vectors are made. */
export function traitsOf(model: Pick<EmbeddingModel, 'provider' | 'dim'>): Traits {
  const dim = localDim(model);
  return dim === null ? { floor: null } : { floor: localFloor(dim), version: LOCAL_MODEL_VERSION };
}
