/** Embeds stored pages by any model of the registry. */
import { embeddingTexts, passagesToEmbed } from '../../compute/embedding/embedding-text.ts';
import type { NameSpans } from '../../compute/entities/name-tags.ts';
import { spansInPage } from '../../compute/entities/page-names.ts';
import { type EmbeddingModel, isBuiltIn, isOutside } from '../../domain/model.ts';
import type { Embedders } from '../../providers/embedders.ts';
import type { PageToEmbed } from './backfill-slices.ts';
import type { CalibrateOutside } from './calibrate-outside.ts';
import { embedApart, type TextVectors } from './embed-apart.ts';

export interface ModelEmbedder {
  /**
   * Vectors of pages along their chunks, from the encoder with the names in each. Shapes: all chunks, page by page × dim; zeros for a chunk
   * without terms, and for one of the `tolerated` many, at most, that an outside provider refuses, or any that the encoder has none for.
   * Errors: of the provider.
   */
  embed(
    model: EmbeddingModel,
    pages: readonly Pick<PageToEmbed, 'title' | 'text' | 'ordinals' | 'chunks'>[],
    options: { signal: AbortSignal; tolerated: number },
  ): Promise<EmbeddedTexts>;
  /** Make sure that the model has a floor. Errors: of the provider. */
  calibrate(model: EmbeddingModel, signal: AbortSignal): Promise<void>;
  /** How long the breaker of the model's provider refuses calls, ms; 0: it lets them through. */
  waitMs(model: EmbeddingModel): number;
}

export interface EmbeddedTexts extends TextVectors {
  /** Names in each chunk, as places of the page; null where the encoder did not read them. */
  names: NameSpans[] | null;
}

export interface ModelEmbedderDependencies {
  embedders: Pick<Embedders, 'documentVectors' | 'passages' | 'breakerOf'>;
  calibrateOutside: CalibrateOutside;
}

export function modelEmbedder({ embedders, calibrateOutside }: ModelEmbedderDependencies): ModelEmbedder {
  return {
    async embed(model, pages, { signal, tolerated }) {
      if (isBuiltIn(model)) {
        const { rows, failed, names } = await encodePages(embedders, pages, signal);
        return { rows, refused: failed, names };
      }
      const passages = pages.flatMap(({ title, text, chunks }) => embeddingTexts(title, text, chunks));
      const embed = (texts: readonly string[]) => embedders.documentVectors(model, texts, signal);
      return { ...(await embedApart(passages, { dim: model.dim, embed, tolerated })), names: null };
    },
    async calibrate(model, signal) {
      if (isOutside(model)) await calibrateOutside(model, signal);
    },
    waitMs: (model) => embedders.breakerOf(model).waitMs(),
  };
}

/** The passages of pages through the encoder; names are places of their pages. Errors: as of `passages`. */
export async function encodePages(
  embedders: Pick<Embedders, 'passages'>,
  pages: readonly Pick<PageToEmbed, 'title' | 'text' | 'ordinals' | 'chunks'>[],
  signal: AbortSignal,
): ReturnType<Embedders['passages']> {
  const toEmbed = pages.flatMap(({ title, text, ordinals, chunks }) =>
    passagesToEmbed(title, text, chunks, ordinals[0]),
  );
  const texts = toEmbed.map(({ text }) => text);
  const encoded = await embedders.passages(texts, signal);
  return { ...encoded, names: encoded.names.map((spans, at) => spansInPage(spans, toEmbed[at])) };
}
