/** Recommended models of models/known-models.json: `readback model list --known`, `GET /v1/models/known` and the console show them. */
import { z } from 'zod';
import list from '../../models/known-models.json' with { type: 'json' };

const score = z.strictObject({
  /** nDCG@10, 0 to 100. */
  value: z.number(),
  benchmark: z.string(),
  source: z.string(),
});

const knownModel = z.strictObject({
  name: z.string().describe('its name in readback'),
  does: z.enum(['embedding', 'reranking']),
  names: z.record(z.string(), z.string()).describe('its name at each provider, the easiest to set up first'),
  dim: z.int().nullable().describe('dimensions of its vectors; null for a reranker'),
  dims: z.array(z.int()).describe('shorter vectors that it was also trained for, longest first'),
  max_input_tokens: z.int(),
  parameters_millions: z.int().nullable().describe('null if its maker does not publish it'),
  languages: z.string(),
  license: z.string().describe('license of its weights, or the owner of the terms'),
  score: score.nullable().describe('published results for retrieval'),
  memory_mb: z.int().nullable().describe('memory of the vectors of 100,000 passages; null for a reranker'),
});
export type KnownModel = z.infer<typeof knownModel>;

export const knownModelsResponse = z.strictObject({ models: z.array(knownModel) });
export type KnownModelsResponse = z.infer<typeof knownModelsResponse>;

/** Memory: a byte per dimension, plus label and length. */
export const vectorBytes = (dim: number, count: number): number => count * (dim + 8);

export const vectorMemoryMb = (dim: number): number => Math.round(vectorBytes(dim, 100_000) / 1e6);

const listedModel = knownModel.omit({ memory_mb: true }).extend({
  other_dims: z.array(z.int()).default([]).describe('other dimensions that its provider supports'),
  any_shorter: z.boolean().default(false).describe('whether its provider supports any smaller dimension'),
});

const listedModels = z.array(listedModel).parse(list);

/** Embedding models from small to large, APIs last; then rerankers. */
export const knownModels: readonly KnownModel[] = listedModels.map(({ other_dims: _, any_shorter: __, ...model }) => ({
  ...model,
  memory_mb: model.dim === null ? null : vectorMemoryMb(model.dim),
}));

/** The known embedding model with this name at a provider. Ollama's names may include a version. */
const embeddingCalled = (modelName: string) =>
  listedModels.find(
    ({ does, names }) => does === 'embedding' && Object.values(names).includes(modelName.replace(/:latest$/, '')),
  );

/** The native dimension of a model whose vectors have `dim`: larger if it was trained to be truncated. */
export function nativeDimOf(modelName: string, dim: number): number {
  const { dim: native, dims = [] } = embeddingCalled(modelName) ?? {};
  return native != null && dims.includes(dim) ? native : dim;
}

/** Why a known model cannot have this dimension; null if it can, or is unknown. */
export function dimProblem(modelName: string, dim: number): string | null {
  const model = embeddingCalled(modelName);
  if (model === undefined || model.dim === null) return null;
  const { name, dim: native, dims, other_dims, any_shorter } = model;
  if (any_shorter) return dim <= native ? null : `${name} has ${native} dimensions, or any smaller number, not ${dim}`;
  const all = [native, ...dims, ...other_dims].sort((a, b) => b - a);
  return all.includes(dim) ? null : `${name} gives ${all.join(' or ')} numbers, not ${dim}`;
}
