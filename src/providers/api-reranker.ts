/**
 * Rerankers at an outside provider: `POST <base>/rerank` as Cohere began it and Voyage, Jina and many servers took it over, and
 * the shape of Text Embeddings Inference (provider `tei`).
 */
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { postJson } from './http-json.ts';
import { ProviderError } from './provider-error.ts';
import type { CallOptions, ProviderCall } from './resilient-call.ts';

export interface Reranker {
  /**
   * How well each text answers the query: higher is better, comparable within one call only.
   * Shapes: one score for each text, in the order of the texts; nothing for no texts. NaN for a text that was not scored by the deadline, where a
   *         reranker can tell; another throws then.
   * Errors: those of resilientCall; ProviderError `bad_answer` where a score is missing, twice there, or no finite number.
   */
  rerank(query: string, texts: readonly string[], options?: CallOptions): Promise<Float64Array>;
}

export interface RerankerOptions {
  endpoint: Endpoint;
  /** Null: the server has one. Not sent to `tei`, which always has. */
  model: string | null;
  /** What each request goes through. */
  call: ProviderCall;
  /** Wall clock, ms. */
  wall: () => number;
}

interface RerankWire {
  /** Texts in one request at most. */
  maxTexts: number;
  body(query: string, texts: readonly string[]): object;
}

/** The provider's documented bound; a search has at most as many candidates. */
const maxTexts = 1000;
/** What Text Embeddings Inference takes in one request unless told otherwise. */
const maxTextsTei = 32;

const wires = {
  tei: () => ({ maxTexts: maxTextsTei, body: (query, texts) => ({ query, texts, truncate: true }) }),
  voyage: (model) => ({
    maxTexts,
    body: (query, texts) => ({ model, query, documents: texts, top_k: texts.length, truncation: true }),
  }),
  jina: (model) => ({
    maxTexts,
    body: (query, texts) => ({ model, query, documents: texts, top_n: texts.length, return_documents: false }),
  }),
  others: (model) => ({ maxTexts, body: (query, texts) => ({ model, query, documents: texts, top_n: texts.length }) }),
} satisfies Record<string, (model: string | undefined) => RerankWire>;

const scored = z.object({ index: z.int(), relevance_score: z.number().optional(), score: z.number().optional() });
const answerShape = z.union([
  z.array(scored),
  z.object({ results: z.array(scored) }).transform(({ results }) => results),
  z.object({ data: z.array(scored) }).transform(({ data }) => data),
]);

/** Bytes of one entry of the answer beside its text. */
const bytesPerEntry = 256;
/** JSON escapes one byte as six at most, and some providers send the texts back. */
const bytesPerTextByte = 6;
const bytesAround = 64 * 1024;

/** Scores by place, or what is wrong with them. */
function readScores(answer: unknown, count: number): Float64Array | { problem: string } {
  const { data } = answerShape.safeParse(answer);
  if (data === undefined) return { problem: 'not a rerank answer' };
  if (data.length !== count) return { problem: `${data.length} instead of ${count}` };
  const scores = new Float64Array(count).fill(Number.NaN);
  for (const { index, relevance_score, score = relevance_score } of data) {
    if (score === undefined) return { problem: 'an entry without a score' };
    if (!Number.isNaN(scores[index] ?? 0)) return { problem: 'an index that is wrong or there twice' };
    scores[index] = score;
  }
  return scores;
}

export function openReranker({ endpoint, model, call, wall }: RerankerOptions): Reranker {
  const { provider } = endpoint;
  const isNamed = provider === 'tei' || provider === 'voyage' || provider === 'jina';
  const wire: RerankWire = (isNamed ? wires[provider] : wires.others)(model ?? undefined);
  const score = (query: string, texts: readonly string[], options: CallOptions | undefined) => {
    const body = wire.body(query.toWellFormed(), texts);
    const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const maxBytes = bytesAround + texts.length * bytesPerEntry + textBytes * bytesPerTextByte;
    return call(async (signal) => {
      const answer = await postJson(endpoint, { path: '/rerank', body, maxBytes, signal, wall });
      const scores = readScores(answer, texts.length);
      if ('problem' in scores) throw new ProviderError(provider, 'bad_answer', `unusable scores: ${scores.problem}`);
      return scores;
    }, options);
  };
  return {
    async rerank(query, texts, options) {
      const scores = new Float64Array(texts.length);
      const sent = texts.map((text) => text.toWellFormed());
      for (let at = 0; at < sent.length; at += wire.maxTexts) {
        scores.set(await score(query, sent.slice(at, at + wire.maxTexts), options), at);
      }
      return scores;
    },
  };
}
