/** Traces of a real service: in its log, and at a collector. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { Site } from '../providers/small-web.ts';
import { embedderAt, RunningService, until, withEntities, withoutModel } from './service.ts';

const page = {
  url: 'https://example.com/canary-path-7719',
  title: 'canary-title-7719',
  body_extracted: 'The canary-text-7719 sings about wading birds.',
};

interface SpanLine {
  trace_id: string;
  span_id: string;
  parent: string | null;
  name: string;
  ms: number;
}

test('one trace goes from the request of a page through message, job, threads and provider until it is indexed', async (t) => {
  const provider = await startFakeProvider(t, { dim: 8 });
  const service = await RunningService.start(t, {
    ...withEntities,
    SERVICE_OBSERVABILITY__TRACES: 'console',
    ...embedderAt(provider.url, 8),
    SERVICE_EMBEDDER__API_KEY: 'canary-key-7719',
  });
  await service.add(page);
  await until(() => service.output.includes('"settle extract_entities"'), 'what follows is done, too');
  await service.stop();
  const lines = service.output.split('\n').filter((line) => line.includes('"msg":"span"'));
  const spans = lines.map((line) => JSON.parse(line) as SpanLine);
  const root = spans.find(({ name }) => name === 'http POST /v1/pages');
  assert.ok(root !== undefined, 'the request has a span');
  assert.equal(root.parent, null);
  const trace = spans.filter(({ trace_id }) => trace_id === root.trace_id);
  const byId = new Map(trace.map((span) => [span.span_id, span]));
  const wayOf = ({ name, parent }: SpanLine): string[] => {
    const above = parent === null ? undefined : byId.get(parent);
    return above === undefined ? [name] : [...wayOf(above), name];
  };
  for (const span of trace) t.diagnostic(`${'  '.repeat(wayOf(span).length - 1)}${span.name} ${span.ms} ms`);
  const ways = trace.map((span) => wayOf(span).join(' > '));
  const job = 'http POST /v1/pages > ask page.ingest > ask store.commit > job index_page';
  const parts = ['thread texts.preparePages', 'provider openai', 'ask index.add'];
  const settled = 'http POST /v1/pages > ask page.ingest > ask store.commit > settle index_page > ask store.commit';
  const all = [job, ...parts.map((part) => `${job} > ${part}`), settled, `${settled} > job extract_entities`];
  for (const way of all) {
    assert.ok(ways.includes(way), `${way}\n${ways.join('\n')}`);
  }
  assert.ok(
    !ways.some((way) => way.endsWith('ask store.commit > ask store.commit')),
    'what the scheduler does is not in it',
  );
  assert.ok(!service.output.includes('canary'), 'no line of the log holds anything of the page');
});

test('a collector gets the spans by OTLP over HTTP', async (t) => {
  const received: { path: string | undefined; authorization: string | undefined; body: string }[] = [];
  const { port } = await Site.open(t, {
    '*': async (request, response) => {
      const { url: path, headers } = request;
      received.push({ path, authorization: headers.authorization, body: await text(request) });
      response.setHeader('content-type', 'application/json').end('{}');
    },
  });
  const service = await RunningService.start(t, {
    ...withoutModel,
    SERVICE_OBSERVABILITY__TRACES: 'otlp',
    SERVICE_OBSERVABILITY__OTLP_ENDPOINT: `http://tracer:canary-password@127.0.0.1:${port}/v1/traces`,
  });
  const names = () => received.flatMap(({ body }) => [...body.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name));
  await service.add(page);
  // A stop waits for the collector for a second only.
  await until(
    () => names().includes('http POST /v1/pages') && names().includes('job index_page'),
    'the spans are sent',
  );
  await service.stop();
  const [{ path, authorization }] = received;
  assert.equal(path, '/v1/traces');
  assert.equal(authorization, `Basic ${Buffer.from('tracer:canary-password').toString('base64')}`);
  assert.ok(received.every(({ body }) => !body.includes('canary')));
  assert.ok(!service.output.includes('canary-password'));
});
