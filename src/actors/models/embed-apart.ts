/**
 * Embeds texts at a provider that may refuse some of them (too long, a content filter, a vector of NaN): the others shall not do
 * without theirs. What is refused together is halved until the texts at fault are alone. So that a provider which refuses everything
 * (a model that is unknown there, a wrong setting) is not asked for each text of a collection, a text of our own goes out first:
 * where that is refused as well, no text is at fault. n texts with r refused ones take about 2 r log2(n / r) calls.
 */
import { FLOOR_SAMPLE } from '../../compute/embedding/floor-sample.ts';
import { ProviderError } from '../../providers/provider-error.ts';

export interface TextVectors {
  /** One row a text, zeros for one that is refused. */
  rows: Float32Array;
  /** Why texts are refused, by their places. */
  refused: ReadonlyMap<number, string>;
}

export interface EmbedApartOptions {
  dim: number;
  /** Vectors of texts, one after the other. */
  embed: (texts: readonly string[]) => Promise<Float32Array>;
  /** So many texts may be refused. */
  tolerated: number;
}

const [{ passage: harmless }] = FLOOR_SAMPLE;

/** Errors: those of `embed` that are no text's; a refusal beyond the tolerated ones, or of a harmless text too. */
export async function embedApart(
  texts: readonly string[],
  { dim, embed, tolerated }: EmbedApartOptions,
): Promise<TextVectors> {
  const rows = new Float32Array(texts.length * dim);
  const refused = new Map<number, string>();
  let takesOthers = false;

  const fill = async (from: number, to: number): Promise<void> => {
    try {
      rows.set(await embed(texts.slice(from, to)), from * dim);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (!takesOthers) await tryHarmless(error);
      takesOthers = true;
      if (to - from > 1) {
        const middle = Math.floor((from + to) / 2);
        await fill(from, middle);
        await fill(middle, to);
      } else if (refused.size < tolerated) refused.set(from, error.message);
      else throw error;
    }
  };
  const tryHarmless = async (refusal: ProviderError) => {
    try {
      await embed([harmless]);
    } catch (error) {
      throw isRefusal(error) ? refusal : error;
    }
  };

  if (texts.length > 0) await fill(0, texts.length);
  return { rows, refused };
}

function isRefusal(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.mayBeOneText;
}
