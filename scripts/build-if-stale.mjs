// Compiles src/ to dist/ when a source file is newer than the last build. Called before every start, so that a fresh
// clone and an edited checkout both run what their sources say; with nothing to do it costs a few milliseconds.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');

function newestMtime(path) {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.mtimeMs;
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newestMtime(join(path, name))));
}

function builtAt() {
  try {
    return statSync(stamp).mtimeMs;
  } catch (error) {
    if (error.code === 'ENOENT') return 0;
    throw error;
  }
}

const inputs = ['src', 'tsconfig.json', 'tsconfig.build.json', 'package.json'].map((name) => join(root, name));
if (builtAt() < Math.max(...inputs.map(newestMtime))) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const run = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (run.status !== 0) process.exit(run.status ?? 1);
  writeFileSync(stamp, '');
}
