/**
 * Chunk vectors, which fill the spaces. Written and deleted together with the chunks.
 * Database: `vectors` [space, page no] → the page's chunk vectors in order, little-endian float32.
 */

import type { RefusedTexts } from '../domain/model.ts';
import { pairsOf, Records, removeAll } from './records.ts';

export class VectorReader extends Records {
  protected readonly rows = this.table<Buffer, [number, number]>('vectors', { encoding: 'binary' });

  /** Shape: chunk_count × dim, row by row; undefined if the page has no vectors in this space. */
  get(space: number, pageNo: number): Float32Array | undefined {
    const bytes = this.rows.get([space, pageNo]);
    if (bytes === undefined) return undefined;
    // This is already a copy. Copy again only if it is misaligned.
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
}

/*
 * Chunks that a provider refuses to embed: zero vectors. Database: `refused_texts` [space, page no] → ordinals, reason.
 */

export class RefusedTextReader extends Records {
  protected readonly rows = this.table<RefusedTexts, [number, number]>('refused_texts');

  get(space: number, pageNo: number): RefusedTexts | undefined {
    return this.rows.get([space, pageNo]);
  }

  *all(): Generator<[space: number, pageNo: number, texts: RefusedTexts]> {
    for (const { key, value } of this.rows.getRange()) yield [key[0], key[1], value];
  }

  *ofSpace(space: number): Generator<[pageNo: number, texts: RefusedTexts]> {
    for (const { key, value } of this.rows.getRange(pairsOf(space))) yield [key[1], value];
  }
}

export class RefusedTextTransactor extends RefusedTextReader {
  put(space: number, pageNo: number, texts: RefusedTexts): void {
    this.rows.put([space, pageNo], texts);
  }

  remove(space: number, pageNo: number): void {
    this.rows.remove([space, pageNo]);
  }

  dropSome(space: number, limit: number): number {
    return removeAll(this.rows, [...this.rows.getKeys({ ...pairsOf(space), limit })]);
  }
}

/** Whether all ordinals belong to the page and have zero rows. */
export function areRefused({ ordinals }: RefusedTexts, rows: Float32Array | undefined, dim: number): boolean {
  if (rows === undefined) return false;
  return ordinals.every((ordinal) => {
    const row = rows.subarray(ordinal * dim, (ordinal + 1) * dim);
    return row.length === dim && row.every((x) => x === 0);
  });
}
