/**
 * The meter: writes a snapshot of every metric down at an interval and answers what they were; counts changes of jobs from the
 * commit feed. A snapshot that cannot be written is left out; the next one tries again.
 */
import type { Logger } from 'pino';
import { keepSnapshot, thinSnapshots } from '../../commands/keep-metrics.ts';
import { percentile, SeriesPoints } from '../../compute/series-points.ts';
import { dayMs, maxTimerMs } from '../../domain/durations.ts';
import { instantOf, isoOf } from '../../domain/ids.ts';
import { jobStatuses } from '../../domain/job.ts';
import type {
  MetricSeries,
  MetricSeriesResponse,
  MetricsSummaryResponse,
  MetricsTimeseriesResponse,
  SampleValue,
  SummaryQuery,
  TimeseriesQuery,
} from '../../domain/metrics.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Metrics, sampleValues } from '../../telemetry/metrics.ts';
import type { Breakers } from './breakers.ts';
import type { CommitFeed } from './commit-feed.ts';
import { serviceLogic } from './service.ts';
import type { CommitCommand } from './system-messages.ts';

export interface MeterDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  feed: CommitFeed;
  metrics: Metrics;
  breakerStates: Breakers['states'];
  snapshotEveryMs: number;
  keepDays: number;
  log: Logger;
  now: () => number;
}

const thinEveryMs = 3_600_000;
/** Different samples that are written down; labels have few values, so there are some hundred. */
const maxSeries = 10_000;
/** Snapshots read between two turns of the event loop: 2 ms. */
const readSlice = 50;
/** Logged searches that the latencies are taken of: the newest ones. */
const maxRuns = 10_000;

const keyOf = ({ sample, labels }: MetricSeries): string =>
  JSON.stringify([sample, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
const turn = () => new Promise(setImmediate);

export function meterLogic(dependencies: MeterDependencies) {
  const { reader, commit, feed, metrics, breakerStates, snapshotEveryMs, keepDays, log, now } = dependencies;

  const start = async () => {
    const numbers = new Map(reader.metrics.series().map(({ no, series }) => [keyOf(series), no] as const));
    let lastNo = Math.max(0, ...numbers.values());
    let stopping = false;

    metrics.jobs.collected = () => countJobs(reader);
    metrics.breakers.collected = breakerStates;
    const unlisten = feed.subscribe('visible', ({ jobs }) => {
      for (const { kind, status } of jobs) metrics.jobChanges.inc({ kind, status });
    });

    const snapshot = async () => {
      const samples = (await sampleValues(metrics)).filter(({ value }) => Number.isFinite(value));
      const added: { no: number; series: MetricSeries }[] = [];
      const pairs: number[] = [];
      for (const { series, value } of samples) {
        const key = keyOf(series);
        const known = numbers.get(key);
        if (known === undefined && lastNo >= maxSeries) continue;
        const no = known ?? ++lastNo;
        if (known === undefined) {
          numbers.set(key, no);
          added.push({ no, series });
        }
        pairs.push(no, value);
      }
      try {
        await commit(keepSnapshot({ ts: now(), pairs: Float64Array.from(pairs) }, added));
      } catch (error) {
        for (const { series } of added) numbers.delete(keyOf(series));
        log.warn({ err: error }, 'a snapshot of the metrics could not be written');
      }
    };
    const thin = async () => {
      try {
        for (let from: number | null = 0; from !== null && !stopping; await turn()) {
          from = await commit(thinSnapshots(from, now(), keepDays * dayMs));
        }
      } catch (error) {
        log.warn({ err: error }, 'old snapshots of the metrics could not be deleted');
      }
    };
    let working = snapshot().then(thin);
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(
        () => {
          working = working.then(work);
        },
        Math.min(ms, maxTimerMs),
      );
    const timers = [every(snapshotEveryMs, snapshot), every(thinEveryMs, thin)];

    const timeseries = async ({ metric, since, step }: TimeseriesQuery): Promise<MetricsTimeseriesResponse> => {
      const wanted = new Map<number, { series: MetricSeries; points: SeriesPoints }>();
      for (const { no, series } of reader.metrics.series()) {
        if (series.metric !== metric) continue;
        wanted.set(no, { series, points: new SeriesPoints(step * 1000, series.metric_type === 'gauge') });
      }
      let from = since === undefined ? 0 : instantOf(since);
      while (wanted.size > 0) {
        const slice = reader.metrics.snapshots(from, readSlice);
        for (const { ts, pairs } of slice) {
          for (let i = 0; i < pairs.length; i += 2) wanted.get(pairs[i])?.points.add(ts, pairs[i + 1]);
        }
        const last = slice.at(-1);
        if (last === undefined || slice.length < readSlice) break;
        from = last.ts + 1;
        await turn();
      }
      const series = [...wanted.values()].filter(({ points }) => points.points.length > 0);
      const at = now();
      const current = (await sampleValues(metrics)).filter((each) => each.series.metric === metric);
      return {
        metric,
        series: series.map(({ series: each, points }) => seriesResponse(each, points.points)),
        current: current
          .filter(({ value }) => Number.isFinite(value))
          .map(({ series: each, value }) => seriesResponse(each, [{ ts: at, value }])),
      };
    };

    const latency = async (since: string | undefined): Promise<MetricsSummaryResponse['search_latency']> => {
      const range = since === undefined ? {} : { since: instantOf(since) };
      const totals: number[] = [];
      for (const [i, no] of reader.queryLog.numbers({ ...range, kind: 'search', limit: maxRuns }).entries()) {
        if (i % readSlice === readSlice - 1) await turn();
        const total = reader.queryLog.get(no)?.timing_ms.total;
        if (total !== undefined) totals.push(total);
      }
      if (totals.length === 0) return null;
      totals.sort((a, b) => a - b);
      return {
        since: since ?? null,
        runs: totals.length,
        p50_ms: percentile(totals, 0.5),
        p95_ms: percentile(totals, 0.95),
      };
    };

    const summary = async ({ since }: SummaryQuery): Promise<MetricsSummaryResponse> => {
      const samples = await sampleValues(metrics);
      const sumBy = (name: string, label: string, when: (labels: Record<string, string>) => boolean = () => true) =>
        sumByLabel(
          samples.filter(({ series }) => series.sample === name && when(series.labels)),
          label,
        );
      const total = (name: string) => samples.find(({ series }) => series.sample === name)?.value ?? 0;
      const by_status = countJobs(reader);
      return {
        generated_at: isoOf(now()),
        tombstones: reader.tombstones.countByState(),
        jobs: {
          by_status,
          queue_depth: by_status.pending + by_status.failed,
          dead: by_status.dead,
          failures_by_kind: sumBy(
            'job_changes_total',
            'kind',
            ({ status }) => status === 'failed' || status === 'dead',
          ),
        },
        query_log_dropped_rows: total('query_log_dropped_rows_total'),
        embedding_errors_by_provider: sumBy('embedding_errors_total', 'provider'),
        rerank_degraded_total: total('rerank_degraded_total'),
        search_latency: await latency(since),
        breakers: breakerStates(),
      };
    };

    return {
      handlers: { 'metrics.timeseries': timeseries, 'metrics.summary': summary },
      stop: async () => {
        stopping = true;
        for (const timer of timers) clearInterval(timer);
        unlisten();
        await working;
      },
    };
  };
  return serviceLogic<'metrics.timeseries' | 'metrics.summary'>('meter', start);
}

type JobCounts = Record<(typeof jobStatuses)[number], number>;

function countJobs(reader: StoreReader): JobCounts {
  const counts = jobStatuses.map((status) => [status, reader.jobs.countByStatus(status)]);
  return Object.fromEntries(counts) as JobCounts;
}

function sumByLabel(samples: readonly SampleValue[], label: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { series, value } of samples) {
    const name = series.labels[label] ?? '';
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

function seriesResponse(
  { sample, labels, metric_type }: MetricSeries,
  points: readonly { ts: number; value: number }[],
): MetricSeriesResponse {
  return {
    sample,
    labels,
    metric_type,
    points: points.map(({ ts, value }) => ({ ts: isoOf(ts), value })),
  };
}
