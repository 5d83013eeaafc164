import type { BadRow } from '../../compute/embedding/bad-rows.ts';

/** Vectors that cannot be indexed were refused, and nothing of their batch was stored. Trying again gives the same. */
export class BadVectorError extends Error {
  readonly code = 'bad_vector';
  readonly retryable = false;
  /** The bad rows of the batch, by place, in order. */
  readonly rows: readonly BadRow[];

  constructor(modelId: string, rows: readonly BadRow[]) {
    const shown = rows.slice(0, 5).map(({ row, reason }) => `row ${row}: ${reason}`);
    super(`model ${modelId} gave ${rows.length} vectors that cannot be indexed (${shown.join(', ')})`);
    this.name = 'BadVectorError';
    this.rows = rows;
  }
}

/** A shard's thread was replaced again while its shard was loaded again. The task may be tried later. */
export class ShardLostError extends Error {
  readonly code = 'shard_lost';
  readonly retryable = true;

  constructor(modelId: string, shard: number) {
    super(`shard ${shard} of model ${modelId} is not on its thread`);
    this.name = 'ShardLostError';
  }
}

/** The space is closing and takes nothing more. */
export class SpaceClosedError extends Error {
  readonly code = 'space_closed';
  readonly retryable = false;

  constructor(modelId: string) {
    super(`the vector space of model ${modelId} is closing`);
    this.name = 'SpaceClosedError';
  }
}
