/**
 * Chunks that a model's provider refuses to embed (their vector rows are zeros), with the reason. Database: `refused_texts` [space, page
 * no] → ordinals and reason. Written and deleted with the page's vectors in that space.
 */
import type { RefusedTexts } from '../domain/model.ts';
import type { Environment, Table } from './environment.ts';
import { pairsOf, removeAll } from './keys.ts';

export class RefusedTextReader {
  protected readonly rows: Table<RefusedTexts, [number, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('refused_texts', {});
  }

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

  /** Returns how many pages were cleared. */
  dropSome(space: number, limit: number): number {
    return removeAll(this.rows, [...this.rows.getKeys({ ...pairsOf(space), limit })]);
  }

  /** Repair only. Returns how many were deleted. */
  dropOrphans(isWanted: (space: number, pageNo: number, texts: RefusedTexts) => boolean): number {
    const orphans = [...this.rows.getRange()].filter(({ key, value }) => !isWanted(...key, value));
    const keys = orphans.map(({ key }) => key);
    return removeAll(this.rows, keys);
  }
}

/** Whether all ordinals are within the page and have zero rows. */
export function areRefused({ ordinals }: RefusedTexts, rows: Float32Array | undefined, dim: number): boolean {
  if (rows === undefined) return false;
  return ordinals.every((ordinal) => {
    const row = rows.subarray(ordinal * dim, (ordinal + 1) * dim);
    return row.length === dim && row.every((x) => x === 0);
  });
}
