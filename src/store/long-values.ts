/**
 * Long values of a page (text or list) in parts, so that a slice costs its own length. Keys: the page's number for the
 * first part, [page, start] for later ones. Before format 3 the first part may be the whole value. Owned by `pages.ts`.
 */
import type { Databases, Table, TypedDatabaseOptions } from './environment.ts';
import { pairsOf } from './records.ts';

interface Sliceable<Value> {
  readonly length: number;
  slice(from: number, to?: number): Value;
}

export interface LongValueForm<Value> {
  heads: string;
  parts: string;
  encoding?: TypedDatabaseOptions['encoding'];
  /** Length of a part, in UTF-16 code units or elements. */
  partLength: number;
  empty: Value;
  join: (pieces: readonly Value[]) => Value;
  /** The last valid end of a part at or before `at`. */
  borderAt: (value: Value, at: number) => number;
}

export class LongValues<Value extends Sliceable<Value>> {
  readonly #heads: Table<Value, number>;
  readonly #parts: Table<Value, [number, number]>;
  readonly #form: LongValueForm<Value>;

  constructor(environment: Databases, form: LongValueForm<Value>) {
    const encoding = form.encoding === undefined ? {} : { encoding: form.encoding };
    this.#form = form;
    this.#heads = environment.openDatabase(form.heads, { keyEncoding: 'uint32', ...encoding });
    this.#parts = environment.openDatabase(form.parts, encoding);
  }

  has(no: number): boolean {
    return this.#heads.doesExist(no);
  }

  get(no: number): Value | undefined {
    return this.has(no) ? this.slice(no, 0, Number.MAX_SAFE_INTEGER) : undefined;
  }

  /** The first part; undefined if there is no value. */
  head(no: number): Value | undefined {
    return this.#heads.get(no);
  }

  /** The existing elements from `from` to `to`; reads only their parts. */
  slice(no: number, from: number, to: number): Value {
    if (to <= from) return this.#form.empty;
    const pieces: Value[] = [];
    let first = this.#partOf(no, from);
    if (first === 0) {
      const head = this.#heads.get(no);
      if (head === undefined) return this.#form.empty;
      if (to <= head.length) return head.slice(from, to);
      pieces.push(head.slice(from));
      first = head.length;
    }
    for (const { key, value } of this.#parts.getRange({ start: [no, first], end: [no, to] })) {
      pieces.push(value.slice(Math.max(0, from - key[1]), to - key[1]));
    }
    return this.#form.join(pieces);
  }

  /** Length of the value. Reads only the last part. */
  length(no: number): number | undefined {
    const last = this.#partOf(no, Number.MAX_SAFE_INTEGER);
    const part = last === 0 ? this.#heads.get(no) : this.#parts.get([no, last]);
    return part === undefined ? undefined : last + part.length;
  }

  /** Whether each part begins where the previous one ends. Reads all parts. */
  isWhole(no: number): boolean {
    let end = this.#heads.get(no)?.length ?? 0;
    for (const { key, value } of this.#parts.getRange(pairsOf(no))) {
      if (key[1] !== end || end === 0) return false;
      end += value.length;
    }
    return true;
  }

  /** Page numbers of heads and parts, each ascending. */
  *owners(): Generator<number> {
    yield* this.#heads.getKeys();
    let last = 0;
    for (const [no] of this.#parts.getKeys()) {
      if (no !== last) yield no;
      last = no;
    }
  }

  put(no: number, value: Value): void {
    this.#removeParts(no);
    const { partLength, borderAt } = this.#form;
    for (let from = 0; from === 0 || from < value.length; ) {
      const rest = value.length - from;
      const to = rest <= partLength ? value.length : borderAt(value, from + partLength);
      const part = value.slice(from, to);
      if (from === 0) this.#heads.put(no, part);
      else this.#parts.put([no, from], part);
      if (to === value.length) break;
      from = to;
    }
  }

  remove(no: number): void {
    this.#heads.remove(no);
    this.#removeParts(no);
  }

  /** Start of the later part that contains element `at`; 0 for the head. */
  #partOf(no: number, at: number): number {
    if (at < this.#form.partLength - 1) return 0;
    const [key] = [...this.#parts.getKeys({ start: [no, at], end: [no, 0], reverse: true, limit: 1 })];
    return key?.[1] ?? 0;
  }

  #removeParts(no: number): void {
    for (const key of [...this.#parts.getKeys(pairsOf(no))]) this.#parts.remove(key);
  }
}

/** No part ends inside a surrogate pair, because UTF-8 cannot store half of a pair. */
export function longText(heads: string, parts: string, partLength: number): LongValueForm<string> {
  const isInsidePair = (text: string, at: number) => (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return {
    ...{ heads, parts, partLength, encoding: 'string', empty: '' },
    join: (pieces) => pieces.join(''),
    borderAt: (text, at) => (isInsidePair(text, at) ? at - 1 : at),
  };
}

export function longList<Element>(heads: string, parts: string, partLength: number): LongValueForm<Element[]> {
  return {
    heads,
    parts,
    partLength,
    empty: [],
    join: (pieces) => pieces.flat(1) as Element[],
    borderAt: (_, at) => at,
  };
}
