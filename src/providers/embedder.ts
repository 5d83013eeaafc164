/** Computes vectors at an outside provider. All adapters return unit rows in text order, all valid, or an error. */
import type { ProviderFault } from './provider-error.ts';
import type { CallOptions } from './resilient-call.ts';

export type InputType = 'query' | 'document';

export interface Embedder {
  readonly dim: number;
  /**
   * Vectors of non-empty texts.
   * Shapes: `texts.length` unit rows of `dim` numbers.
   * Errors: those of resilientCall; ProviderError `bad_answer` for missing, surplus or invalid rows.
   */
  embed(texts: readonly string[], kind: InputType, options?: CallOptions): Promise<Float32Array>;
}

/** The request and answer format of a provider. */
export interface EmbeddingWire {
  path: string;
  maxTexts: number;
  /** Estimated tokens per request. */
  maxTokens: number;
  /** Tokens per text that the provider accepts; null if it truncates. */
  maxInputTokens: number | null;
  prepare(text: string, kind: InputType): string;
  body(texts: readonly string[], kind: InputType): object;
  /** Raw rows (number lists, or base64 floats) in text order; null for an invalid answer. */
  rows(answer: unknown): readonly unknown[] | null;
  faultOf?(status: number, answer: string): ProviderFault | null;
}
