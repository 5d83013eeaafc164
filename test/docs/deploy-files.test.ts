/** The files of deploy/ name what is there: metrics, commands, settings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fixedVariables } from '../../src/settings/environment.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

test('every metric of the dashboard is one that the service has', async () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] };
  const named = panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => Array.from(expr.matchAll(/([a-z_0-9]+)\{/g), ([, name]) => name)),
  );
  assert.ok(named.length >= 15);
  const metrics = createMetrics();
  const registries = [metrics.registry, metrics.ofLibrary().registry];
  const known = (await Promise.all(registries.map((each) => each.getMetricsAsJSON()))).flat().map(({ name }) => name);
  const base = (name: string) => name.replace(/_(bucket|count|sum)$/, '');
  assert.deepEqual(
    named.filter((name) => !known.includes(name) && !known.includes(base(name))),
    [],
  );
});

test('every setting of the service files exists', () => {
  const known = new Set(fixedVariables.map(({ name }) => name));
  for (const name of ['Dockerfile', 'compose.yaml', 'cluster-compose.yaml', 'kubernetes.yaml', 'readback.service']) {
    const set = Array.from(read(name).matchAll(/\bSERVICE_[A-Z_]+/g), ([variable]) => variable);
    assert.ok(set.length > 0);
    assert.deepEqual(
      set.filter((variable) => !known.has(variable)),
      [],
      name,
    );
  }
});
