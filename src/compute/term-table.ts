/**
 * An immutable string → id table over three typed arrays, made to lie in a SharedArrayBuffer or in a file: the vocabulary
 * of the word vectors and the term dictionary of a segment. Building takes a list of distinct strings; the id of a string
 * is its place in that list. Lookup allocates nothing. Called by the embedder and by the sparse index; knows neither.
 */
const encoder = new TextEncoder();
const decoder = new TextDecoder();
let scratch = new Uint8Array(256);

export interface TermTable {
  /** Open addressing, linear probing; id + 1, 0 is free. Length is a power of two, at least twice the number of terms. */
  slots: Uint32Array;
  /** Byte offset of each term in `bytes`, and one past the last: length is the number of terms + 1. */
  offsets: Uint32Array;
  /** UTF-8 of all terms, one after the other. */
  bytes: Uint8Array;
}

/** Number of slots for `count` terms: a load factor of at most one half. */
export function slotCount(count: number): number {
  let slots = 4;
  while (slots < count * 2) slots *= 2;
  return slots;
}

/**
 * Build a table over `terms`, whose ids are their indexes.
 * Errors: a repeated term throws, because its second id could never be found.
 */
export function buildTermTable(terms: readonly string[]): TermTable {
  const encoded = terms.map((term) => encoder.encode(term));
  const offsets = new Uint32Array(terms.length + 1);
  for (let id = 0; id < encoded.length; id++) offsets[id + 1] = offsets[id] + encoded[id].length;
  const bytes = new Uint8Array(offsets[terms.length]);
  for (let id = 0; id < encoded.length; id++) bytes.set(encoded[id], offsets[id]);
  const table = { slots: new Uint32Array(slotCount(terms.length)), offsets, bytes };
  for (let id = 0; id < terms.length; id++) {
    const slot = findSlot(table, encoded[id], encoded[id].length);
    if (table.slots[slot] !== 0) throw new Error(`term given twice: ${terms[id]}`);
    table.slots[slot] = id + 1;
  }
  return table;
}

/** The id of `term`, or -1. */
export function lookupTerm(table: TermTable, term: string): number {
  if (scratch.length < term.length * 3) scratch = new Uint8Array(term.length * 3);
  const { written } = encoder.encodeInto(term, scratch);
  return table.slots[findSlot(table, scratch, written)] - 1;
}

/** The term of an id in range. */
export function termOf(table: TermTable, id: number): string {
  return decoder.decode(table.bytes.slice(table.offsets[id], table.offsets[id + 1]));
}

/** The slot that holds the key, or the free slot where it would go. */
function findSlot(table: TermTable, key: Uint8Array, length: number): number {
  const mask = table.slots.length - 1;
  for (let slot = hashBytes(key, length) & mask; ; slot = (slot + 1) & mask) {
    const held = table.slots[slot];
    if (held === 0 || sameBytes(table, held - 1, key, length)) return slot;
  }
}

function sameBytes(table: TermTable, id: number, key: Uint8Array, length: number): boolean {
  const start = table.offsets[id];
  if (table.offsets[id + 1] - start !== length) return false;
  for (let i = 0; i < length; i++) if (table.bytes[start + i] !== key[i]) return false;
  return true;
}

/** FNV-1a with a final mix (murmur3's), so that the low bits that choose the slot depend on every byte. */
function hashBytes(key: Uint8Array, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ key[i], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
