/**
 * What a backfill would take. Chunks, tokens and cost are counted; the duration is that of an earlier backfill of the same kind, else
 * of a trial on stored pages where that costs nothing (docs/models.md, "Estimates"). Nothing is stored.
 */
import { type BackfillEstimateResponse, type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { ollamaProvider } from '../../domain/usual-address.ts';
import type { LibraryParts } from '../system/service.ts';
import { countPages, slicesFrom } from './backfill-slices.ts';
import type { ModelEmbedder } from './model-embedder.ts';

export interface EstimateDependencies extends Pick<LibraryParts, 'reader' | 'monotonic'> {
  embedder: ModelEmbedder;
  /** US dollars for a million tokens, by name of the model. */
  prices: Readonly<Record<string, number>>;
}

const tokensPerPrice = 1_000_000;

/** What so many tokens cost with a model, US dollars: 0 for a local model, null without a price. */
export function costOf(
  tokens: number,
  model: Pick<EmbeddingModel, 'provider' | 'model_name'>,
  prices: EstimateDependencies['prices'],
): number | null {
  const unset = model.provider === ollamaProvider ? 0 : undefined;
  const price = !isOutside(model) ? 0 : (prices[model.model_name] ?? unset);
  return price === undefined ? null : (tokens / tokensPerPrice) * price;
}

/** Pages looked at for the first ones that lack vectors, when the speed of the built-in model is tried. */
const triedPages = 2000;
/** Chunks that it is tried with. */
const triedChunks = 4;

/** Estimates the backfill of a model, for as long as the signal is not aborted. Errors: those of a trial. */
export function backfillEstimator({ reader, embedder, prices, monotonic }: EstimateDependencies) {
  /** As measured: in earlier backfills of a model of this kind. */
  const speedBefore = (model: EmbeddingModel): number | null => {
    const speeds = reader.backfills.all().flatMap(({ model_id, made_chunks, busy_ms }) => {
      const other = reader.models.get(model_id);
      const same = other?.provider === model.provider && (other.dim === model.dim || isOutside(model));
      return same && made_chunks > 0 && busy_ms > 0 ? [made_chunks / busy_ms] : [];
    });
    return speeds.length === 0 ? null : Math.max(...speeds);
  };

  /** As tried on stored pages; null where there are none that lack vectors. */
  const triedSpeed = async (model: EmbeddingModel, signal: AbortSignal | undefined): Promise<number | null> => {
    for (const { pages } of slicesFrom(reader, model.space, 0, triedPages)) {
      const [page] = pages;
      if (page === undefined) continue;
      const tried = [{ ...page, chunks: page.chunks.slice(0, triedChunks) }];
      const embed = () =>
        embedder.embed(model, tried, { signal: signal ?? new AbortController().signal, tolerated: triedChunks });
      await embed(); // the encoder may have to be loaded
      const began = monotonic();
      await embed();
      return tried[0].chunks.length / Math.max(0.1, monotonic() - began);
    }
    return null;
  };

  const chunksPerMs = async (model: EmbeddingModel, signal: AbortSignal | undefined): Promise<number | null> =>
    speedBefore(model) ?? (isOutside(model) ? null : triedSpeed(model, signal));

  return async (model: EmbeddingModel, signal: AbortSignal | undefined): Promise<BackfillEstimateResponse> => {
    const { chunks, tokens } = await countPages(reader, signal, model.space);
    const speed = chunks === 0 ? null : await chunksPerMs(model, signal);
    return {
      model_id: model.id,
      n_chunks: chunks,
      total_tokens: tokens,
      est_cost_usd: costOf(tokens, model, prices),
      est_duration_s: chunks === 0 ? 0 : speed === null ? null : chunks / speed / 1000,
      confirm_required: true,
    };
  };
}
