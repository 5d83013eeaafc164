/** Embedding models: the contract's bodies, and the rows of the registry and of backfills. */
import { z } from 'zod';
import { datetime } from './ids.ts';

export const modelStatuses = ['registered', 'backfilling', 'ready', 'failed'] as const;
export type ModelStatus = (typeof modelStatuses)[number];

/** The provider whose models are embedded in the service, and what it calls all of them. */
export const localProvider = 'local';
export const localModelName = 'wink';

/** Dimensions of the word vectors that the embedded models are made of. */
const wordDim = 100;
/** The numbers of dimensions that an embedded model may have, in words: those of the word vectors alone, or as many hashed ones besides. */
export const localDims = `${wordDim}, or ${2 * wordDim} and more`;

export function isLocalDim(dim: number): boolean {
  return dim === wordDim || dim >= 2 * wordDim;
}

/** How a model's hits are fused with those of the words (docs/ranking.md, "Fusion"). */
export interface Fusion {
  /** By language of the query, ISO 639-1; 0 for those that are not there. */
  weights: Readonly<Record<string, number>>;
  /** Pages that there were when it was learned. */
  pages: number;
}

export interface EmbeddingModel {
  id: string;
  /** Number that names the model's vector space in keys and files; a model registered again gets a new one. */
  space: number;
  provider: string;
  model_name: string;
  dim: number;
  max_input_tokens: number;
  status: ModelStatus;
  /** Cosine below which a hit is as good as random; null: not calibrated, everything passes. */
  floor: number | null;
  /** What its cosines count beside the words; absent: not learned yet, nothing. */
  fusion?: Fusion;
  /** Which version of the embedded model made its vectors; absent for an outside model, and in rows of the first version. */
  version?: number;
}

/** Dimensions of a model that the threads compute, or null for one of an outside provider. */
export function localDim({ provider, dim }: Pick<EmbeddingModel, 'provider' | 'dim'>): number | null {
  return provider === localProvider ? dim : null;
}

/** Whether an outside provider computes the model's vectors. */
export function isOutside(model: Pick<EmbeddingModel, 'provider'>): boolean {
  return model.provider !== localProvider;
}

/** The id of a model that is given none. */
export function modelIdOf({
  provider,
  model_name,
  dim,
}: Pick<EmbeddingModel, 'provider' | 'model_name' | 'dim'>): string {
  return `${provider}-${model_name}-${dim}`;
}

/** Whether new pages are embedded for the model. */
export function takesPages({ status }: Pick<EmbeddingModel, 'status'>): boolean {
  return status === 'backfilling' || status === 'ready';
}

const backfillStatuses = ['running', 'complete', 'failed'] as const;

/** How far the vectors of a model are: one row a model, kept from its first backfill on. */
export interface Backfill {
  space: number;
  model_id: string;
  /** The job that works on it, or did. */
  job_no: number;
  status: (typeof backfillStatuses)[number];
  /** Pages up to this number are done. */
  cursor: number;
  /** The last page there was at the start: later ones are embedded when they are indexed. */
  last_page: number;
  /** Counted at the start: chunks and tokens of all pages; null until then. */
  total_chunks: number | null;
  total_tokens: number | null;
  /** Chunks of the pages up to the cursor that have their vectors. */
  embedded_chunks: number;
  /** Of these, the ones that this backfill embedded, and how long that took, ms: its speed. */
  made_chunks: number;
  busy_ms: number;
  started_at: number;
  updated_at: number;
  finished_at: number | null;
  last_error: string | null;
}

/** Chunks of a page that a model's provider refuses to embed: their rows are zeros. */
export interface RefusedTexts {
  /** Ascending, at least one. */
  ordinals: number[];
  /** What the provider answered to the last of them. */
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
});
export type ModelInfo = z.infer<typeof modelInfo>;

export const modelListResponse = z.strictObject({ models: z.array(modelInfo) });
export type ModelListResponse = z.infer<typeof modelListResponse>;

/** Characters of an id, of a provider's name and of a model's. */
export const maxModelName = 200;
/** An id that names a model: a given one, or one made of provider, name and dimension. */
export const sentModelId = z.string().max(2 * maxModelName + 10);
/** Half a character cannot be asked for: no path holds it. */
const name = z
  .string()
  .min(1)
  .max(maxModelName)
  .refine((text) => text.isWellFormed(), 'must hold whole characters');
/** Ids stand in paths, where a dot and two dots are folders. */
const modelId = name.refine((text) => text !== '.' && text !== '..', 'must not be a dot or two');
export const registerModelRequest = z.strictObject({
  provider: name,
  model_name: name,
  dim: z.int().min(1).max(8192),
  max_input_tokens: z.int().min(1),
  id: modelId.nullable().optional(),
});
export type RegisterModelRequest = z.infer<typeof registerModelRequest>;

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
