import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { soakEntries } from '../../bench/soak/entries.ts';
import { rareStatesIn, signs } from './rare-states.ts';

const root = join(import.meta.dirname, '../..');

test('each entry runs what there is, and no scenario is left out', () => {
  const files = soakEntries.flatMap(({ files = [], program = [] }) => [...files, ...program.slice(0, 1)]);
  assert.deepEqual(
    files.filter((file) => !existsSync(join(root, file))),
    [],
  );
  const scenarios = ['bench/soak', 'bench/fuzz'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.soak.ts'))
      .map((name) => `${folder}/${name}`),
  );
  assert.deepEqual(
    scenarios.filter((name) => !files.includes(name)),
    [],
  );
  assert.equal(new Set(soakEntries.map(({ name }) => name)).size, soakEntries.length);
});

test('each sign of a rare state is what some source says', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const said = sources.map((name) => readFileSync(join(root, 'src', name), 'utf8')).join('\n');
  assert.deepEqual(
    Object.values(signs)
      .flat()
      .filter((sign) => !said.includes(sign)),
    [],
  );
});

test('rare states are counted in the output of a service, whatever else is in it', () => {
  const lines = [
    { msg: 'a circuit breaker changed its state', before: 'open', state: 'half_open' },
    { msg: 'a circuit breaker changed its state', before: 'half_open', state: 'closed' },
    { msg: 'jobs left running were released', jobs: 2, kinds: ['index_page', 'purge_vectors'] },
    { msg: 'jobs left running were released', jobs: 1, kinds: ['index_page'] },
    { msg: 'readback is ready' },
  ].map((line) => JSON.stringify(line));
  const output = [
    ...lines,
    '(node:7) Warning: pdf: Worker terminated due to reaching memory limit',
    '{"msg":"cut o',
  ].join('\n');
  assert.deepEqual(rareStatesIn(output), {
    half_open_breaker: 1,
    rescued_job: 2,
    resumed_purge: 1,
    replaced_thread: 1,
  });
});
