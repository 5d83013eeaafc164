/**
 * Agreement of two partitions, for clusters and labels. Pure.
 * Sources: normalised mutual information (arithmetic mean of the entropies); adjusted Rand index, Hubert & Arabie 1985.
 */
export interface PartitionAgreement {
  /** 0..1; 1 for equal partitions. */
  nmi: number;
  /** About 0 by chance, 1 for equal partitions. */
  ari: number;
}

/** Shapes: aligned groups of at least two items. */
export function partitionAgreement(a: ArrayLike<number>, b: ArrayLike<number>): PartitionAgreement {
  const inA = new Map<number, number>();
  const inB = new Map<number, number>();
  const inBoth = new Map<string, number>();
  for (let i = 0; i < a.length; i++) {
    inA.set(a[i], (inA.get(a[i]) ?? 0) + 1);
    inB.set(b[i], (inB.get(b[i]) ?? 0) + 1);
    const key = `${a[i]} ${b[i]}`;
    inBoth.set(key, (inBoth.get(key) ?? 0) + 1);
  }
  const total = a.length;
  const sum = (counts: Map<unknown, number>, of: (count: number) => number) =>
    [...counts.values()].reduce((all, count) => all + of(count), 0);
  const entropy = (counts: Map<unknown, number>) => -sum(counts, (count) => (count / total) * Math.log(count / total));
  const pairs = (count: number) => (count * (count - 1)) / 2;
  const [entropyA, entropyB] = [entropy(inA), entropy(inB)];
  const mutual = entropyA + entropyB - entropy(inBoth);
  const expected = (sum(inA, pairs) * sum(inB, pairs)) / pairs(total);
  const most = (sum(inA, pairs) + sum(inB, pairs)) / 2;
  return {
    nmi: entropyA + entropyB === 0 ? 1 : (2 * mutual) / (entropyA + entropyB),
    ari: most === expected ? 1 : (sum(inBoth, pairs) - expected) / (most - expected),
  };
}
