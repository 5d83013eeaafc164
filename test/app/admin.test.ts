/** What the service tells of itself, from the whole system. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { metricsTimeseriesResponse } from '../../src/domain/admin.ts';
import { until } from '../process/service.ts';
import { library, WholeSystem } from './whole-system.ts';

test('metrics are written down at an interval, outlive a restart and come back as time series', async (t) => {
  const system = await WholeSystem.start(t, { SERVICE_OBSERVABILITY__METRICS_SNAPSHOT_INTERVAL_S: '0.05' });
  await system.read({ heron: library.heron, egret: library.egret });
  const counts = async (step = 0.05) => {
    const answer = await system.ask('metrics.timeseries', { metric: 'ingest_pages_total', step });
    metricsTimeseriesResponse.parse(answer);
    return answer;
  };
  const queued = (list: Awaited<ReturnType<typeof counts>>['series']) =>
    list.find(({ labels }) => labels.outcome === 'queued')?.points.map(({ value }) => value) ?? [];
  await until(async () => queued((await counts()).series).includes(2), 'a snapshot has both pages');
  await system.stop();
  await system.start();
  const { series, current } = await counts();
  assert.deepEqual(queued(current), [0], 'counters are of the process');
  assert.ok(queued(series).includes(2), 'snapshots are not');
  assert.equal(series[0].sample, 'ingest_pages_total');
  assert.equal(series[0].metric_type, 'counter');
  const coarse = queued((await counts(86_400)).series);
  assert.ok(coarse.length <= 2, `${coarse.length} points of a day or two`);
  const later = new Date(Date.now() + 60_000).toISOString();
  const none = await system.ask('metrics.timeseries', { metric: 'ingest_pages_total', step: 60, since: later });
  assert.deepEqual(none.series, []);
  const unknown = await system.ask('metrics.timeseries', { metric: 'nothing', step: 60 });
  assert.deepEqual(unknown, { metric: 'nothing', series: [], current: [] });
  const histogram = await system.ask('metrics.timeseries', { metric: 'nodejs_gc_duration_seconds', step: 60 });
  assert.ok(histogram.series.some(({ sample, labels }) => sample.endsWith('_bucket') && labels.le !== undefined));
});

const promtool = spawnSync('promtool', ['--version']).status === 0;

test('the text exposition has nothing that promtool objects to', {
  skip: !promtool && 'promtool is not installed',
}, async (t) => {
  const system = await WholeSystem.start(t);
  await system.read({ heron: library.heron });
  const { text } = await system.metrics.exposition();
  for (const line of [
    'ingest_pages_total{outcome="queued"} 1',
    'jobs{status="done"}',
    'job_changes_total{kind="index_page"',
  ]) {
    assert.ok(text.includes(line), line);
  }
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
});
