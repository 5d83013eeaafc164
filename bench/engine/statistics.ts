/** Numbers about numbers. */

export interface Latency {
  p50: number;
  p95: number;
  max: number;
  n: number;
}

/** Of times in ms. */
export function latencyOf(times: readonly number[]): Latency {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return { p50: at(0.5), p95: at(0.95), max: at(1), n: sorted.length };
}

/** To four significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** Share of `truth` that is in `found`; 1 when there is nothing to find. */
export function recallOf(found: ArrayLike<number>, truth: readonly number[]): number {
  const set = new Set(Array.from(found));
  return truth.length === 0 ? 1 : truth.filter((label) => set.has(label)).length / truth.length;
}

export function sameList(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.from(a).every((value, i) => value === b[i]);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Merge reports of the same shape into one of medians: numbers become their median, objects are merged field by field, and of
 * anything else the first is kept.
 */
export function medianReport(reports: readonly unknown[]): unknown {
  const [first] = reports;
  if (typeof first === 'number') {
    const sorted = reports.filter((each) => typeof each === 'number').sort((a, b) => a - b);
    return sorted[sorted.length >> 1];
  }
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return first;
  return Object.fromEntries(
    Object.keys(first).map((key) => [
      key,
      medianReport(reports.map((each) => (each as Record<string, unknown>)[key]).filter((each) => each !== undefined)),
    ]),
  );
}
