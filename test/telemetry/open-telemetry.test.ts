/** Which spans are of one trace: what a request does, not what goes on because of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { CommitFeed } from '../../src/actors/system/service.ts';
import { remember, traced } from '../../src/compute/span.ts';
import { noChanges } from '../../src/store/commit.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { startTracing } from '../../src/telemetry/open-telemetry.ts';

interface SpanLine {
  name: string;
  trace_id: string;
  span_id: string;
  parent: string | null;
}

/** Trace while the work runs; the spans by name. */
async function spansOf(work: () => Promise<void>): Promise<Map<string, SpanLine>> {
  const lines: string[] = [];
  const log = createLog({ json_logs: true, log_level: 'info' }, { write: (line) => lines.push(line) });
  const tracing = startTracing({ traces: 'console', endpoint: null, userinfo: null, query: null, version: '0', log });
  await work();
  await tracing.close();
  return new Map(lines.map((line) => JSON.parse(line) as SpanLine).map((span) => [span.name, span]));
}

const nothing = async () => {};

test('what a projection does when it is told of a commit, and its timers after that, are of no trace', async () => {
  const feed = new CommitFeed();
  const later = new EventTarget();
  feed.subscribe('durable', () => {
    void traced('look', {}, nothing);
    setTimeout(() => void traced('look again', {}, nothing).then(() => later.dispatchEvent(new Event('over'))), 1);
  });
  const spans = await spansOf(async () => {
    const over = once(later, 'over');
    await traced('request', {}, async () => {
      await traced('commit', {}, nothing);
      feed.publish('durable', { opstamp: 1, ...noChanges() });
    });
    await over;
  });
  const request = spans.get('request');
  assert.equal(spans.get('commit')?.parent, request?.span_id);
  for (const name of ['look', 'look again']) {
    assert.equal(spans.get(name)?.parent, null);
    assert.notEqual(spans.get(name)?.trace_id, request?.trace_id);
  }
});

test('a job is of the trace that made it, wherever it runs, and of its own where that is forgotten', async () => {
  const spans = await spansOf(async () => {
    await traced('request', {}, async () => remember('job 1'));
    await traced('other', {}, async () => {
      await traced('known', {}, nothing, 'job 1');
      await traced('forgotten', {}, nothing, 'job 2');
    });
  });
  assert.equal(spans.get('known')?.parent, spans.get('request')?.span_id);
  assert.equal(spans.get('forgotten')?.parent, null);
  assert.notEqual(spans.get('forgotten')?.trace_id, spans.get('other')?.trace_id);
});
