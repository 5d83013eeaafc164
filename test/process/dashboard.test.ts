/** What deploy/grafana-dashboard.json asks Prometheus for, held against the /metrics of a service that works. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../scope.ts';
import { EventStream } from './event-stream.ts';
import { token, until } from './service.ts';
import { sharedService } from './shared-service.ts';

interface Dashboard {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
  templating: { list: { type: string; query: string }[] };
}
const dashboard = JSON.parse(
  readFileSync(new URL('../../deploy/grafana-dashboard.json', import.meta.url), 'utf8'),
) as Dashboard;
const targets = dashboard.panels.flatMap((panel) => panel.targets);

// A provider that nobody reaches: its breaker and its errors are counted, too.
const shared = sharedService({
  SERVICE_PROVIDERS__REMOTE__BASE_URL: 'http://127.0.0.1:9/v1',
  SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
  SERVICE_JOBS__MAX_ATTEMPTS: '1',
});
const promtool = spawnSync('promtool', ['--version']).status === 0;

/** Labels that Prometheus gives to whatever it scrapes, and those of a histogram's samples. */
const scraped = ['job', 'instance', 'le'];

/** Kind of each metric and, by sample, the labels and values it came with. */
function read(exposition: string) {
  const kinds = new Map(
    Array.from(exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, kind]) => [name, kind] as const),
  );
  const samples = new Map<string, Map<string, Set<string>>>();
  for (const [, sample, labels = ''] of exposition.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = samples.get(sample) ?? new Map<string, Set<string>>();
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value));
    samples.set(sample, known);
  }
  return { kinds, samples };
}

test('every panel asks for samples, labels and values that /metrics has', async () => {
  await shared.addIndexed({ url: 'https://example.com/heron', title: 'Heron', body_extracted: 'A text about herons.' });
  await shared.search({ query: 'heron' });
  (await EventStream.open(shared.service.url, token)).close();
  const model = { provider: 'remote', model_name: 'words', dim: 16, max_input_tokens: 512 };
  const { body } = await shared.post<{ id: string }>('/v1/models', model);
  await shared.post(`/v1/models/${encodeURIComponent(body.id)}/backfill`, { confirm: true });
  let exposition = '';
  await until(async () => {
    exposition = (await shared.service.metrics()).body;
    return [/^embedding_errors_total\{/m, /^event_subscriptions_ended_total\{/m].every((line) => line.test(exposition));
  }, 'an error of the provider and the end of a subscription are counted');
  const { kinds, samples } = read(exposition);
  for (const { expr, legendFormat } of targets) {
    const selectors = Array.from(expr.matchAll(/([a-z_0-9]+)\{([^}]*)\}(\[)?/g));
    assert.equal(selectors.length, 1, expr);
    const [[, sample, matchers, range]] = selectors;
    const metric = kinds.has(sample) ? sample : sample.replace(/_(bucket|count|sum)$/, '');
    const kind = kinds.get(metric);
    assert.ok(kind !== undefined, `there is no ${sample}`);
    assert.equal(kind === 'gauge', range === undefined, `a rate is of what only rises: ${expr}`);
    const labels = samples.get(sample);
    assert.ok(labels !== undefined, `${sample} has no samples`);
    const grouped = expr.match(/by \(([^)]*)\)/)?.[1].split(/,\s*/) ?? [];
    const shown = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label);
    const asked = Array.from(matchers.matchAll(/(\w+)="([^"]*)"/g));
    for (const label of [...grouped, ...shown, ...asked.map(([, label]) => label)])
      assert.ok(labels.has(label) || scraped.includes(label), `${sample} has no ${label}: ${expr}`);
    if (grouped.length > 0)
      for (const label of shown) assert.ok(grouped.includes(label), `${label} is shown, and summed over: ${expr}`);
    for (const [, label, value] of asked)
      if (label === 'route') assert.ok(labels.get(label)?.has(value), `no request was to ${value}`);
  }
  const variables = dashboard.templating.list.filter(({ type }) => type === 'query');
  assert.deepEqual(
    variables.map(({ query }) => query),
    ['label_values(ingest_pages_total, job)'],
  );
});

test('Prometheus can read every expression', { skip: !promtool && 'promtool is not installed' }, (t) => {
  const rules = targets.map(({ expr }, at) => ({ record: `panel_${at}`, expr: expr.replaceAll('$job', 'readback') }));
  const file = join(temporaryFolder(t), 'rules.yaml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, new RegExp(`${targets.length} rules found`));
});
