/** The border of a vector space: vectors that cannot be indexed are refused before anything of their batch is sent to a shard. */
import { type BadRow, findBadRows } from '../../compute/embedding/bad-rows.ts';

/** Numbers checked between two turns of the event loop: half a millisecond. */
const CHECKED_NUMBERS = 2 ** 18;

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

export interface VectorCheck {
  modelId: string;
  dim: number;
  /** How many vectors there should be. */
  count: number;
  /** Give the places of rows of zeros instead of refusing them. */
  passOverZeros?: boolean;
}

/** Gives the places of rows of zeros, if those are passed over. Errors: BadVectorError, which names the bad rows. */
export async function refuseBadVectors(
  vectors: Float32Array,
  { modelId, dim, count, passOverZeros = false }: VectorCheck,
): Promise<ReadonlySet<number>> {
  const step = Math.max(1, Math.floor(CHECKED_NUMBERS / dim));
  const found: BadRow[] = [];
  for (let row = 0; row === 0 || row < count; row += step) {
    const rows = Math.min(step, count - row);
    const end = row + rows === count ? vectors.length : (row + rows) * dim;
    for (const bad of findBadRows(vectors.subarray(row * dim, end), dim, rows)) {
      found.push({ ...bad, row: row + bad.row });
    }
    if (row + step < count) await new Promise(setImmediate);
  }
  const zeros = new Set(passOverZeros ? found.filter(({ reason }) => reason === 'zero').map(({ row }) => row) : []);
  const refused = found.filter(({ row }) => !zeros.has(row));
  if (refused.length > 0) throw new BadVectorError(modelId, refused);
  return zeros;
}
