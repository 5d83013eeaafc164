/** Embedding models: contract "Embedding models". */
export const modelStatuses = ['registered', 'backfilling', 'ready', 'failed'] as const;
export type ModelStatus = (typeof modelStatuses)[number];

/** The provider whose models are embedded in the service. */
export const localProvider = 'local';

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
}

/** Dimensions of a model that the threads compute, or null for one of an outside provider. */
export function localDim({ provider, dim }: Pick<EmbeddingModel, 'provider' | 'dim'>): number | null {
  return provider === localProvider ? dim : null;
}

/** Whether new pages are embedded for the model. */
export function takesPages({ status }: Pick<EmbeddingModel, 'status'>): boolean {
  return status === 'backfilling' || status === 'ready';
}
