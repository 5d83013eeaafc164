/**
 * Recommended models with their makers' figures. Static data: `readback model list --known`, `GET /v1/models/known` and
 * the console show it. A score needs a source; uncertain values are omitted.
 */
import { z } from 'zod';

const score = z.strictObject({
  /** nDCG@10, 0 to 100. */
  value: z.number(),
  benchmark: z.string(),
  source: z.string(),
});

const knownModel = z.strictObject({
  name: z.string().describe('what it is called here'),
  does: z.enum(['embedding', 'reranking']),
  names: z.record(z.string(), z.string()).describe('what each provider calls it, the simplest to set up first'),
  dim: z.int().nullable().describe('dimensions of its vectors; null for a reranker'),
  dims: z.array(z.int()).describe('shorter vectors that it was trained for as well, longest first'),
  max_input_tokens: z.int(),
  parameters_millions: z.int().nullable().describe('null where its maker does not say'),
  languages: z.string(),
  license: z.string().describe('of its weights, or the owner of the terms'),
  score: score.nullable().describe('as published for retrieval'),
  memory_mb: z.int().nullable().describe('of the vectors of 100,000 passages; null for a reranker'),
});
export type KnownModel = z.infer<typeof knownModel>;

export const knownModelsResponse = z.strictObject({ models: z.array(knownModel) });
export type KnownModelsResponse = z.infer<typeof knownModelsResponse>;

type Entry = Omit<KnownModel, 'memory_mb' | 'dims' | 'dim' | 'score' | 'does'> &
  Partial<Pick<KnownModel, 'dims' | 'dim' | 'score'>> & {
    /** Other dimensions that its provider can return: any shorter ones, or these. */
    gives?: 'shorter' | readonly number[];
  };

const mteb = (value: number, source: string) => ({ value, benchmark: 'MTEB retrieval, English', source });
/** The first hundred passages by words, reranked: means of the 17 collections that Jina measures. */
const beir = (value: number, source: string) => ({ value, benchmark: '17 collections of BEIR, English', source });
const card = (name: string) => `https://huggingface.co/${name}`;

const embedding: readonly Entry[] = [
  {
    name: 'bge-small-en',
    names: { tei: 'BAAI/bge-small-en-v1.5' },
    ...{ dim: 384, max_input_tokens: 512, parameters_millions: 33, languages: 'English', license: 'MIT' },
    score: mteb(51.68, card('BAAI/bge-small-en-v1.5')),
  },
  {
    name: 'bge-base-en',
    names: { tei: 'BAAI/bge-base-en-v1.5' },
    ...{ dim: 768, max_input_tokens: 512, parameters_millions: 109, languages: 'English', license: 'MIT' },
    score: mteb(53.25, card('BAAI/bge-base-en-v1.5')),
  },
  {
    name: 'mxbai-large',
    names: { ollama: 'mxbai-embed-large', tei: 'mixedbread-ai/mxbai-embed-large-v1' },
    ...{ dim: 1024, max_input_tokens: 512, parameters_millions: 335, languages: 'English', license: 'Apache-2.0' },
    score: mteb(54.39, card('mixedbread-ai/mxbai-embed-large-v1')),
  },
  {
    name: 'arctic-m',
    names: { ollama: 'snowflake-arctic-embed:110m', tei: 'Snowflake/snowflake-arctic-embed-m' },
    ...{ dim: 768, max_input_tokens: 512, parameters_millions: 110, languages: 'English', license: 'Apache-2.0' },
    score: mteb(54.9, card('Snowflake/snowflake-arctic-embed-m')),
  },
  {
    name: 'arctic-l',
    names: { ollama: 'snowflake-arctic-embed:335m', tei: 'Snowflake/snowflake-arctic-embed-l' },
    ...{ dim: 1024, max_input_tokens: 512, parameters_millions: 335, languages: 'English', license: 'Apache-2.0' },
    score: mteb(55.98, card('Snowflake/snowflake-arctic-embed-l')),
  },
  {
    name: 'nomic',
    names: { ollama: 'nomic-embed-text', tei: 'nomic-ai/nomic-embed-text-v1.5' },
    // Shorter vectors need a layer norm before they are cut, so they are omitted.
    ...{ dim: 768, max_input_tokens: 2048, parameters_millions: 137, languages: 'English', license: 'Apache-2.0' },
  },
  {
    name: 'e5-small',
    names: { tei: 'intfloat/multilingual-e5-small' },
    ...{ dim: 384, max_input_tokens: 512, parameters_millions: 118, languages: 'about 100', license: 'MIT' },
  },
  {
    name: 'bge-m3',
    names: { ollama: 'bge-m3', tei: 'BAAI/bge-m3' },
    ...{ dim: 1024, max_input_tokens: 8192, parameters_millions: 568, languages: 'over 100', license: 'MIT' },
  },
  {
    name: 'arctic-l-v2',
    names: { ollama: 'snowflake-arctic-embed2', tei: 'Snowflake/snowflake-arctic-embed-l-v2.0' },
    ...{ dim: 1024, dims: [256], max_input_tokens: 8192, parameters_millions: 568, languages: '74' },
    license: 'Apache-2.0',
    score: mteb(55.6, card('Snowflake/snowflake-arctic-embed-l-v2.0')),
  },
  {
    name: 'embeddinggemma',
    names: { ollama: 'embeddinggemma', tei: 'google/embeddinggemma-300m' },
    ...{ dim: 768, dims: [512, 256, 128], max_input_tokens: 2048, parameters_millions: 308 },
    ...{ languages: 'over 100', license: 'Gemma' },
  },
  {
    name: 'qwen3-0.6b',
    names: { ollama: 'qwen3-embedding:0.6b', tei: 'Qwen/Qwen3-Embedding-0.6B' },
    ...{ dim: 1024, dims: [768, 512, 256, 128], max_input_tokens: 32_768, parameters_millions: 596 },
    ...{ languages: 'over 100', license: 'Apache-2.0' },
  },
  {
    name: 'openai-small',
    names: { openai: 'text-embedding-3-small' },
    gives: 'shorter',
    ...{ dim: 1536, dims: [1024, 768, 512, 256], max_input_tokens: 8191, parameters_millions: null },
    ...{ languages: 'many', license: 'OpenAI' },
  },
  {
    name: 'openai-large',
    names: { openai: 'text-embedding-3-large' },
    gives: 'shorter',
    ...{ dim: 3072, dims: [1536, 1024, 768, 512, 256], max_input_tokens: 8191, parameters_millions: null },
    ...{ languages: 'many', license: 'OpenAI' },
    score: mteb(55.44, card('Snowflake/snowflake-arctic-embed-l')),
  },
  {
    name: 'voyage-3.5',
    names: { voyage: 'voyage-3.5' },
    gives: [2048],
    ...{ dim: 1024, dims: [512, 256], max_input_tokens: 32_000, parameters_millions: null },
    ...{ languages: 'many', license: 'Voyage' },
  },
];

const reranking: readonly Entry[] = [
  {
    name: 'bge-reranker-base',
    names: { tei: 'BAAI/bge-reranker-base' },
    ...{ max_input_tokens: 512, parameters_millions: 278, languages: 'English, Chinese', license: 'MIT' },
    score: beir(47.89, card('jinaai/jina-reranker-v1-turbo-en')),
  },
  {
    name: 'jina-reranker-v2',
    names: { jina: 'jina-reranker-v2-base-multilingual' },
    ...{ max_input_tokens: 1024, parameters_millions: 278, languages: 'many', license: 'CC-BY-NC-4.0' },
    score: beir(53.17, card('jinaai/jina-reranker-v2-base-multilingual')),
  },
  {
    name: 'bge-reranker',
    names: { tei: 'BAAI/bge-reranker-v2-m3' },
    ...{ max_input_tokens: 8192, parameters_millions: 568, languages: 'many', license: 'Apache-2.0' },
  },
  {
    name: 'cohere-rerank',
    names: { cohere: 'rerank-v3.5' },
    ...{ max_input_tokens: 4096, parameters_millions: null, languages: 'over 100', license: 'Cohere' },
  },
  {
    name: 'voyage-rerank',
    names: { voyage: 'rerank-2.5' },
    ...{ max_input_tokens: 32_000, parameters_millions: null, languages: 'many', license: 'Voyage' },
  },
];

/** In memory: a byte per dimension, plus label and length. */
export const vectorBytes = (dim: number, count: number): number => count * (dim + 8);

export const vectorMemoryMb = (dim: number): number => Math.round(vectorBytes(dim, 100_000) / 1e6);

const known =
  (does: KnownModel['does']) =>
  ({ dim = null, dims = [], score = null, gives: _, ...entry }: Entry): KnownModel => ({
    ...{ ...entry, does, dim, dims, score },
    memory_mb: dim === null ? null : vectorMemoryMb(dim),
  });

/** Embedding models from small to large, APIs last; then rerankers. */
export const knownModels: readonly KnownModel[] = [
  ...embedding.map(known('embedding')),
  ...reranking.map(known('reranking')),
];

/** A known embedding model by a provider's name for it; Ollama's names may have a version. */
const embeddingCalled = (modelName: string): Entry | undefined =>
  embedding.find(({ names }) => Object.values(names).includes(modelName.replace(/:latest$/, '')));

/** The native dimension of a model for vectors of `dim`: larger for models trained to be truncated. */
export function nativeDimOf(modelName: string, dim: number): number {
  const { dim: native, dims = [] } = embeddingCalled(modelName) ?? {};
  return native != null && dims.includes(dim) ? native : dim;
}

/** Why a known model cannot have this dimension; null if it can, or is unknown. */
export function dimProblem(modelName: string, dim: number): string | null {
  const model = embeddingCalled(modelName);
  const { dim: native, dims = [], gives = [] } = model ?? {};
  if (native == null || (gives === 'shorter' && dim <= native)) return null;
  const others = gives === 'shorter' ? [] : gives;
  const all = [native, ...dims, ...others].sort((a, b) => b - a);
  if (all.includes(dim)) return null;
  const least = gives === 'shorter' ? ', or any fewer' : '';
  return `${model?.name} gives ${gives === 'shorter' ? native : all.join(' or ')} numbers${least}, not ${dim}`;
}
