/** Rerankers at `POST <base>/rerank`, as of Cohere, Voyage, Jina and others, and Text Embeddings Inference (`tei`). */

import { z } from 'zod';
import { postJson } from './http-json.ts';
import type { EndpointOptions } from './provider-settings.ts';
import { type CallOptions, ProviderError } from './resilient-call.ts';

export type Reranker = ReturnType<typeof openReranker>;

interface RerankWire {
  maxTexts: number;
  body(query: string, texts: readonly string[]): object;
}

/** The provider's documented limit. A search has no more candidates. */
const maxTexts = 1000;
/** Default limit of Text Embeddings Inference. */
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

/** Bytes of one answer entry, without its text. */
const bytesPerEntry = 256;
/** JSON escapes one byte as at most six, and some providers return the texts. */
const bytesPerTextByte = 6;
const bytesAround = 64 * 1024;

function readScores(answer: unknown, count: number): Float64Array | { problem: string } {
  const { data } = answerShape.safeParse(answer);
  if (data === undefined) return { problem: 'not a rerank answer' };
  if (data.length !== count) return { problem: `${data.length} instead of ${count}` };
  const scores = new Float64Array(count).fill(Number.NaN);
  for (const { index, relevance_score, score = relevance_score } of data) {
    if (score === undefined) return { problem: 'an entry without a score' };
    if (!Number.isNaN(scores[index] ?? 0)) return { problem: 'an index that is wrong or repeated' };
    scores[index] = score;
  }
  return scores;
}

/** The model is not sent to `tei`, which has only one. */
export function openReranker({ endpoint, model, call, wall }: EndpointOptions) {
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
    /**
     * Relevance of each text to the query: higher is better, comparable within one call only.
     * Shapes: one score per text, in order.
     * Errors: those of resilientCall; ProviderError `bad_answer` for missing, duplicate or non-finite scores.
     */
    async rerank(query: string, texts: readonly string[], options?: CallOptions): Promise<Float64Array> {
      const scores = new Float64Array(texts.length);
      const sent = texts.map((text) => text.toWellFormed());
      for (let at = 0; at < sent.length; at += wire.maxTexts) {
        scores.set(await score(query, sent.slice(at, at + wire.maxTexts), options), at);
      }
      return scores;
    },
  };
}
