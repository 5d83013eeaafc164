/** Writes down what every metric is, where one has changed. A series has a number in the store, which its later snapshots name. */
import { keepSnapshot } from '../../commands/keep-metrics.ts';
import type { MetricSeries } from '../../domain/metrics.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import type { CommitCommand } from './system-messages.ts';

export interface SnapshotKeeperDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  metrics: LibraryMetrics;
  /** Only the library's own are kept: those of a host that it is moved from and to say nothing, and change all the time. */
  ownOnly: boolean;
  /** Wall clock, ms. */
  now: () => number;
}

/** Different samples that are written down; labels have few values, so there are some hundred. */
const maxSeries = 10_000;

export class SnapshotKeeper {
  readonly #dependencies: SnapshotKeeperDependencies;
  readonly #numbers: Map<string, number>;
  #lastNo: number;
  /** What was written last. */
  #last: readonly number[] = [];

  constructor(dependencies: SnapshotKeeperDependencies) {
    this.#dependencies = dependencies;
    this.#numbers = new Map(dependencies.reader.metrics.series().map(({ no, series }) => [keyOf(series), no] as const));
    this.#lastNo = Math.max(0, ...this.#numbers.values());
  }

  /** Write down what every metric is now, unless all are as they were. Errors: those of the commit. */
  async snapshot(): Promise<void> {
    const { commit, metrics, ownOnly, now } = this.#dependencies;
    const added: { no: number; series: MetricSeries }[] = [];
    const pairs: number[] = [];
    try {
      const samples = (await metrics.samples({ own: ownOnly })).filter(({ value }) => Number.isFinite(value));
      for (const { series, value } of samples) {
        const key = keyOf(series);
        const known = this.#numbers.get(key);
        if (known === undefined && this.#lastNo >= maxSeries) continue;
        const no = known ?? ++this.#lastNo;
        if (known === undefined) {
          this.#numbers.set(key, no);
          added.push({ no, series });
        }
        pairs.push(no, value);
      }
      if (pairs.length === this.#last.length && pairs.every((each, at) => each === this.#last[at])) return;
      await commit(keepSnapshot({ ts: now(), pairs: Float64Array.from(pairs) }, added));
      this.#last = pairs;
    } catch (error) {
      for (const { series } of added) this.#numbers.delete(keyOf(series));
      throw error;
    }
  }
}

function keyOf({ sample, labels }: MetricSeries): string {
  return JSON.stringify([sample, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
