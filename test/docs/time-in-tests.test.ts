/** No test holds a time that passed against a bound: how long something takes is the machine's (CONTRIBUTING.md). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const tests = join(import.meta.dirname, '..');
/** What is held against a bound: a difference of two times, at once or by the name that it was given. */
const difference = /(?:performance\.now\(\)|Date\.now\(\)|hrtime\(\)|cpuUsage\(\w+\)\.\w+) - \w+/;
const named = new RegExp(`const (\\w+) = (?:Math\\.round\\()?${difference.source}`, 'g');

function boundsIn(source: string): string[] {
  const names = [...source.matchAll(named)].map(([, name]) => name);
  const lines = source.split('\n').filter((line) => /\bassert\b/.test(line));
  return lines.filter(
    (line) =>
      (difference.test(line) || names.some((name) => new RegExp(`\\b${name}\\b`).test(line))) && / <=? /.test(line),
  );
}

test('no test has a bound on the time that passed', () => {
  const files = readdirSync(tests, { recursive: true }).map(String);
  for (const file of files.filter((name) => name.endsWith('.test.ts'))) {
    assert.deepEqual(boundsIn(readFileSync(join(tests, file), 'utf8')), [], file);
  }
});

test('a bound is found', () => {
  const now = 'performance.now()';
  const direct = `assert.ok(${now} - began < 5000);`;
  const byName = `const took = ${now} - began;\nassert.ok(took < most, 'slow');`;
  for (const bound of [direct, byName]) assert.equal(boundsIn(bound).length, 1, bound);
  assert.deepEqual(boundsIn('const later = Date.now() + 1000;\nassert.ok(later < until);'), []);
});
