/**
 * Creates the embedder of a provider: `voyage`, `cohere`, `jina` and `ollama` have their own formats; every other name is an
 * OpenAI-compatible server. Texts are sent in batches, each with its own retries.
 *
 * Only the model's tokenizer knows token counts, and a text cut needlessly is found less. So texts are sent whole, except what no
 * tokenizer would accept, and cut step by step when refused.
 */
import { nativeDimOf } from '../domain/known-models.ts';
import { ollamaProvider } from '../domain/usual-address.ts';
import { readRows } from './embedding-rows.ts';
import {
  cohereEmbeddings,
  type EmbeddingWire,
  jinaEmbeddings,
  ollamaEmbeddings,
  openAiEmbeddings,
  voyageEmbeddings,
} from './embedding-wires.ts';
import type { Endpoint } from './endpoint.ts';
import { postJson } from './http-json.ts';
import type { InputType } from './model-prefixes.ts';
import { ProviderError } from './provider-error.ts';
import type { CallOptions, ProviderCall } from './resilient-call.ts';

export interface Embedder {
  /**
   * Vectors of non-empty texts.
   * Shapes: `texts.length` unit rows of `dim` numbers, one after the other.
   * Errors: those of resilientCall; ProviderError `bad_answer` for missing, surplus or invalid rows.
   */
  embed(texts: readonly string[], kind: InputType, options?: CallOptions): Promise<Float32Array>;
}

interface EmbedderOptions {
  endpoint: Endpoint;
  model: string;
  dim: number;
  maxInputTokens: number;
  call: ProviderCall;
  wall: () => number;
}

/** Bytes per number with separator and indentation; doubles have up to 24 characters. */
const bytesPerNumber = 32;
const bytesAround = 64 * 1024;

/**
 * Assumed minimum of bytes per token: first request, then after each refusal. English text has 4 to 5, code and most other languages 3
 * to 4, Chinese and Japanese 2 to 3.
 */
const assumedBytes = [8, 4, 3, 2] as const;

/** The batch after a refusal, shortened; null if no text gets shorter. */
function shortened(batch: readonly string[], sent: readonly string[], maxTokens: number): string[] | null {
  for (const perToken of assumedBytes) {
    const cut = batch.map((text) => cutToTokens(text, maxTokens, perToken));
    if (cut.some((text, at) => text.length < sent[at].length)) return cut;
  }
  return null;
}

function wireOf({ endpoint: { provider }, ...model }: EmbedderOptions): EmbeddingWire {
  if (provider === 'voyage') return voyageEmbeddings(model);
  if (provider === 'cohere') return cohereEmbeddings(model);
  if (provider === 'jina') return jinaEmbeddings(model);
  if (provider === ollamaProvider) return ollamaEmbeddings(model);
  return openAiEmbeddings(model);
}

export function openEmbedder(options: EmbedderOptions): Embedder {
  const { endpoint, dim, call, wall } = options;
  const wire = wireOf(options);
  const bad = (problem: string) => new ProviderError(endpoint.provider, 'bad_answer', `unusable vectors: ${problem}`);
  const ask = (
    texts: readonly string[],
    kind: InputType,
    callOptions: CallOptions | undefined,
  ): Promise<Float32Array> => {
    const body = wire.body(texts, kind);
    const maxBytes = bytesAround + texts.length * nativeDimOf(options.model, dim) * bytesPerNumber;
    return call(async (signal) => {
      const { path, faultOf } = wire;
      const answer = await postJson(endpoint, { path, body, maxBytes, signal, wall, faultOf });
      const rows = wire.rows(answer);
      const read =
        rows === null
          ? { problem: 'not an embedding answer' }
          : readRows(rows, texts.length, dim, nativeDimOf(options.model, dim));
      if ('problem' in read) throw bad(read.problem);
      return read;
    }, callOptions);
  };
  const askShortened: typeof ask = async (batch, kind, callOptions) => {
    const { maxInputTokens: most } = wire;
    if (most === null) return ask(batch, kind, callOptions);
    let sent = batch.map((text) => cutToTokens(text, most, assumedBytes[0]));
    for (;;) {
      try {
        return await ask(sent, kind, callOptions);
      } catch (error) {
        const isRefused = error instanceof ProviderError && error.code === 'refused';
        const next = isRefused ? shortened(batch, sent, most) : null;
        if (next === null) throw error;
        sent = next;
      }
    }
  };
  return {
    async embed(texts, kind, callOptions) {
      const out = new Float32Array(texts.length * dim);
      const prepared = texts.map((text) => wire.prepare(text.toWellFormed(), kind));
      let at = 0;
      for (const batch of batchTexts(prepared, wire)) {
        const vectors = await askShortened(batch, kind, callOptions);
        out.set(vectors, at);
        at += vectors.length;
      }
      return out;
    },
  };
}

/** Bytes of a token, from below: English has four, other European languages three to four, Chinese and Japanese three per character. */
const bytesPerToken = 3;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Consecutive batches within both limits; a text above `maxTokens` goes alone. */
export function batchTexts(
  texts: readonly string[],
  { maxTexts, maxTokens }: Pick<EmbeddingWire, 'maxTexts' | 'maxTokens'>,
): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let tokens = 0;
  for (const text of texts) {
    const more = estimateTokens(text);
    if (batch.length > 0 && (batch.length >= maxTexts || tokens + more > maxTokens)) {
      batches.push(batch);
      batch = [];
      tokens = 0;
    }
    batch.push(text);
    tokens += more;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** The beginning of a text with at most `maxTokens` of `perToken` bytes each, never half a character. */
export function cutToTokens(text: string, maxTokens: number, perToken = bytesPerToken): string {
  const maxBytes = maxTokens * perToken;
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
