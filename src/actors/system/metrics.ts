/** Metrics over time: stores periodic snapshots, answers about the past, and counts job changes from the commit feed. */

import { percentile, SeriesPoints } from '../../compute/series-points.ts';
import type * as admin from '../../domain/admin.ts';
import { dayMs, hourMs } from '../../domain/durations.ts';
import { type JobStatus, jobStatuses } from '../../domain/job.ts';
import { instantOf, isoOf } from '../../domain/values.ts';
import type { MetricSnapshot } from '../../store/metric-snapshots.ts';
import type { Command, StoreReader } from '../../store/store.ts';
import { Background, inParts } from './background.ts';
import type { Breakers } from './breakers.ts';
import type { OldBefore } from './retention.ts';
import type { Handlers, LibraryParts, StartService } from './service.ts';

interface MetricsDependencies
  extends SnapshotKeeperDependencies,
    MetricAnswersDependencies,
    Pick<LibraryParts, 'feed' | 'log'> {
  snapshotEveryMs: number;
  oldBefore: OldBefore;
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
    const keep = snapshotKeeper(dependencies);
    const notWritten = 'a snapshot of the metrics could not be written';
    background.soon(notWritten, keep);
    background.every(snapshotEveryMs, notWritten, keep);
    background.purge(thinEveryMs, 'old snapshots of the metrics could not be deleted', oldBefore, (from, before) => {
      const at = now();
      return commit(thinSnapshots(from, at, at - before));
    });

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

interface SnapshotKeeperDependencies extends Pick<LibraryParts, 'reader' | 'commit' | 'metrics' | 'now'> {
  /** Skips metrics of the host, which are meaningless on another host and change constantly. */
  ownOnly: boolean;
}

/** Max series. Labels have few values, so there are some hundred. */
const maxSeries = 10_000;

/** Stores a snapshot, unless nothing changed. Errors: those of the commit. */
export function snapshotKeeper({ reader, commit, metrics, ownOnly, now }: SnapshotKeeperDependencies) {
  const numbers = new Map(reader.metrics.series().map(({ no, series }) => [keyOf(series), no] as const));
  let lastNo = Math.max(0, ...numbers.values());
  let last: readonly number[] = [];

  return async (): Promise<void> => {
    const added: { no: number; series: admin.MetricSeries }[] = [];
    const pairs: number[] = [];
    try {
      const samples = (await metrics.samples({ own: ownOnly })).filter(({ value }) => Number.isFinite(value));
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
      if (pairs.length === last.length && pairs.every((each, at) => each === last[at])) return;
      await commit(keepSnapshot({ ts: now(), pairs: Float64Array.from(pairs) }, added));
      last = pairs;
    } catch (error) {
      for (const { series } of added) numbers.delete(keyOf(series));
      throw error;
    }
  };
}

function keyOf({ sample, labels }: admin.MetricSeries): string {
  return JSON.stringify([sample, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/* Snapshots are written, thinned after a day, and finally deleted. One per 15 s makes some 8,000 rows of about 2 KB. */

/** After this time, ms, only the first of each hour is kept. */
export const keepAllMs = dayMs;
const sliceRows = 500;

export function keepSnapshot(
  snapshot: MetricSnapshot,
  added: readonly { no: number; series: admin.MetricSeries }[],
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
    // The next slice examines the last hour again from its beginning.
    return Math.max(from + 1, Math.floor(last / hourMs) * hourMs);
  };
}

interface MetricAnswersDependencies extends Pick<LibraryParts, 'reader' | 'metrics' | 'now'> {
  breakerStates: Breakers['states'];
  disk: () => Promise<admin.DiskResponse>;
}

type MetricsMessages = 'metrics.timeseries' | 'metrics.summary' | 'disk.usage';

/** Rows read per turn of the event loop: 2 ms. */
const readSlice = 50;
/** Latencies are computed from the newest logged searches, at most this many. */
const maxRuns = 10_000;

function metricAnswers(dependencies: MetricAnswersDependencies): Handlers<MetricsMessages> {
  const { reader, metrics, breakerStates, disk, now } = dependencies;

  const timeseries = async ({
    metric,
    since,
    step,
  }: admin.TimeseriesQuery): Promise<admin.MetricsTimeseriesResponse> => {
    const wanted = new Map<number, { series: admin.MetricSeries; points: SeriesPoints }>();
    for (const { no, series } of reader.metrics.series()) {
      if (series.metric !== metric) continue;
      wanted.set(no, { series, points: new SeriesPoints(step * 1000, series.metric_type === 'gauge') });
    }
    const after = since === undefined ? 0 : instantOf(since) - 1;
    const snapshotsAfter = (ts: number) => (wanted.size === 0 ? [] : reader.metrics.snapshots(ts + 1, readSlice));
    for await (const slice of inParts(snapshotsAfter, ({ ts }) => ts, { after })) {
      for (const { ts, pairs } of slice) {
        for (let i = 0; i < pairs.length; i += 2) wanted.get(pairs[i])?.points.add(ts, pairs[i + 1]);
      }
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

  const latency = async (since: string | undefined): Promise<admin.MetricsSummaryResponse['search_latency']> => {
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

  const summary = async ({ since }: admin.SummaryQuery): Promise<admin.MetricsSummaryResponse> => {
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

function countJobs(reader: StoreReader): JobCounts {
  const counts = jobStatuses.map((status) => [status, reader.jobs.countByStatus(status)]);
  return Object.fromEntries(counts) as JobCounts;
}

function sumByLabel(samples: readonly admin.SampleValue[], label: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { series, value } of samples) {
    const name = series.labels[label] ?? '';
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

function seriesResponse(
  { sample, labels, metric_type }: admin.MetricSeries,
  points: readonly { ts: number; value: number }[],
): admin.MetricSeriesResponse {
  return {
    sample,
    labels,
    metric_type,
    points: points.map(({ ts, value }) => ({ ts: isoOf(ts), value })),
  };
}
