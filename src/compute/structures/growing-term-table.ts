/**
 * Terms of many dictionaries numbered as one: a term table that grows. Terms come as bytes out of other tables and no string is
 * made of them. One per thread; called by the reranker.
 */
import { longer } from './longer.ts';
import { hashBytes, lookupBytes, lookupTerm, type TermTable, termOf } from './term-table.ts';

const FIRST_TERMS = 1024;
const FIRST_BYTES = 8 * FIRST_TERMS;

export class GrowingTermTable {
  /** Terms so far; they are numbered from 0 in the order they came. */
  size = 0;
  /** With room to spare behind the terms. */
  #table: TermTable = {
    slots: new Uint32Array(2 * FIRST_TERMS),
    offsets: new Uint32Array(FIRST_TERMS + 1),
    bytes: new Uint8Array(FIRST_BYTES),
  };
  #hashes = new Uint32Array(FIRST_TERMS);

  /** The number of a term of another table, given now if it is new. */
  addFrom({ bytes, offsets }: TermTable, id: number): number {
    const start = offsets[id];
    const end = offsets[id + 1];
    const hash = hashBytes(bytes, start, end);
    const known = lookupBytes(this.#table, hash, bytes, start, end);
    if (known >= 0) return known;
    this.#makeRoom(end - start);
    const number = this.size++;
    const own = this.#table;
    const at = own.offsets[number];
    for (let i = start; i < end; i++) own.bytes[at + i - start] = bytes[i];
    own.offsets[number + 1] = at + end - start;
    this.#hashes[number] = hash;
    enter(own.slots, hash, number);
    return number;
  }

  /** The number of a term, or -1. */
  find(term: string): number {
    return lookupTerm(this.#table, term);
  }

  /** The id that a term of this table has in another, or -1. */
  idIn(other: TermTable, number: number): number {
    const { offsets, bytes } = this.#table;
    return lookupBytes(other, this.#hashes[number], bytes, offsets[number], offsets[number + 1]);
  }

  text(number: number): string {
    return termOf(this.#table, number);
  }

  #makeRoom(length: number): void {
    const { offsets, bytes, slots } = this.#table;
    const end = offsets[this.size] + length;
    if (end > bytes.length) this.#table.bytes = longer(bytes, Math.max(end, 2 * bytes.length));
    if (this.size < this.#hashes.length) return;
    const room = 2 * this.#hashes.length;
    this.#hashes = longer(this.#hashes, room);
    this.#table.offsets = longer(offsets, room + 1);
    this.#table.slots = new Uint32Array(2 * slots.length);
    for (let number = 0; number < this.size; number++) enter(this.#table.slots, this.#hashes[number], number);
  }
}

/** Into the first free slot. */
function enter(slots: Uint32Array, hash: number, number: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = number + 1;
}
