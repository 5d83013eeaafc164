/**
 * What a backfill would take. Chunks, tokens and cost are counted; the duration is that of an earlier backfill of the same kind, else
 * of a trial on stored pages where that costs nothing (docs/models.md, "Estimates"). Nothing is stored.
 */
import { type BackfillEstimateResponse, type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { ollamaProvider } from '../../domain/usual-address.ts';
import { transformersProvider } from '../../providers/transformers.ts';
import type { StoreReader } from '../../store/store.ts';
import { countPages, type PageToEmbed, slicesFrom } from './backfill-slices.ts';
import type { ModelEmbedder } from './model-embedder.ts';

export interface EstimateDependencies {
  reader: StoreReader;
  embedder: ModelEmbedder;
  /** US dollars for a million tokens, by name of the model. */
  prices: Readonly<Record<string, number>>;
  /** Work threads, on which the embedded model is tried. */
  workers: number;
  /** Ms, for what lasts. */
  monotonic: () => number;
}

const tokensPerPrice = 1_000_000;

/** What so many tokens cost with a model, US dollars: nothing where it runs here or nobody is paid, null where its price is not set. */
export function costOf(
  tokens: number,
  model: Pick<EmbeddingModel, 'provider' | 'model_name'>,
  prices: EstimateDependencies['prices'],
): number | null {
  const runsHere = !isOutside(model) || model.provider === transformersProvider;
  const unset = model.provider === ollamaProvider ? 0 : undefined;
  const price = runsHere ? 0 : (prices[model.model_name] ?? unset);
  return price === undefined ? null : (tokens / tokensPerPrice) * price;
}

/** Pages looked at for the first ones that lack vectors, when the speed of the embedded model is tried. */
const triedPages = 2000;

/** Estimates the backfill of a model, for as long as the signal is not aborted. Errors: those of a trial. */
export function backfillEstimator({ reader, embedder, prices, workers, monotonic }: EstimateDependencies) {
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
    const slices: PageToEmbed[][] = [];
    for (const { pages } of slicesFrom(reader, model.space, 0, triedPages)) {
      if (pages.length > 0) slices.push(pages);
      if (slices.length === 2 * workers) break;
    }
    if (slices.length === 0) return null;
    // Not the asker's signal: a task that is given up ends its thread, on which other work waits.
    const options = { signal: new AbortController().signal, tolerated: 0 };
    const embed = (some: PageToEmbed[][]) => Promise.all(some.map((pages) => embedder.embed(model, pages, options)));
    // First the threads may have to load the language model. Then other texts: words that have just come are quicker.
    await embed(slices.slice(0, workers));
    signal?.throwIfAborted();
    const tried = slices.slice(-workers);
    const count = tried.flat().reduce((sum, { chunks }) => sum + chunks.length, 0);
    const began = monotonic();
    await embed(tried);
    return count / Math.max(0.1, monotonic() - began);
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
