import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../src/telemetry/metrics.ts';

test('each call makes its own registries', async () => {
  const [first, second] = [createMetrics(), createMetrics()];
  first.ofLibrary().ingestPages.inc({ outcome: 'queued' }, 3);
  second.ofLibrary();
  assert.match((await first.exposition()).text, /^ingest_pages_total\{outcome="queued"\} 3$/m);
  assert.match((await second.exposition()).text, /^ingest_pages_total\{outcome="queued"\} 0$/m);
  assert.match((await second.exposition()).text, /^process_resident_memory_bytes /m);
});

test('what libraries count is told as sums; each sees its own and the process’s', async () => {
  const metrics = createMetrics();
  const [one, other] = [metrics.ofLibrary(), metrics.ofLibrary()];
  one.ingestPages.inc({ outcome: 'queued' }, 3);
  other.ingestPages.inc({ outcome: 'queued' }, 4);
  one.eventSubscribers.set(2);
  one.jobs.collected = () => ({ done: 5 });
  other.jobs.collected = () => ({ done: 6, dead: 1 });
  metrics.httpDuration.observe({ method: 'GET', route: '/healthz', status: 200 }, 0.001);
  const { text, contentType } = await metrics.exposition();
  assert.match(contentType, /^text\/plain/);
  for (const line of ['ingest_pages_total{outcome="queued"} 7', 'event_subscribers 2', 'jobs{status="done"} 11']) {
    assert.ok(text.includes(`\n${line}\n`), line);
  }
  assert.ok(text.includes('http_request_duration_seconds_count{'));
  const samples = await other.samples();
  const countOf = (sample: string, label: string) =>
    samples.find(({ series }) => series.sample === sample && Object.values(series.labels).includes(label))?.value;
  assert.equal(countOf('ingest_pages_total', 'queued'), 4);
  assert.equal(countOf('jobs', 'dead'), 1);
  assert.equal(countOf('http_request_duration_seconds_count', '/healthz'), 1);
});
