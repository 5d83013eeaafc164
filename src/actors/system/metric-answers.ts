/** Answers about metrics, from snapshots, the registry and the store. */
import { percentile, SeriesPoints } from '../../compute/series-points.ts';
import type { DiskResponse } from '../../domain/disk.ts';
import { instantOf, isoOf } from '../../domain/ids.ts';
import { type JobStatus, jobStatuses } from '../../domain/job.ts';
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
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import type { Breakers } from './breakers.ts';
import type { Handlers } from './service.ts';

export interface MetricAnswersDependencies {
  reader: StoreReader;
  metrics: LibraryMetrics;
  breakerStates: Breakers['states'];
  disk: () => Promise<DiskResponse>;
  now: () => number;
}

export type MetricsMessages = 'metrics.timeseries' | 'metrics.summary' | 'disk.usage';

/** Per turn of the event loop: 2 ms. */
const readSlice = 50;
/** Latencies are of the newest logged searches. */
const maxRuns = 10_000;

export function metricAnswers(dependencies: MetricAnswersDependencies): Handlers<MetricsMessages> {
  const { reader, metrics, breakerStates, disk, now } = dependencies;

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
      await new Promise(setImmediate);
    }
    const series = [...wanted.values()].filter(({ points }) => points.points.length > 0);
    const at = now();
    const current = (await metrics.samples()).filter((each) => each.series.metric === metric);
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
      if (i % readSlice === readSlice - 1) await new Promise(setImmediate);
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
    const samples = await metrics.samples();
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
        failures_by_kind: sumBy('job_changes_total', 'kind', ({ status }) => status === 'failed' || status === 'dead'),
      },
      query_log_dropped_rows: total('query_log_dropped_rows_total'),
      embedding_errors_by_provider: sumBy('embedding_errors_total', 'provider'),
      rerank_degraded_total: total('rerank_degraded_total'),
      search_latency: await latency(since),
      breakers: breakerStates(),
    };
  };

  return { 'metrics.timeseries': timeseries, 'metrics.summary': summary, 'disk.usage': disk };
}

type JobCounts = Record<JobStatus, number>;

export function countJobs(reader: StoreReader): JobCounts {
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
