/** The contract's embedding models, and the rows of the registry and of backfills. */
import { z } from 'zod';
import { datetime } from './values.ts';

export const modelStatuses = ['registered', 'backfilling', 'ready', 'failed'] as const;
export type ModelStatus = (typeof modelStatuses)[number];

export const localProvider = 'local';

/** Its floor is the cosine of unrelated texts (models/README.md). */
export const builtInModel = {
  provider: localProvider,
  model_name: 'multilingual-e5-small',
  dim: 384,
  floor: 0.75,
} as const;

type ModelName = Pick<ModelInfo, 'provider' | 'model_name' | 'dim'>;

export interface EmbeddingModel extends ModelName, Pick<ModelInfo, 'id' | 'max_input_tokens'> {
  /** Names the vector space in keys and files; a re-registered model gets a new one. */
  space: number;
  status: ModelStatus;
  /** Min cosine of a hit that is not random. Null: not calibrated, every hit passes. */
  floor: number | null;
}

export function isBuiltIn({ provider, model_name, dim }: ModelName): boolean {
  return provider === localProvider && model_name === builtInModel.model_name && dim === builtInModel.dim;
}

export function isOutside(model: Pick<EmbeddingModel, 'provider'>): boolean {
  return model.provider !== localProvider;
}

export function modelIdOf({ provider, model_name, dim }: ModelName): string {
  return `${provider}-${model_name}-${dim}`;
}

export function takesPages({ status }: Pick<EmbeddingModel, 'status'>): boolean {
  return status === 'backfilling' || status === 'ready';
}

const backfillStatuses = ['running', 'complete', 'failed'] as const;

/** One row per model from its first backfill on. */
export interface Backfill {
  space: number;
  model_id: string;
  job_no: number;
  status: (typeof backfillStatuses)[number];
  cursor: number;
  /** The last page at the start. Later pages are embedded when they are indexed. */
  last_page: number;
  /** Chunks and tokens of all pages, counted at the start; null until then. */
  total_chunks: number | null;
  total_tokens: number | null;
  /** Chunks with vectors of the pages up to the cursor. */
  embedded_chunks: number;
  /** Chunks that this backfill embedded and the time it took, ms, to compute its speed. */
  made_chunks: number;
  busy_ms: number;
  started_at: number;
  updated_at: number;
  finished_at: number | null;
  last_error: string | null;
}

/** Chunks that a provider or the encoder refused to embed. Their rows are zeros. */
export interface RefusedTexts {
  ordinals: number[];
  reason: string;
  at: number;
}

export const modelInfo = z.strictObject({
  id: z.string(),
  provider: z.string(),
  model_name: z.string(),
  dim: z.int(),
  max_input_tokens: z.int(),
  is_active: z.boolean(),
  status: z.string(),
  vectors_pending: z.int().optional().describe('passages without vectors yet'),
  pages_pending: z.int().optional().describe('pages with such passages'),
  rate_per_s: z.number().nullable().optional().describe('measured passages per second; null before the first'),
  eta_s: z.number().nullable().optional().describe('seconds until all have vectors; null if unknown'),
  paused: z.boolean().optional().describe('whether filling the built-in model is paused'),
  runtime: z
    .string()
    .nullable()
    .optional()
    .describe('of the built-in model: `native`, `webassembly`, or why it cannot be used; null before it is first used'),
});
export type ModelInfo = z.infer<typeof modelInfo>;

export const modelListResponse = z.strictObject({ models: z.array(modelInfo) });
export type ModelListResponse = z.infer<typeof modelListResponse>;

export const maxModelName = 200;
export const sentModelId = z.string().max(2 * maxModelName + 10);
/** A lone surrogate cannot be part of a path. */
const name = z
  .string()
  .min(1)
  .max(maxModelName)
  .refine((text) => text.isWellFormed(), 'must contain whole characters');
/** In paths, names of one or two dots mean folders. */
const modelId = name.refine((text) => text !== '.' && text !== '..', 'must not be . or ..');
export const registerModelRequest = z.strictObject({
  provider: name,
  model_name: name,
  dim: z.int().min(1).max(8192),
  max_input_tokens: z.int().min(1),
  id: modelId.nullable().optional(),
});
export type RegisterModelRequest = z.infer<typeof registerModelRequest>;

export const pauseFillRequest = z.strictObject({ paused: z.boolean() });
export type PauseFillRequest = z.infer<typeof pauseFillRequest>;

export const backfillRequest = z.strictObject({ confirm: z.boolean().default(false) });

export const backfillEstimateResponse = z.strictObject({
  model_id: z.string(),
  n_chunks: z.int(),
  total_tokens: z.int(),
  est_cost_usd: z.number().nullable(),
  est_duration_s: z.number().nullable(),
  confirm_required: z.boolean().default(true),
});
export type BackfillEstimateResponse = z.infer<typeof backfillEstimateResponse>;

export const backfillStartedResponse = z.strictObject({ model_id: z.string(), status: z.literal('backfilling') });
export type BackfillStartedResponse = z.infer<typeof backfillStartedResponse>;

export const modelBackfillResponse = z.strictObject({
  model_id: z.string(),
  status: z.enum(['not_started', ...backfillStatuses]),
  total_chunks: z.int(),
  embedded_chunks: z.int(),
  total_tokens: z.int(),
  cursor_page_id: z.string().nullable(),
  started_at: datetime.nullable(),
  updated_at: datetime.nullable(),
  finished_at: datetime.nullable(),
  last_error: z.string().nullable(),
});
export type ModelBackfillResponse = z.infer<typeof modelBackfillResponse>;

/** Min vectors for which a graph is faster than comparing all (docs/decisions/vector-index.md). */
export const graphFrom = 50_000;
