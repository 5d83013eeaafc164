import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../src/telemetry/metrics.ts';

test('each call makes its own registry', async () => {
  const [first, second] = [createMetrics(), createMetrics()];
  first.ingestPages.inc({ outcome: 'queued' }, 3);
  assert.match(await first.registry.metrics(), /^ingest_pages_total\{outcome="queued"\} 3$/m);
  assert.match(await second.registry.metrics(), /^ingest_pages_total\{outcome="queued"\} 0$/m);
  assert.match(await second.registry.metrics(), /^process_resident_memory_bytes /m);
});
