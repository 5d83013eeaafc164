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

/**
 * Its name here | what each provider calls it | dimensions: its own, shorter ones it was trained for, `+` others that its provider gives,
 * `<` any shorter | max tokens of a text | million parameters, - where unknown | languages | license | score, and the model whose card has it.
 * From small to large, APIs last.
 */
const embedding = `
bge-small-en | tei=BAAI/bge-small-en-v1.5 | 384 | 512 | 33 | English | MIT | 51.68 BAAI/bge-small-en-v1.5
bge-base-en | tei=BAAI/bge-base-en-v1.5 | 768 | 512 | 109 | English | MIT | 53.25 BAAI/bge-base-en-v1.5
mxbai-large | ollama=mxbai-embed-large tei=mixedbread-ai/mxbai-embed-large-v1 | 1024 | 512 | 335 | English | Apache-2.0 | 54.39 mixedbread-ai/mxbai-embed-large-v1
arctic-m | ollama=snowflake-arctic-embed:110m tei=Snowflake/snowflake-arctic-embed-m | 768 | 512 | 110 | English | Apache-2.0 | 54.9 Snowflake/snowflake-arctic-embed-m
arctic-l | ollama=snowflake-arctic-embed:335m tei=Snowflake/snowflake-arctic-embed-l | 1024 | 512 | 335 | English | Apache-2.0 | 55.98 Snowflake/snowflake-arctic-embed-l
nomic | ollama=nomic-embed-text tei=nomic-ai/nomic-embed-text-v1.5 | 768 | 2048 | 137 | English | Apache-2.0
e5-small | tei=intfloat/multilingual-e5-small | 384 | 512 | 118 | about 100 | MIT
bge-m3 | ollama=bge-m3 tei=BAAI/bge-m3 | 1024 | 8192 | 568 | over 100 | MIT
arctic-l-v2 | ollama=snowflake-arctic-embed2 tei=Snowflake/snowflake-arctic-embed-l-v2.0 | 1024 256 | 8192 | 568 | 74 | Apache-2.0 | 55.6 Snowflake/snowflake-arctic-embed-l-v2.0
embeddinggemma | ollama=embeddinggemma tei=google/embeddinggemma-300m | 768 512 256 128 | 2048 | 308 | over 100 | Gemma
qwen3-0.6b | ollama=qwen3-embedding:0.6b tei=Qwen/Qwen3-Embedding-0.6B | 1024 768 512 256 128 | 32768 | 596 | over 100 | Apache-2.0
openai-small | openai=text-embedding-3-small | 1536 1024 768 512 256 < | 8191 | - | many | OpenAI
openai-large | openai=text-embedding-3-large | 3072 1536 1024 768 512 256 < | 8191 | - | many | OpenAI | 55.44 Snowflake/snowflake-arctic-embed-l
voyage-3.5 | voyage=voyage-3.5 | 1024 512 256 +2048 | 32000 | - | many | Voyage`;

const reranking = `
bge-reranker-base | tei=BAAI/bge-reranker-base | | 512 | 278 | English, Chinese | MIT | 47.89 jinaai/jina-reranker-v1-turbo-en
jina-reranker-v2 | jina=jina-reranker-v2-base-multilingual | | 1024 | 278 | many | CC-BY-NC-4.0 | 53.17 jinaai/jina-reranker-v2-base-multilingual
bge-reranker | tei=BAAI/bge-reranker-v2-m3 | | 8192 | 568 | many | Apache-2.0
cohere-rerank | cohere=rerank-v3.5 | | 4096 | - | over 100 | Cohere
voyage-rerank | voyage=rerank-2.5 | | 32000 | - | many | Voyage`;

/** Of rerankers: the first hundred passages by words, reranked; means of the 17 collections that Jina measures. */
const benchmarks = { embedding: 'MTEB retrieval, English', reranking: '17 collections of BEIR, English' };

/** In memory: a byte per dimension, plus label and length. */
export const vectorBytes = (dim: number, count: number): number => count * (dim + 8);

export const vectorMemoryMb = (dim: number): number => Math.round(vectorBytes(dim, 100_000) / 1e6);

interface Listed extends KnownModel {
  /** Further dimensions that its provider gives. */
  others: number[];
  givesAnyShorter: boolean;
}

function listed(does: KnownModel['does'], table: string): Listed[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [name, names, sizes, tokens, millions, languages, license, score] = line
        .split('|')
        .map((cell) => cell.trim());
      const [dim = null, ...dims] = [...sizes.matchAll(/(?<!\+)\b\d+/g)].map(Number);
      const [value, card] = score?.split(' ') ?? [];
      return {
        ...{ name, does, dim, dims, languages, license, max_input_tokens: Number(tokens) },
        names: Object.fromEntries(names.split(' ').map((each) => each.split('='))),
        parameters_millions: millions === '-' ? null : Number(millions),
        score:
          card === undefined
            ? null
            : { value: Number(value), benchmark: benchmarks[does], source: `https://huggingface.co/${card}` },
        memory_mb: dim === null ? null : vectorMemoryMb(dim),
        others: [...sizes.matchAll(/(?<=\+)\d+/g)].map(Number),
        givesAnyShorter: sizes.endsWith('<'),
      };
    });
}

const embeddingModels = listed('embedding', embedding);

/** Then rerankers. */
export const knownModels: readonly KnownModel[] = [...embeddingModels, ...listed('reranking', reranking)].map(
  ({ others: _, givesAnyShorter: __, ...model }) => model,
);

/** A known embedding model by a provider's name for it; Ollama's names may have a version. */
const embeddingCalled = (modelName: string): Listed | undefined =>
  embeddingModels.find(({ names }) => Object.values(names).includes(modelName.replace(/:latest$/, '')));

/** The native dimension of a model for vectors of `dim`: larger for models trained to be truncated. */
export function nativeDimOf(modelName: string, dim: number): number {
  const { dim: native, dims = [] } = embeddingCalled(modelName) ?? {};
  return native != null && dims.includes(dim) ? native : dim;
}

/** Why a known model cannot have this dimension; null if it can, or is unknown. */
export function dimProblem(modelName: string, dim: number): string | null {
  const model = embeddingCalled(modelName);
  if (model === undefined || model.dim === null) return null;
  const { name, dim: native, dims, others, givesAnyShorter } = model;
  if (givesAnyShorter) return dim <= native ? null : `${name} gives ${native} numbers, or any fewer, not ${dim}`;
  const all = [native, ...dims, ...others].sort((a, b) => b - a);
  return all.includes(dim) ? null : `${name} gives ${all.join(' or ')} numbers, not ${dim}`;
}
