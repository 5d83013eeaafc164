/**
 * Whether the index has everything that the store has: the one place that knows, for whoever tells people that answers may lack pages
 * (searches, readiness). A side that misses a chunk misses it for all who ask; a model that is renewed has its vectors made anew.
 */
import type { IndexState } from '../../domain/messages.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
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
  /** Whether a search with this model's vectors finds everything. */
  isWhole(model: EmbeddingModel): boolean;
  /** How far the index is, with the active model. */
  state(): IndexState;
}

export function indexCompleteness({ reader, catalog, spaces, recovery }: CompletenessDependencies): IndexCompleteness {
  const isWhole = (model: EmbeddingModel): boolean =>
    model.status === 'ready' && recovery.text.isWhole && spaces.opened(model.space)?.isWhole !== false;

  const missing = (model: EmbeddingModel | undefined): number => {
    const text = recovery.text.lacking().chunks;
    if (model === undefined) return text;
    const lacking = spaces.opened(model.space)?.lacking().chunks ?? 0;
    if (model.status === 'ready') return Math.max(text, lacking);
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
