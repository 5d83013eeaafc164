/** Embedding models: contract "Embedding models". */
export const modelStatuses = ['registered', 'backfilling', 'ready', 'failed'] as const;
export type ModelStatus = (typeof modelStatuses)[number];

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
