/**
 * A set of chunk labels, or of a segment's ordinals, as a bitmap: bit `label & 31` of word `label >>> 5`. Labels past its end are not in
 * it. What a filter allows, what the store holds and what is deleted have this form; on a SharedArrayBuffer it costs nothing to send.
 */
export type Bitmap = Uint32Array;

/** An empty set with room for labels below `end`, in shared memory. */
export function createBitmap(end: number): Bitmap {
  return new Uint32Array(new SharedArrayBuffer(Math.ceil(end / 32) * 4));
}

export function hasBit(set: Bitmap, label: number): boolean {
  const word = label >>> 5;
  return word < set.length && (set[word] & (1 << (label & 31))) !== 0;
}

export function addBit(set: Bitmap, label: number): void {
  set[label >>> 5] |= 1 << (label & 31);
}

/** Add `count` labels from `first` on: the labels of a page. */
export function addBitRange(set: Bitmap, first: number, count: number): void {
  for (let label = first; label < first + count; label++) addBit(set, label);
}

/** The labels of both, as a set of its own. */
export function bitsInBoth(set: Bitmap, other: Bitmap): Bitmap {
  const both = createBitmap(32 * Math.min(set.length, other.length));
  for (let word = 0; word < both.length; word++) both[word] = set[word] & other[word];
  return both;
}

/** The labels of `set` that are not in `other`, ascending. */
export function bitsNotIn(set: Bitmap, other: Bitmap): Uint32Array {
  const labels: number[] = [];
  for (let word = 0; word < set.length; word++) {
    let bits = word < other.length ? set[word] & ~other[word] : set[word] | 0;
    for (; bits !== 0; bits &= bits - 1) labels.push(word * 32 + 31 - Math.clz32(bits & -bits));
  }
  return Uint32Array.from(labels);
}

/** A bitmap that grows and counts: the labels that an index is meant to hold. 100,000 of them take 12 KB. */
export class GrowingBitmap {
  size = 0;
  #set: Bitmap = createBitmap(0);

  /** As a label set; good until the next `add`. */
  get set(): Bitmap {
    return this.#set;
  }

  add(label: number): void {
    if (hasBit(this.#set, label)) return;
    if (label >>> 5 >= this.#set.length) {
      const grown = createBitmap(Math.max(label + 1, this.#set.length * 48));
      grown.set(this.#set);
      this.#set = grown;
    }
    addBit(this.#set, label);
    this.size++;
  }

  delete(label: number): void {
    if (!hasBit(this.#set, label)) return;
    this.#set[label >>> 5] &= ~(1 << (label & 31));
    this.size--;
  }

  has(label: number): boolean {
    return hasBit(this.#set, label);
  }
}
