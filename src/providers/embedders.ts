/**
 * The embedders of every model, found by its row. The encoder computes the vectors of provider `local`; of the others address and key come from the settings, retries and breaker are shared by all models of a provider. It keeps nothing of a model, so a model
 * that is registered again or deleted needs no word here.
 */
import { hasContent } from '../compute/embedding/encoder-windows.ts';
import type { NameSpans } from '../compute/text/name-tags.ts';
import { builtInModel, type EmbeddingModel, localProvider } from '../domain/model.ts';
import { type EncodedTexts, type Encoder, EncoderUnusableError } from '../encoder/encoder.ts';
import type { InputType } from './model-prefixes.ts';
import { type Embedder, openEmbedder } from './open-embedder.ts';
import {
  type CallSurroundings,
  callsThrough,
  embeddingEndpoint,
  findEmbeddingEndpoint,
  type ProviderSettings,
} from './provider-settings.ts';
import { type CallOptions, limited, type ProviderCall, ProviderError } from './resilient-call.ts';

export type ModelOfProvider = Pick<EmbeddingModel, 'provider' | 'model_name' | 'dim' | 'max_input_tokens'>;

export type Embedders = ReturnType<typeof openEmbedders>;

export interface EmbeddersOptions extends CallSurroundings {
  settings: ProviderSettings;
  encoder: Pick<Encoder, 'encode' | 'query'>;
  /** Called once if a call failed after its retries, but not if the breaker refused it or the caller left. */
  onError: (provider: string) => void;
  stopping: AbortSignal;
}

export function openEmbedders({ settings, encoder, onError, stopping, ...surroundings }: EmbeddersOptions) {
  const { clock } = surroundings;
  const calls = new Map<string, ProviderCall>();
  const callsTo = (provider: string): ProviderCall => {
    let call = calls.get(provider);
    if (call === undefined) {
      const breaker = surroundings.breakers.of(provider);
      call = callsThrough(provider, breaker, settings.resilience.embed_timeout_s, settings, surroundings);
      calls.set(provider, call);
    }
    return call;
  };

  const embedderOf = ({ provider, model_name, dim, max_input_tokens }: ModelOfProvider): Embedder => {
    const endpoint = embeddingEndpoint(provider, settings);
    const parts = { model: model_name, dim, maxInputTokens: max_input_tokens, call: callsTo(provider) };
    return openEmbedder({ ...parts, endpoint, wall: clock.wall });
  };

  const embed = async (model: ModelOfProvider, texts: readonly string[], kind: InputType, options: CallOptions) => {
    try {
      return await embedderOf(model).embed(texts, kind, options);
    } catch (error) {
      if (error instanceof ProviderError) onError(model.provider);
      throw error;
    }
  };

  const outlasting = new Set<string>();
  /**
   * A server that loads a model for its first call (Ollama) stops when the caller leaves, and would never load it for
   * searches. So one call at a time continues after its search. Not with a key, as that may cost money.
   */
  const mayOutlast = ({ provider }: ModelOfProvider, name: string): boolean =>
    !outlasting.has(name) && findEmbeddingEndpoint(provider, settings)?.credentials.api_key === null;

  return {
    /**
     * Vector of a query, of unit length; null for a text without any visible character.
     * Errors: those of resilientCall; ProviderError `bad_answer` for a vector of another length than the model's, `unconfigured`
     *         where no address is set for the provider.
     */
    async queryVector(model: ModelOfProvider, text: string, options: CallOptions = {}): Promise<Float32Array | null> {
      if (isBlank(model, text)) return null;
      const { provider, model_name } = model;
      const { signal, deadlineMs } = options;
      signal?.throwIfAborted();
      if (provider === localProvider) {
        const call = () => ofEncoder(() => encoder.query(text, signal));
        return deadlineMs === undefined ? call() : limited({ provider, clock }, call, deadlineMs, signal);
      }
      const name = `${provider}/${model_name}`;
      if (deadlineMs === undefined || !mayOutlast(model, name)) return embed(model, [text], 'query', options);
      outlasting.add(name);
      const call = embed(model, [text], 'query', { signal: stopping }).finally(() => outlasting.delete(name));
      return limited({ provider, clock }, () => call, deadlineMs, signal);
    },
    /**
     * Vectors of passages, by an outside model.
     * Shapes: `texts.length` rows of `model.dim` numbers, one after the other, of length 1; of zeros for a blank text.
     * Errors: as above; nothing of the texts is given then.
     */
    async documentVectors(model: ModelOfProvider, texts: readonly string[], signal?: AbortSignal) {
      const filled = texts.flatMap((text, at) => (isBlank(model, text) ? [] : [at]));
      const filledTexts = filled.map((at) => texts[at]);
      const rows = await embed(model, filledTexts, 'document', { signal });
      return spread(rows, filled, texts.length, model.dim);
    },
    /**
     * Vectors of passages by the built-in model, and the names in them. A text without a vector does not affect others.
     * `sentence`: first,
     * in one window each, without names. Errors: ProviderError `unreachable`; the signal's reason.
     */
    async passages(
      texts: readonly string[],
      signal?: AbortSignal,
      kind: 'passage' | 'sentence' = 'passage',
    ): Promise<EncodedTexts> {
      const filled = texts.flatMap((text, at) => (hasContent(text) ? [at] : []));
      const filledTexts = filled.map((at) => texts[at]);
      try {
        const { rows, failed, names } = await ofEncoder(() => encoder.encode(filledTexts, kind, signal));
        const namesAt = new Map(filled.map((at, row) => [at, names[row]]));
        return {
          rows: spread(rows, filled, texts.length, builtInModel.dim),
          failed: new Map([...failed].map(([at, reason]) => [filled[at], reason])),
          names: texts.map((_, at): NameSpans => namesAt.get(at) ?? []),
        };
      } catch (error) {
        if (error instanceof ProviderError) onError(localProvider);
        throw error;
      }
    },
    /** Vectors of queries by an outside model. None may be blank. Shapes and errors as of passages. */
    queryVectors: (model: ModelOfProvider, texts: readonly string[], signal?: AbortSignal) =>
      embed(model, texts, 'query', { signal }),
    /** The breaker of all vector calls to the model's provider. */
    breakerOf: ({ provider }: Pick<EmbeddingModel, 'provider'>) => surroundings.breakers.of(provider),
  };
}

/** Rows of some texts at their indexes among all; zeros elsewhere. */
function spread(rows: Float32Array, places: readonly number[], count: number, dim: number): Float32Array {
  if (places.length === count) return rows;
  const all = new Float32Array(count * dim);
  for (const [row, at] of places.entries()) all.set(rows.subarray(row * dim, (row + 1) * dim), at * dim);
  return all;
}

/** Errors: ProviderError `unreachable` if the encoder cannot be used; the signal's reason. */
async function ofEncoder<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof EncoderUnusableError) throw new ProviderError(localProvider, 'unreachable', error.message);
    throw error;
  }
}

const visible = /[^\s\p{C}]/u;

/** Providers refuse texts without content. */
function isBlank({ provider }: Pick<EmbeddingModel, 'provider'>, text: string): boolean {
  return provider === localProvider ? !hasContent(text) : !visible.test(text);
}
