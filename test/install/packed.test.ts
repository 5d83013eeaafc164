/**
 * Installs the packed package as people do, from the registry, in a new folder. No compiler works there: each is replaced by one that fails.
 * Without a registry it says so and is skipped.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../scope.ts';

const root = join(import.meta.dirname, '../..');
const compilers = ['cc', 'gcc', 'c++', 'g++', 'clang', 'clang++', 'make', 'python', 'python3'];
const asked = spawnSync('npm', ['view', 'zod', 'version'], { encoding: 'utf8' });
const skip = asked.status === 0 ? false : 'no package registry can be reached';

/** A new folder with compilers that fail in `bin`, and an environment that finds them first. */
function machineWithoutCompiler(t: TestContext): { home: string; env: NodeJS.ProcessEnv } {
  const home = temporaryFolder(t);
  const bin = join(home, 'bin');
  mkdirSync(bin);
  for (const name of compilers) {
    writeFileSync(join(bin, name), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bin, name), 0o755);
  }
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, CC: 'cc', CXX: 'c++' };
  return { home, env };
}

function packageOf(...path: string[]): { name: string; version: string } {
  return JSON.parse(readFileSync(join(...path, 'package.json'), 'utf8'));
}

/** The packages with native code below a folder, whatever the platform. */
function nativePackages(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.node'));
  const owners = files.map((name) => /^(?:.*node_modules\/)?((?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1] ?? name);
  return [...new Set(owners.map((name) => name.replace(/-(?:linux|darwin|win32|freebsd)-.*/, '')))].sort();
}

test('what has to be installed compiles nothing: these alone run scripts, which do not', () => {
  type Locked = Record<string, { hasInstallScript?: true; optional?: true }>;
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Locked };
  assert.deepEqual(
    Object.keys(packages).filter((path) => packages[path].hasInstallScript && !packages[path].optional),
    ['node_modules/esbuild', 'node_modules/lmdb', 'node_modules/protobufjs'],
  );
});

test('the packed package installs and runs as it was tested, without a compiler', { skip }, async (t) => {
  const { home, env } = machineWithoutCompiler(t);
  const packed = execFileSync('npm', ['pack', '--pack-destination', home, '--json'], { cwd: root, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ filename: string }];
  const app = join(home, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"private": true}\n');
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', join(home, filename)];
  execFileSync('npm', install, { cwd: app, env, stdio: 'pipe' });

  const modules = join(app, 'node_modules');
  const own = join(modules, 'readback');
  // In a project of others `overrides` do not count: pdfjs-dist travels in the package, and light-my-request is a dependency.
  assert.equal(packageOf(own, 'node_modules', '@napi-rs/canvas').name, 'empty-npm-package');
  assert.equal(
    packageOf(modules, 'light-my-request').version,
    packageOf(root, 'node_modules/light-my-request').version,
  );
  assert.deepEqual(nativePackages(modules), [
    '@lmdb/lmdb',
    '@msgpackr-extract/msgpackr-extract',
    '@napi-rs/nice',
    'onnxruntime-node',
  ]);

  const readback = join(modules, '.bin', 'readback');
  const serviceEnv = {
    ...process.env,
    SERVICE_DATA_DIR: join(home, 'data'),
    SERVICE_BIND_PORT: '0',
  };
  const doctor = JSON.parse(
    execFileSync(readback, ['doctor', '--json'], { cwd: app, env: serviceEnv, encoding: 'utf8' }),
  );
  assert.equal(doctor.sound, true);

  const service = spawn(readback, ['serve', '--demo'], {
    cwd: app,
    env: serviceEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const text of service.stdout.setEncoding('utf8')) {
    output += text;
    if (!service.killed && output.includes('Why my tomatoes split')) service.kill('SIGTERM');
  }
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit');
  assert.equal(service.exitCode, 0, output);
});
