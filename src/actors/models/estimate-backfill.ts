/** Estimates a backfill: counts chunks, tokens and cost; takes the duration from an earlier backfill of its kind. */
import { type BackfillEstimateResponse, type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { ollamaProvider } from '../../domain/usual-address.ts';
import type { LibraryParts } from '../system/service.ts';
import { countPages } from './backfill-slices.ts';

export interface EstimateDependencies extends Pick<LibraryParts, 'reader'> {
  /** US dollars per million tokens, by model name. */
  prices: Readonly<Record<string, number>>;
}

const tokensPerPrice = 1_000_000;

/** Cost of these tokens with a model, US dollars: 0 for a local model, null without a price. */
export function costOf(
  tokens: number,
  model: Pick<EmbeddingModel, 'provider' | 'model_name'>,
  prices: EstimateDependencies['prices'],
): number | null {
  const unset = model.provider === ollamaProvider ? 0 : undefined;
  const price = !isOutside(model) ? 0 : (prices[model.model_name] ?? unset);
  return price === undefined ? null : (tokens / tokensPerPrice) * price;
}

export function backfillEstimator({ reader, prices }: EstimateDependencies) {
  /** Chunks per ms in earlier backfills of this kind of model; null if there were none. */
  const speedBefore = (model: EmbeddingModel): number | null => {
    const speeds = reader.backfills.all().flatMap(({ model_id, made_chunks, busy_ms }) => {
      const other = reader.models.get(model_id);
      const same = other?.provider === model.provider && (other.dim === model.dim || isOutside(model));
      return same && made_chunks > 0 && busy_ms > 0 ? [made_chunks / busy_ms] : [];
    });
    return speeds.length === 0 ? null : Math.max(...speeds);
  };

  return async (model: EmbeddingModel, signal: AbortSignal | undefined): Promise<BackfillEstimateResponse> => {
    const { chunks, tokens } = await countPages(reader, signal, model.space);
    const speed = speedBefore(model);
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
