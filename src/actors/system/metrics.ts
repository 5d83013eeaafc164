/**
 * Metrics over time: has a snapshot of every metric written down at an interval, answers what they were, and counts changes of jobs from the
 * commit feed.
 */
import type { Logger } from 'pino';
import { thinSnapshots } from '../../commands/keep-metrics.ts';
import { dayMs } from '../../domain/durations.ts';
import { Background } from './background.ts';
import type { CommitFeed } from './commit-feed.ts';
import { SnapshotKeeper, type SnapshotKeeperDependencies } from './keep-snapshots.ts';
import { countJobs, type MetricAnswersDependencies, type MetricsMessages, metricAnswers } from './metric-answers.ts';
import type { StartService } from './service.ts';

export interface MetricsDependencies extends SnapshotKeeperDependencies, MetricAnswersDependencies {
  feed: CommitFeed;
  snapshotEveryMs: number;
  /** How long snapshots are kept. */
  keepDays: number;
  log: Logger;
}

const thinEveryMs = 3_600_000;

export function metricsService(dependencies: MetricsDependencies): StartService<MetricsMessages> {
  const { reader, commit, feed, metrics, snapshotEveryMs, keepDays, log, now } = dependencies;

  const start = async () => {
    metrics.jobs.collected = () => countJobs(reader);
    const unsubscribe = feed.subscribe('visible', ({ jobs }) => {
      for (const { kind, status } of jobs) metrics.jobChanges.inc({ kind, status });
    });

    const background = new Background(log);
    const keeper = new SnapshotKeeper(dependencies);
    const thin = () => {
      const at = now();
      return background.slices(0, (from: number) => commit(thinSnapshots(from, at, keepDays * dayMs)));
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
        await background.stop();
      },
    };
  };
  return start;
}
