import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface LockFile {
  packages: Record<string, { optionalDependencies?: Record<string, string>; resolved?: string; integrity?: string }>;
}

const lock: LockFile = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));

test('the lock file names the packages of every platform, without which npm 11 refuses to install from it', () => {
  const missing = Object.entries(lock.packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in lock.packages) && !(`${parent}/node_modules/${name}` in lock.packages),
    ),
  );
  assert.deepEqual(missing, []);
});

test('the lock file has the checksum of every package', () => {
  const unchecked = Object.entries(lock.packages).filter(([path, { integrity }]) => path !== '' && !integrity);
  assert.deepEqual(unchecked, []);
});

test('the lock file names no registry', () => {
  const resolved = Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined);
  assert.deepEqual(resolved, []);
});
