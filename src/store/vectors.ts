/**
 * Chunk vectors, the truth behind the vectors in the index. Database: `vectors` [space, page no] → the page's chunk vectors in order,
 * little-endian float32. Written and deleted with its chunks.
 */
import type { Environment, Table } from './environment.ts';
import { pairsOf, removeAll } from './keys.ts';

export class VectorReader {
  protected readonly rows: Table<Buffer, [number, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('vectors', { encoding: 'binary' });
  }

  /** Shape: chunk_count × dim, row by row; undefined without vectors in this space. */
  get(space: number, pageNo: number): Float32Array | undefined {
    const bytes = this.rows.get([space, pageNo]);
    if (bytes === undefined) return undefined;
    // Already a copy; copy again only if misaligned.
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
    return new Float32Array(buffer, byteOffset, bytes.byteLength / 4);
  }

  has(space: number, pageNo: number): boolean {
    return this.rows.doesExist([space, pageNo]);
  }

  count(space: number): number {
    return this.rows.getKeysCount(pairsOf(space));
  }

  *spaces(): Generator<number> {
    for (let after = 0; ; ) {
      const [next] = this.rows.getKeys({ start: [after + 1, 0], limit: 1 });
      if (next === undefined) return;
      [after] = next;
      yield after;
    }
  }

  pageNumbersAfter(space: number, after: number, limit: number): number[] {
    const start: [number, number] = [space, after + 1];
    return [...this.rows.getKeys({ ...pairsOf(space), start, limit })].map(([, no]) => no);
  }

  *pageNumbers(space: number): Generator<number> {
    for (const [, no] of this.rows.getKeys(pairsOf(space))) yield no;
  }
}

export class VectorTransactor extends VectorReader {
  put(space: number, pageNo: number, vectors: Float32Array): void {
    this.rows.put([space, pageNo], Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength));
  }

  remove(space: number, pageNo: number): void {
    this.rows.remove([space, pageNo]);
  }

  /** Returns how many pages were cleared. */
  dropSome(space: number, limit: number): number {
    return removeAll(this.rows, [...this.rows.getKeys({ ...pairsOf(space), limit })]);
  }

  /** Repair only. Returns how many were deleted. */
  dropOrphans(isWanted: (space: number, pageNo: number) => boolean): number {
    const orphans = [...this.rows.getKeys()].filter(([space, pageNo]) => !isWanted(space, pageNo));
    return removeAll(this.rows, orphans);
  }
}
