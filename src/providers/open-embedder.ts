/**
 * `voyage`, `cohere`, `jina` and `ollama` have their own formats; all others are OpenAI-compatible. Only the model's
 * tokenizer can count tokens. So texts are sent whole, unless far too long, and shortened step by step when refused.
 */
import { findBadRows } from '../compute/embedding/pool-vectors.ts';
import { nativeDimOf } from '../domain/known-models.ts';
import { ollamaProvider } from '../domain/usual-address.ts';
import * as wires from './embedding-wires.ts';
import { postJson } from './http-json.ts';
import type { InputType } from './model-prefixes.ts';
import type { EndpointOptions } from './provider-settings.ts';
import { type CallOptions, ProviderError } from './resilient-call.ts';

export type Embedder = ReturnType<typeof openEmbedder>;

interface EmbedderOptions extends EndpointOptions {
  model: string;
  dim: number;
  maxInputTokens: number;
}

/** Bytes per number with separator and indentation; doubles have up to 24 characters. */
const bytesPerNumber = 32;
const bytesAround = 64 * 1024;

/** Assumed bytes per token, by refusals. English has 4 to 5, code and most others 3 to 4, Chinese and Japanese 2 to 3. */
const assumedBytes = [8, 4, 3, 2] as const;

/** The batch after a refusal, shortened; null if no text gets shorter. */
function shortened(batch: readonly string[], sent: readonly string[], maxTokens: number): string[] | null {
  for (const perToken of assumedBytes) {
    const cut = batch.map((text) => cutToTokens(text, maxTokens, perToken));
    if (cut.some((text, at) => text.length < sent[at].length)) return cut;
  }
  return null;
}

function wireOf({ endpoint: { provider }, ...model }: EmbedderOptions): wires.EmbeddingWire {
  if (provider === 'voyage') return wires.voyageEmbeddings(model);
  if (provider === 'cohere') return wires.cohereEmbeddings(model);
  if (provider === 'jina') return wires.jinaEmbeddings(model);
  if (provider === ollamaProvider) return wires.ollamaEmbeddings(model);
  return wires.openAiEmbeddings(model);
}

export function openEmbedder(options: EmbedderOptions) {
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
    /**
     * Vectors of non-empty texts.
     * Shapes: `texts.length` unit rows of `dim` numbers, one after the other.
     * Errors: those of resilientCall; ProviderError `bad_answer` for missing, surplus or invalid rows.
     */
    async embed(texts: readonly string[], kind: InputType, callOptions?: CallOptions) {
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

/** Min bytes per token: English has four, other European languages three to four; Chinese and Japanese three. */
const bytesPerToken = 3;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Consecutive batches within both limits; a text above `maxTokens` goes alone. */
export function batchTexts(
  texts: readonly string[],
  { maxTexts, maxTokens }: Pick<wires.EmbeddingWire, 'maxTexts' | 'maxTokens'>,
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

/* Rows of an embedding answer; one bad row refuses the whole answer. */

function copyNumbers(row: readonly unknown[], out: Float32Array): string | null {
  for (let i = 0; i < out.length; i++) {
    const value = row[i];
    if (typeof value !== 'number') return 'not a number';
    out[i] = value;
  }
  return null;
}

/** Little-endian float32 as base64: the format of OpenAI and Voyage. */
function copyBase64(row: string, out: Float32Array, native: number): string | null {
  const bytes = Buffer.from(row, 'base64');
  if (bytes.length % out.BYTES_PER_ELEMENT !== 0) return `${bytes.length} bytes, which are no floats`;
  const length = bytes.length / out.BYTES_PER_ELEMENT;
  if (length !== out.length && length !== native) return `length ${length} instead of ${out.length}`;
  for (let i = 0; i < out.length; i++) out[i] = bytes.readFloatLE(4 * i);
  return null;
}

function copyRow(row: unknown, out: Float32Array, native: number): string | null {
  if (typeof row === 'string') return copyBase64(row, out, native);
  if (!Array.isArray(row)) return 'not a vector';
  const fits = row.length === out.length || row.length === native;
  return fits ? copyNumbers(row, out) : `length ${row.length} instead of ${out.length}`;
}

function makeUnit(row: Float32Array): void {
  const length = Math.hypot(...row);
  for (let i = 0; i < row.length; i++) row[i] /= length;
}

/**
 * Shapes: `count` rows of `native` numbers; the result has the first `dim` of each, as unit vectors (Matryoshka
 * Representation Learning, Kusupati et al. 2022). Errors: none; `problem` names the first bad row, never a value.
 */
export function readRows(
  rows: readonly unknown[],
  count: number,
  dim: number,
  native = dim,
): Float32Array | { problem: string } {
  if (rows.length !== count) return { problem: `${rows.length} rows instead of ${count}` };
  const out = new Float32Array(count * dim);
  for (const [at, row] of rows.entries()) {
    const problem = copyRow(row, out.subarray(at * dim, (at + 1) * dim), native);
    if (problem !== null) return { problem: `row ${at}: ${problem}` };
  }
  const [bad] = findBadRows(out, dim, count);
  if (bad !== undefined) return { problem: `row ${bad.row}: ${bad.reason}` };
  for (let at = 0; at < count; at++) makeUnit(out.subarray(at * dim, (at + 1) * dim));
  return out;
}
