/** Metrics over time: stores periodic snapshots, answers about the past, and counts job changes from the commit feed. */
import type { Logger } from 'pino';
import { dayMs, hourMs } from '../../domain/durations.ts';
import type { MetricSeries } from '../../domain/metrics.ts';
import type { MetricSnapshot } from '../../store/metric-snapshots.ts';
import type { Command, StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import { Background } from './background.ts';
import type { CommitFeed } from './commit-feed.ts';
import { countJobs, type MetricAnswersDependencies, type MetricsMessages, metricAnswers } from './metric-answers.ts';
import type { OldBefore } from './retention.ts';
import type { StartService } from './service.ts';
import type { CommitCommand } from './system-messages.ts';

export interface MetricsDependencies extends SnapshotKeeperDependencies, MetricAnswersDependencies {
  feed: CommitFeed;
  snapshotEveryMs: number;
  /** For snapshots. */
  oldBefore: OldBefore;
  log: Logger;
}

const thinEveryMs = 3_600_000;

export function metricsService(dependencies: MetricsDependencies): StartService<MetricsMessages> {
  const { reader, commit, feed, metrics, snapshotEveryMs, oldBefore, log, now } = dependencies;

  const start = async () => {
    metrics.jobs.collected = () => countJobs(reader);
    metrics.vectorsPending.collected = () => {
      const active = reader.models.activeModel();
      return active === undefined ? 0 : reader.backfills.pending(active.space).chunks;
    };
    const unsubscribe = feed.subscribe('visible', ({ jobs }) => {
      for (const { kind, status } of jobs) metrics.jobChanges.inc({ kind, status });
    });

    const background = new Background(log);
    const keeper = new SnapshotKeeper(dependencies);
    const thin = async () => {
      const at = now();
      const before = await oldBefore();
      if (before === null) return;
      await background.slices(0, (from: number) => commit(thinSnapshots(from, at, at - before)));
    };
    const [notWritten, notThinned] = [
      'a snapshot of the metrics could not be written',
      'old ones could not be deleted',
    ];
    background.soon(notWritten, () => keeper.snapshot());
    background.soon(notThinned, thin);
    background.every(snapshotEveryMs, notWritten, () => keeper.snapshot());
    background.every(thinEveryMs, notThinned, thin);

    return {
      handlers: metricAnswers(dependencies),
      stop: async () => {
        unsubscribe();
        metrics.jobs.collected = undefined;
        metrics.vectorsPending.collected = undefined;
        await background.stop();
      },
    };
  };
  return start;
}

interface SnapshotKeeperDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  metrics: LibraryMetrics;
  /** Skips host metrics, which are meaningless after a move and change constantly. */
  ownOnly: boolean;
  now: () => number;
}

/** Labels have few values, so there are some hundred. */
const maxSeries = 10_000;

export class SnapshotKeeper {
  readonly #dependencies: SnapshotKeeperDependencies;
  readonly #numbers: Map<string, number>;
  #lastNo: number;
  #last: readonly number[] = [];

  constructor(dependencies: SnapshotKeeperDependencies) {
    this.#dependencies = dependencies;
    this.#numbers = new Map(dependencies.reader.metrics.series().map(({ no, series }) => [keyOf(series), no] as const));
    this.#lastNo = Math.max(0, ...this.#numbers.values());
  }

  /** Skipped if nothing changed. Errors: those of the commit. */
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

/* Snapshots are written, thinned after a day, and finally deleted: with one per 15 s some 8,000 rows of about 2 KB. */

/** After this, the first of each hour is kept, ms. */
export const keepAllMs = dayMs;
/** Per transaction. */
const sliceRows = 500;

/** Also stores its new series. */
export function keepSnapshot(
  snapshot: MetricSnapshot,
  added: readonly { no: number; series: MetricSeries }[],
): Command<void> {
  return ({ metrics }) => {
    for (const { no, series } of added) metrics.putSeries(no, series);
    metrics.put(snapshot);
  };
}

/** Thin out a slice from `from`; returns the start of the next one, or null at the end. */
export function thinSnapshots(from: number, now: number, keepMs: number): Command<number | null> {
  return ({ metrics }) => {
    const times = metrics.times(from, now - Math.min(keepAllMs, keepMs), sliceRows);
    let hour = -1;
    for (const ts of times) {
      const own = Math.floor(ts / hourMs);
      if (ts < now - keepMs || own === hour) metrics.remove(ts);
      else hour = own;
    }
    const last = times.at(-1);
    if (last === undefined || times.length < sliceRows) return null;
    // The slice's last hour is examined again from its beginning.
    return Math.max(from + 1, Math.floor(last / hourMs) * hourMs);
  };
}
