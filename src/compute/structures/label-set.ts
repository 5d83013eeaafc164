/**
 * A set of chunk labels as a bitmap: bit `label & 31` of word `label >>> 5`. Labels past its end are not in it. What a
 * filter allows and what the store holds come to the indexes in this form; on a SharedArrayBuffer it costs nothing to send.
 */
export type LabelSet = Uint32Array;

/** An empty set with room for labels below `end`, in shared memory. */
export function createLabelSet(end: number): LabelSet {
  return new Uint32Array(new SharedArrayBuffer(Math.ceil(end / 32) * 4));
}

export function hasLabel(set: LabelSet, label: number): boolean {
  const word = label >>> 5;
  return word < set.length && (set[word] & (1 << (label & 31))) !== 0;
}

export function addLabel(set: LabelSet, label: number): void {
  set[label >>> 5] |= 1 << (label & 31);
}

/** Add `count` labels from `first` on: the labels of a page. */
export function addLabelRange(set: LabelSet, first: number, count: number): void {
  for (let label = first; label < first + count; label++) addLabel(set, label);
}

/** The labels of `set` that are not in `other`, ascending. */
export function labelsNotIn(set: LabelSet, other: LabelSet): Uint32Array {
  const labels: number[] = [];
  for (let word = 0; word < set.length; word++) {
    let bits = word < other.length ? set[word] & ~other[word] : set[word] | 0;
    for (; bits !== 0; bits &= bits - 1) labels.push(word * 32 + 31 - Math.clz32(bits & -bits));
  }
  return Uint32Array.from(labels);
}
