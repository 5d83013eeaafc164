/**
 * Writes down what every metric is, and deletes what is too old. A series has a number in the store, which its later snapshots name. A
 * snapshot that cannot be written is left out; the next one tries again.
 */
import type { Logger } from 'pino';
import { keepSnapshot, thinSnapshots } from '../../commands/keep-metrics.ts';
import { dayMs } from '../../domain/durations.ts';
import type { MetricSeries } from '../../domain/metrics.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import type { CommitCommand } from './system-messages.ts';

export interface SnapshotKeeperDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  metrics: LibraryMetrics;
  keepDays: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
}

/** Different samples that are written down; labels have few values, so there are some hundred. */
const maxSeries = 10_000;

export class SnapshotKeeper {
  readonly #dependencies: SnapshotKeeperDependencies;
  readonly #numbers: Map<string, number>;
  #lastNo: number;
  #stopping = false;

  constructor(dependencies: SnapshotKeeperDependencies) {
    this.#dependencies = dependencies;
    this.#numbers = new Map(dependencies.reader.metrics.series().map(({ no, series }) => [keyOf(series), no] as const));
    this.#lastNo = Math.max(0, ...this.#numbers.values());
  }

  /** Write down what every metric is now. Errors: none. */
  async snapshot(): Promise<void> {
    const { commit, metrics, log, now } = this.#dependencies;
    const added: { no: number; series: MetricSeries }[] = [];
    const pairs: number[] = [];
    try {
      const samples = (await metrics.samples()).filter(({ value }) => Number.isFinite(value));
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
      await commit(keepSnapshot({ ts: now(), pairs: Float64Array.from(pairs) }, added));
    } catch (error) {
      for (const { series } of added) this.#numbers.delete(keyOf(series));
      log.warn({ err: error }, 'a snapshot of the metrics could not be written');
    }
  }

  /** Delete snapshots that are too old or too many, slice by slice until `stop`. Errors: none. */
  async thin(): Promise<void> {
    const { commit, keepDays, log, now } = this.#dependencies;
    try {
      let from: number | null = 0;
      while (from !== null && !this.#stopping) {
        from = await commit(thinSnapshots(from, now(), keepDays * dayMs));
        await new Promise(setImmediate);
      }
    } catch (error) {
      log.warn({ err: error }, 'old snapshots of the metrics could not be deleted');
    }
  }

  /** Begin no further slice. */
  stop(): void {
    this.#stopping = true;
  }
}

function keyOf({ sample, labels }: MetricSeries): string {
  return JSON.stringify([sample, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
