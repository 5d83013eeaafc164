/** The files of deploy/ name what is there: metrics and their labels, settings, commands, routes, and expressions that Prometheus reads. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedVariables } from '../../src/settings/environment.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { temporaryFolder } from '../importers/temporary-files.ts';

const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
const services = ['Dockerfile', 'compose.yaml', 'cluster-compose.yaml', 'kubernetes.yaml', 'readback.service'];
const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] };
const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
/** What Prometheus adds to every metric, and to those of histograms. */
const added = ['job', 'instance', 'le'];

test('every metric of the dashboard is one that the service has, with the labels that are asked for', () => {
  const metrics = createMetrics();
  const registries = [metrics.registry, metrics.ofLibrary().registry];
  const labelsOf = (name: string): string[] | undefined => {
    const base = name.replace(/_(bucket|count|sum)$/, '');
    const [found] = registries.flatMap((each) => each.getSingleMetric(name) ?? each.getSingleMetric(base) ?? []);
    return found && (found as unknown as { labelNames: string[] }).labelNames;
  };
  let checked = 0;
  for (const expr of expressions) {
    const [, name, inside] = /([a-z_0-9]+)\{([^}]*)\}/.exec(expr) ?? [];
    const labels = labelsOf(name);
    assert.ok(labels !== undefined, `no metric is called so: ${expr}`);
    const asked = [
      ...Array.from(inside.matchAll(/(\w+)=/g), ([, label]) => label),
      ...Array.from(expr.matchAll(/by \(([^)]*)\)/g), ([, list]) => list.split(/, */)).flat(),
    ];
    assert.deepEqual(
      asked.filter((label) => !labels.includes(label) && !added.includes(label)),
      [],
      expr,
    );
    checked++;
  }
  assert.ok(checked >= 15);
});

test('Prometheus reads the expressions of the dashboard and its part of the settings', {
  skip: spawnSync('promtool', ['--version']).status !== 0 && 'promtool is not installed',
}, (t) => {
  const file = join(temporaryFolder(t), 'rules.json');
  const rules = expressions.map((expr, at) => ({ record: `panel:${at}`, expr: expr.replaceAll('$job', 'readback') }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const settings = new URL('../../deploy/prometheus.yaml', import.meta.url).pathname;
  for (const given of [
    ['check', 'rules', file],
    ['check', 'config', '--syntax-only', settings],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', given, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  }
});

test('every setting of the service files exists', () => {
  const known = new Set(fixedVariables.map(({ name }) => name));
  for (const name of services) {
    const set = Array.from(read(name).matchAll(/\bSERVICE_[A-Z_]+/g), ([variable]) => variable);
    assert.ok(set.length > 0);
    assert.deepEqual(
      set.filter((variable) => !known.has(variable)),
      [],
      name,
    );
  }
});

test('every command of the service files, and every route that they ask, exists', () => {
  const help = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
  const isCommand = (words: string) => help.includes(`\n### readback ${words}\n`);
  const commands = [...services, 'prometheus.yaml'].flatMap((name) => {
    const text = read(name);
    return [
      ...Array.from(text.matchAll(/(?:exec \S+(?: --)?|:) readback ([a-z]+)(?: ([a-z]+))?/g), ([, a, b]) => [a, b]),
      ...Array.from(text.matchAll(/(?:args|command): \[([a-z]+)(?:, ([a-z]+))?\]/g), ([, a, b]) => [a, b]),
      ...Array.from(text.matchAll(/(?:main\.js |CMD \[")([a-z]+)/g), ([, a]) => [a]),
    ];
  });
  assert.ok(commands.length >= 7, JSON.stringify(commands));
  for (const [first, second = ''] of commands)
    assert.ok(isCommand(first) || isCommand(`${first} ${second}`), `readback ${first} ${second}`);
  const api = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const asked = [...services, 'prometheus.yaml'].flatMap((name) =>
    Array.from(read(name).matchAll(/(?:_path: |path: |:8000)(\/[a-z]+)\b/g), ([, path]) => path),
  );
  assert.deepEqual([...new Set(asked)].filter((path) => /^\/(?:healthz|readyz|metrics)$/.test(path)).sort(), [
    '/healthz',
    '/metrics',
    '/readyz',
  ]);
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.ok(api.includes(`### GET ${path}\n`), path);
});
