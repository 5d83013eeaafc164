/**
 * An embedder computes vectors at an outside provider. Every adapter gives the same: rows of unit length in the order of the
 * texts, all of them sound, or an error.
 */
import type { ProviderFault } from './provider-error.ts';
import type { CallOptions } from './resilient-call.ts';

/** Models embed what is asked and what is searched differently. */
export type InputType = 'query' | 'document';

export interface Embedder {
  readonly dim: number;
  /**
   * Vectors of texts, none of them empty.
   * Shapes: `texts.length` rows of `dim` numbers, one after the other, each of length 1; nothing for no texts.
   * Errors: those of resilientCall; ProviderError `bad_answer` where a row is missing, too many, or cannot be indexed.
   */
  embed(texts: readonly string[], kind: InputType, options?: CallOptions): Promise<Float32Array>;
}

/** How one kind of provider wants to be asked for vectors. */
export interface EmbeddingWire {
  path: string;
  /** Texts in one request at most. */
  maxTexts: number;
  /** Tokens, as estimated, in one request at most. */
  maxTokens: number;
  /** Tokens of one text that the provider takes; null where it cuts longer ones itself. */
  maxInputTokens: number | null;
  /** What is sent in place of a text. */
  prepare(text: string, kind: InputType): string;
  body(texts: readonly string[], kind: InputType): object;
  /** Rows as they came (lists of numbers, or base64 of floats) in the order of the texts; null: not such an answer. */
  rows(answer: unknown): readonly unknown[] | null;
  /** As of JsonRequest. */
  faultOf?(status: number, answer: string): ProviderFault | null;
}
