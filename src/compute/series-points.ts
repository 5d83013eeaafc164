/** Points of time series out of snapshots: one for each step in which there is a value. */

export interface Point {
  ts: number;
  value: number;
}

/**
 * Aggregates values that come in order of time.
 * Units:  ts and stepMs in ms, ts whole; a point's ts is the beginning of its step (a multiple of stepMs). Any step above 0 will
 *         do: one below a millisecond is a millisecond, one longer than all time there is holds everything.
 * Gauges: the mean of the step's values. Counters and histograms, which only grow: the step's last value.
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

/** The value below which a share of the values lies, by nearest rank; `sorted` ascending and not empty. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
