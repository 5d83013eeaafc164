/**
 * Chunks that a model's provider refuses to embed: their rows among the page's vectors are zeros, and here is why. Database:
 * `refused_texts` [space, page no] → ordinals and reason. Written, read and deleted together with the page's vectors in that space.
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

  /** Of all pages of a space, ascending. */
  *ofSpace(space: number): Generator<[pageNo: number, texts: RefusedTexts]> {
    for (const { key, value } of this.rows.getRange(pairsOf(space))) yield [key[1], value];
  }
}

/** Writer only: valid inside a transaction. */
export class RefusedTextTransactor extends RefusedTextReader {
  put(space: number, pageNo: number, texts: RefusedTexts): void {
    this.rows.put([space, pageNo], texts);
  }

  remove(space: number, pageNo: number): void {
    this.rows.remove([space, pageNo]);
  }

  /** Delete those of up to `limit` pages of a space. Gives how many. */
  dropSome(space: number, limit: number): number {
    return removeAll(this.rows, [...this.rows.getKeys({ ...pairsOf(space), limit })]);
  }

  /** Delete what belongs to nothing: repair only. Gives how many. */
  dropOrphans(isWanted: (space: number, pageNo: number, texts: RefusedTexts) => boolean): number {
    const orphans = [...this.rows.getRange()].filter(({ key, value }) => !isWanted(...key, value));
    const keys = orphans.map(({ key }) => key);
    return removeAll(this.rows, keys);
  }
}

/** Whether texts are chunks of a page with these rows, and have rows of zeros. */
export function areRefused({ ordinals }: RefusedTexts, rows: Float32Array | undefined, dim: number): boolean {
  if (rows === undefined) return false;
  return ordinals.every((ordinal) => {
    const row = rows.subarray(ordinal * dim, (ordinal + 1) * dim);
    return row.length === dim && row.every((x) => x === 0);
  });
}
