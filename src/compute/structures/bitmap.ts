/** A set of labels or ordinals: bit `label & 31` of word `label >>> 5`. Labels past its end are absent. */
export type Bitmap = Uint32Array;

/** An empty set for labels below `end`, in shared memory, which threads get without a copy. */
export function createBitmap(end: number): Bitmap {
  return new Uint32Array(new SharedArrayBuffer(Math.ceil(end / 32) * 4));
}

/** The labels below `end`. */
export function bitmapOf(labels: Iterable<number>, end: number): Bitmap {
  const set = createBitmap(end);
  for (const label of labels) if (label < end) addBit(set, label);
  return set;
}

export function hasBit(set: Bitmap, label: number): boolean {
  const word = label >>> 5;
  return word < set.length && (set[word] & (1 << (label & 31))) !== 0;
}

export function addBit(set: Bitmap, label: number): void {
  set[label >>> 5] |= 1 << (label & 31);
}

export function addBitRange(set: Bitmap, first: number, count: number): void {
  for (let label = first; label < first + count; label++) addBit(set, label);
}

export function bitsInBoth(set: Bitmap, other: Bitmap): Bitmap {
  const both = createBitmap(32 * Math.min(set.length, other.length));
  for (let word = 0; word < both.length; word++) both[word] = set[word] & other[word];
  return both;
}

/** Calls `visit` with each label, ascending. */
export function forEachBit(set: Bitmap, visit: (label: number) => void): void {
  for (let word = 0; word < set.length; word++) {
    for (let bits = set[word] | 0; bits !== 0; bits &= bits - 1) visit(word * 32 + 31 - Math.clz32(bits & -bits));
  }
}

export function countBits(set: Bitmap): number {
  return set.reduce((sum, bits) => sum + bitCount(bits), 0);
}

/** Of a word. */
export function bitCount(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function bitsNotIn(set: Bitmap, other: Bitmap): Uint32Array {
  const labels: number[] = [];
  forEachBit(set, (label) => {
    if (!hasBit(other, label)) labels.push(label);
  });
  return Uint32Array.from(labels);
}

/** A growing, counting bitmap. 100,000 labels take 12 KB. */
export class GrowingBitmap {
  size = 0;
  #set: Bitmap = createBitmap(0);

  /** Valid until the next `add`. */
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
