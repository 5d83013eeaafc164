/** An immutable table from strings to ids in three typed arrays, for shared memory. Lookups allocate nothing. */
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
let scratch = new Uint8Array(256);

export interface TermTable {
  /** Open addressing, linear probing; id + 1, 0 is free. Length: power of two, at least twice the number of terms. */
  slots: Uint32Array;
  /** Byte offset of each term, and the end: number of terms + 1. */
  offsets: Uint32Array;
  /** UTF-8 of all terms, concatenated. */
  bytes: Uint8Array;
}

/** Load factor at most one half. */
export function slotCount(count: number): number {
  let slots = 4;
  while (slots < count * 2) slots *= 2;
  return slots;
}

/** Ids are indexes. Errors: a repeated term, whose second id could never be found. */
export function buildTermTable(terms: readonly string[]): TermTable {
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  const room = new Uint8Array(terms.reduce((sum, term) => sum + term.length * 3, 0));
  const offsets = new Uint32Array(terms.length + 1);
  for (let id = 0; id < terms.length; id++) {
    offsets[id + 1] = offsets[id] + encodeTerm(terms[id], room, offsets[id]);
  }
  const bytes = room.slice(0, offsets[terms.length]);
  const table = { slots: new Uint32Array(slotCount(terms.length)), offsets, bytes };
  fillSlots(table);
  return table;
}

function fillSlots(table: TermTable): void {
  const { slots, offsets, bytes } = table;
  for (let id = 0; id < offsets.length - 1; id++) {
    const slot = findSlot(table, bytes, offsets[id], offsets[id + 1]);
    if (slots[slot] !== 0) throw new Error(`term given twice: ${termOf(table, id)}`);
    slots[slot] = id + 1;
  }
}

/** Returns the length. A loop is far faster than a call for short ASCII terms. */
function encodeTerm(term: string, bytes: Uint8Array, start: number): number {
  for (let i = 0; i < term.length; i++) {
    const unit = term.charCodeAt(i);
    if (unit >= 0x80) return encoder.encodeInto(term, bytes.subarray(start)).written;
    bytes[start + i] = unit;
  }
  return term.length;
}

export function lookupTerm(table: TermTable, term: string): number {
  if (scratch.length < term.length * 3) scratch = new Uint8Array(term.length * 3);
  return table.slots[findSlot(table, scratch, 0, encodeTerm(term, scratch, 0))] - 1;
}

/** `lookupTerm` in many tables: encodes and hashes once. */
export function termLookup(term: string): (table: TermTable) => number {
  const bytes = new Uint8Array(term.length * 3);
  const length = encodeTerm(term, bytes, 0);
  const hash = hashBytes(bytes, 0, length);
  return (table) => table.slots[probe(table, hash, bytes, 0, length)] - 1;
}

export function termOf(table: TermTable, id: number): string {
  return decoder.decode(table.bytes.slice(table.offsets[id], table.offsets[id + 1]));
}

/** The slot of the key bytes[start .. end), or the free slot for it. */
function findSlot(table: TermTable, bytes: Uint8Array, start: number, end: number): number {
  return probe(table, hashBytes(bytes, start, end), bytes, start, end);
}

function probe(table: TermTable, hash: number, bytes: Uint8Array, start: number, end: number): number {
  const mask = table.slots.length - 1;
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const held = table.slots[slot];
    if (held === 0 || sameBytes(table, held - 1, bytes, start, end)) return slot;
  }
}

function sameBytes(table: TermTable, id: number, bytes: Uint8Array, start: number, end: number): boolean {
  const at = table.offsets[id];
  if (table.offsets[id + 1] - at !== end - start) return false;
  for (let i = 0; i < end - start; i++) if (table.bytes[at + i] !== bytes[start + i]) return false;
  return true;
}

/** FNV-1a with murmur3's final mix, so that the low bits depend on every byte. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
