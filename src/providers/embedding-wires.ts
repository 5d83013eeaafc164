/**
 * OpenAI's embeddings API, used by most servers of open models: `POST <base>/embeddings`. Requests base64: 32 rows of 1,024 numbers are
 * 175 KB read in 0.5 ms, as lists 413 KB in 1.6 ms. Also reads lists.
 */
import { z } from 'zod';
import { type InputType, prefixesOf } from './model-prefixes.ts';
import type { ProviderFault } from './resilient-call.ts';

/** The request and answer format of a provider. */
export interface EmbeddingWire {
  path: string;
  maxTexts: number;
  maxTokens: number;
  /** Tokens per text that the provider accepts; null if it truncates. */
  maxInputTokens: number | null;
  prepare(text: string, kind: InputType): string;
  body(texts: readonly string[], kind: InputType): object;
  /** Raw rows (number lists, or base64 floats) in text order; null for an invalid answer. */
  rows(answer: unknown): readonly unknown[] | null;
  faultOf?(status: number, answer: string): ProviderFault | null;
}

interface OpenAiEmbeddingOptions {
  model: string;
  dim: number;
  /** Tokens the model reads: some servers truncate longer texts, some refuse them. */
  maxInputTokens: number;
}

/** Default limit of Text Embeddings Inference, and what a CPU can do in a minute. */
const maxTexts = 32;
/** A third of OpenAI's 300,000. */
const maxTokens = 100_000;

/** Models that can shorten vectors; others answer 400 to the field. */
const shortens = /text-embedding-3|gemini-embedding|jina-embeddings-v[3-9]/i;

const answerShape = z.object({ data: z.array(z.object({ index: z.int().optional(), embedding: z.unknown() })) });

export function openAiEmbeddings({ model, dim, maxInputTokens }: OpenAiEmbeddingOptions): EmbeddingWire {
  const prefixes = prefixesOf(model);
  return {
    path: '/embeddings',
    maxTexts,
    maxTokens,
    maxInputTokens,
    prepare: (text, kind) => prefixes[kind] + text,
    body: (texts) => ({
      model,
      input: texts,
      encoding_format: 'base64',
      ...(shortens.test(model) ? { dimensions: dim } : {}),
    }),
    rows: rowsByIndex,
  };
}

/** The rows of `{data: [{index, embedding}]}` by index, or in order without indexes. */
function rowsByIndex(answer: unknown): readonly unknown[] | null {
  const { data } = answerShape.safeParse(answer);
  if (data === undefined) return null;
  const rows = new Map(data.data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const ordered = Array.from({ length: rows.size }, (_, at) => rows.get(at));
  return rows.size === data.data.length && ordered.every((row) => row !== undefined) ? ordered : null;
}

/* Jina AI: OpenAI's format with extra fields for the encoding and, from model version 3, for the input type. */

/** Models with input types, shortened vectors and truncation. */
const hasTasks = /jina-embeddings-v[3-9]/i;

export function jinaEmbeddings(options: OpenAiEmbeddingOptions): EmbeddingWire {
  const { model, dim } = options;
  return {
    ...openAiEmbeddings(options),
    body: (texts, kind) => ({
      model,
      input: texts,
      embedding_type: 'float',
      ...(hasTasks.test(model)
        ? { task: kind === 'query' ? 'retrieval.query' : 'retrieval.passage', dimensions: dim, truncate: true }
        : {}),
    }),
  };
}

/*
 * Ollama's `/v1/embeddings`, in OpenAI's format. It truncates texts. It answers 400 both when its runner is gone and when a text cannot
 * be cut, and 500 for a text that yields NaN; only the message distinguishes them.
 */

/** Messages about a text. Source: `EmbedHandler` of its server, versions 0.13 to 0.33. */
const aboutText = /context length|invalid input/i;
const notANumber = /unsupported value: NaN/i;

export function ollamaEmbeddings(options: OpenAiEmbeddingOptions): EmbeddingWire {
  return {
    ...openAiEmbeddings(options),
    faultOf: (status, answer) => {
      if (status === 500 && notANumber.test(answer)) return 'bad_answer';
      return status === 400 && !aboutText.test(answer) ? 'failing' : null;
    },
  };
}

/** For providers that truncate texts; their own limits are higher. */
const truncating = { maxTexts, maxTokens, maxInputTokens: null, prepare: (text: string) => text };

/** Models that can shorten vectors; others answer 400 to the field. */
const voyageShortens = /voyage-(?:3-large|3\.5|code-3|context-3|[4-9])/i;

/** Voyage AI: `POST <base>/embeddings` with an input type, in OpenAI's format. 128 rows of 1,024 numbers are read in 2.2 ms. */
export function voyageEmbeddings({ model, dim }: { model: string; dim: number }): EmbeddingWire {
  return {
    ...truncating,
    path: '/embeddings',
    maxTexts: 128,
    body: (texts, kind) => ({
      model,
      input: texts,
      input_type: kind,
      truncation: true,
      encoding_format: 'base64',
      ...(voyageShortens.test(model) ? { output_dimension: dim } : {}),
    }),
    rows: rowsByIndex,
  };
}

const cohereShortens = /embed-v[4-9]/i;
const cohereAnswer = z.object({ embeddings: z.object({ float: z.array(z.unknown()) }) });

/** Cohere's API, version 2: `POST <base>/embed`. It takes 96 texts; vectors are lists, and 32 of 1,024 numbers are read in 1.6 ms. */
export function cohereEmbeddings({ model, dim }: { model: string; dim: number }): EmbeddingWire {
  return {
    ...truncating,
    path: '/embed',
    body: (texts, kind) => ({
      model,
      texts,
      input_type: kind === 'query' ? 'search_query' : 'search_document',
      embedding_types: ['float'],
      truncate: 'END',
      ...(cohereShortens.test(model) ? { output_dimension: dim } : {}),
    }),
    rows: (answer) => cohereAnswer.safeParse(answer).data?.embeddings.float ?? null,
  };
}
