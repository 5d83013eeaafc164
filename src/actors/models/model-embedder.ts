/** Embeds stored pages by any model of the registry, on the work threads or at its provider. */
import { embeddingTexts } from '../../compute/embedding/embedding-text.ts';
import { type EmbeddingModel, isOutside, localDim } from '../../domain/model.ts';
import type { ChunkedText } from '../../engine/prepare-page.ts';
import type { Embedders } from '../../providers/embedders.ts';
import type { CalibrateOutside } from './calibrate-outside.ts';
import { embedApart, type TextVectors } from './embed-apart.ts';

export interface ModelEmbedder {
  /**
   * Vectors of pages along their chunks. Shapes: all chunks, page by page × dim; zeros for a chunk without terms, and for one of the
   * `tolerated` many, at most, that the provider refuses. Errors: of the threads; of the provider.
   */
  embed(
    model: EmbeddingModel,
    pages: readonly ChunkedText[],
    options: { signal: AbortSignal; tolerated: number },
  ): Promise<TextVectors>;
  /** Make sure that the model has a floor. Errors: of the provider. */
  calibrate(model: EmbeddingModel, signal: AbortSignal): Promise<void>;
  /** How long the breaker of the model's provider refuses calls, ms; 0: it lets them through. */
  waitMs(model: EmbeddingModel): number;
}

export interface ModelEmbedderDependencies {
  /** Embeds by the embedded model of so many dimensions. */
  embedLocally: (pages: readonly ChunkedText[], dim: number, signal: AbortSignal) => Promise<Float32Array>;
  embedders: Pick<Embedders, 'documentVectors' | 'breakerOf'>;
  calibrateOutside: CalibrateOutside;
}

export function modelEmbedder({ embedLocally, embedders, calibrateOutside }: ModelEmbedderDependencies): ModelEmbedder {
  return {
    async embed(model, pages, { signal, tolerated }) {
      const dim = localDim(model);
      if (dim !== null) {
        const texts = pages.map(({ title, lang = '', text, chunks }) => ({ title, lang, text, chunks }));
        return { rows: await embedLocally(texts, dim, signal), refused: new Map() };
      }
      const passages = pages.flatMap(({ title, text, chunks }) => embeddingTexts(title, text, chunks));
      return embedApart(passages, {
        dim: model.dim,
        embed: (texts) => embedders.documentVectors(model, texts, signal),
        tolerated,
      });
    },
    async calibrate(model, signal) {
      if (isOutside(model)) await calibrateOutside(model, signal);
    },
    waitMs: (model) => (isOutside(model) ? embedders.breakerOf(model).waitMs() : 0),
  };
}
