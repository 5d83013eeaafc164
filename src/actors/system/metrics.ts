/**
 * Metrics over time: has a snapshot of every metric written down at an interval, answers what they were, and counts changes of jobs from the
 * commit feed.
 */
import { maxTimerMs } from '../../domain/durations.ts';
import type { CommitFeed } from './commit-feed.ts';
import { SnapshotKeeper, type SnapshotKeeperDependencies } from './keep-snapshots.ts';
import { countJobs, type MetricAnswersDependencies, type MetricsMessages, metricAnswers } from './metric-answers.ts';
import type { StartService } from './service.ts';

export interface MetricsDependencies extends SnapshotKeeperDependencies, MetricAnswersDependencies {
  feed: CommitFeed;
  snapshotEveryMs: number;
}

const thinEveryMs = 3_600_000;

export function metricsService(dependencies: MetricsDependencies): StartService<MetricsMessages> {
  const { reader, feed, metrics, snapshotEveryMs } = dependencies;

  const start = async () => {
    metrics.jobs.collected = () => countJobs(reader);
    const unsubscribe = feed.subscribe('visible', ({ jobs }) => {
      for (const { kind, status } of jobs) metrics.jobChanges.inc({ kind, status });
    });

    const keeper = new SnapshotKeeper(dependencies);
    let working = keeper.snapshot().then(() => keeper.thin());
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(
        () => {
          working = working.then(work);
        },
        Math.min(ms, maxTimerMs),
      );
    const timers = [every(snapshotEveryMs, () => keeper.snapshot()), every(thinEveryMs, () => keeper.thin())];

    return {
      handlers: metricAnswers(dependencies),
      stop: async () => {
        keeper.stop();
        for (const timer of timers) clearInterval(timer);
        unsubscribe();
        metrics.jobs.collected = undefined;
        await working;
      },
    };
  };
  return start;
}
