/** Whether the index has everything in the store: the one source for searches and readiness. */
import type { IndexState } from '../../domain/messages.ts';
import { type EmbeddingModel, isBuiltIn } from '../../domain/model.ts';
import type { Catalog } from '../../index/catalog.ts';
import type { ModelSpaces } from '../../index/model-spaces.ts';
import type { StoreReader } from '../../store/store.ts';
import type { StartRecovery } from './start-recovery.ts';

export interface CompletenessDependencies {
  reader: Pick<StoreReader, 'models' | 'backfills'>;
  catalog: Catalog;
  spaces: ModelSpaces;
  recovery: StartRecovery;
}

export interface IndexCompleteness {
  isWhole(model: EmbeddingModel): boolean;
  /** With the active model. */
  state(): IndexState;
}

export function indexCompleteness({ reader, catalog, spaces, recovery }: CompletenessDependencies): IndexCompleteness {
  const isWhole = (model: EmbeddingModel): boolean =>
    (model.status === 'ready' || isBuiltIn(model)) &&
    recovery.text.isWhole &&
    spaces.opened(model.space)?.isWhole !== false;

  const missing = (model: EmbeddingModel | undefined): number => {
    const text = recovery.text.lacking().chunks;
    if (model === undefined) return text;
    const lacking = spaces.opened(model.space)?.lacking().chunks ?? 0;
    // Missing vectors of the built-in model are filled later and no fault.
    if (model.status === 'ready' || isBuiltIn(model)) return Math.max(text, lacking);
    const backfill = reader.backfills.get(model.space);
    const unmade = backfill === undefined ? 0 : (backfill.total_chunks ?? 0) - backfill.embedded_chunks;
    return Math.max(text, lacking, unmade);
  };

  return {
    isWhole,
    state: () => {
      const model = reader.models.activeModel();
      const whole = model === undefined ? recovery.text.isWhole : isWhole(model);
      const total_chunks = catalog.liveLabels;
      const indexed_chunks = Math.max(0, total_chunks - missing(model));
      return { state: whole ? 'whole' : 'rebuilding', indexed_chunks, total_chunks };
    },
  };
}
