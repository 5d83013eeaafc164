/** Embeds stored pages by any model of the registry, on the work threads or at its provider. */
import { embeddingTexts } from '../compute/embedding-text.ts';
import { type EmbeddingModel, localDim } from '../domain/model.ts';
import type { Embedders } from '../providers/embedders.ts';
import type { ChunkedText } from '../threads/prepare-page.ts';
import type { CalibrateOutside } from './calibrate-outside.ts';

export interface ModelEmbedder {
  /**
   * Vectors of pages along their chunks. Shapes: all chunks, page by page × dim; zeros for a chunk without terms.
   * Errors: of the threads; of the provider.
   */
  embed(model: EmbeddingModel, pages: readonly ChunkedText[], signal: AbortSignal): Promise<Float32Array>;
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
    embed(model, pages, signal) {
      const dim = localDim(model);
      if (dim !== null) {
        const texts = pages.map(({ title, text, chunks }) => ({ title, text, chunks }));
        return embedLocally(texts, dim, signal);
      }
      const passages = pages.flatMap(({ title, text, chunks }) => embeddingTexts(title, text, chunks));
      return embedders.documentVectors(model, passages, signal);
    },
    async calibrate(model, signal) {
      if (localDim(model) === null) await calibrateOutside(model, signal);
    },
    waitMs: (model) => (localDim(model) === null ? embedders.breakerOf(model).waitMs() : 0),
  };
}
