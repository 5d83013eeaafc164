export interface Point {
  ts: number;
  value: number;
}

/**
 * Aggregates values in time order: mean of a step for gauges, else the last value. Units: ts and stepMs in whole ms; a
 * point's ts is the start of its step, a multiple of stepMs. Steps are at least 1 ms.
 */
export class SeriesPoints {
  readonly points: Point[] = [];
  readonly #stepMs: number;
  readonly #isGauge: boolean;
  #values = 0;

  constructor(stepMs: number, isGauge: boolean) {
    this.#stepMs = Math.min(Math.max(stepMs, 1), Number.MAX_SAFE_INTEGER);
    this.#isGauge = isGauge;
  }

  add(ts: number, value: number): void {
    if (!Number.isFinite(value)) return;
    const begin = Math.floor(ts / this.#stepMs) * this.#stepMs;
    const last = this.points.at(-1);
    if (last?.ts !== begin) {
      this.points.push({ ts: begin, value });
      this.#values = 1;
      return;
    }
    this.#values++;
    last.value = this.#isGauge ? last.value + (value - last.value) / this.#values : value;
  }
}

/** By nearest rank; `sorted` is ascending and not empty. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
