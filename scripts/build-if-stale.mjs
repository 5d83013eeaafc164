// Bundles src/ into dist/ and console/ into dist/console/ when a source file is newer than the last build. Called before every start, so that a fresh
// clone and an edited checkout both run what their sources say; with nothing to do it costs a few milliseconds. Of several at once one
// builds and the others wait for it.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const fresh = join(root, 'dist.new');
const lock = join(root, 'dist.lock');
const stamp = join(dist, '.built');

function newestMtime(path) {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.mtimeMs;
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newestMtime(join(path, name))));
}

/** The newest source that the build has seen. */
function builtFrom() {
  try {
    return Number(readFileSync(stamp, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return 0;
    throw error;
  }
}

/** Packages are bundled, too: npm writes what it has installed into the last one. */
const inputs = [
  'src',
  'models',
  'console',
  'extension',
  'tsconfig.json',
  'scripts/bundle.mjs',
  'scripts/bundle-console.mjs',
  'scripts/bundle-extension.mjs',
  'package.json',
  'node_modules/.package-lock.json',
]
  .map((name) => join(root, name))
  .filter((path) => existsSync(path));
const newestInput = () => Math.max(...inputs.map(newestMtime));
const isStale = () => builtFrom() < newestInput();

/** Hold the right to build; null where another process, which lives, has it. */
function takeLock() {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return () => rmSync(lock, { force: true });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!holderLives()) rmSync(lock, { force: true });
    return null;
  }
}

function holderLives() {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Into a folder of its own, so that nobody ever reads half a build. */
async function build() {
  const from = newestInput();
  rmSync(fresh, { recursive: true, force: true });
  // Only here: an installation for production has no bundler, and nothing to build.
  const { bundle } = await import('./bundle.mjs');
  const { bundleConsole } = await import('./bundle-console.mjs');
  const { bundleExtension } = await import('./bundle-extension.mjs');
  await Promise.all([
    bundle(root, fresh),
    bundleConsole(root, join(fresh, 'console')),
    bundleExtension(root, join(fresh, 'extension')),
  ]);
  writeFileSync(join(fresh, '.built'), String(from));
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
}

while (isStale()) {
  const release = takeLock();
  if (release === null) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    continue;
  }
  try {
    if (isStale()) await build();
  } catch (error) {
    if (!('errors' in error)) throw error;
    process.exitCode = 1; // what is wrong was printed
    break;
  } finally {
    release();
  }
}
