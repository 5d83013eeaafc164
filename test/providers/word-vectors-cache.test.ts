import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openWordVectors, WORD_VECTORS_FORMAT } from '../../src/compute/embedding/word-vectors.ts';
import { lookupTerm } from '../../src/compute/structures/term-table.ts';
import {
  loadWordVectors,
  type WordVectorsProgress,
  WordVectorsUnavailableError,
  wordVectorsCachePath,
} from '../../src/providers/word-vectors-cache.ts';

const jsonPath = join(import.meta.dirname, '../fixtures/word-vectors/embeddings.json');
const source = { jsonPath, packageVersion: '0.0.1' };

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'word-vectors-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'cache');
}

function recorder() {
  const seen: WordVectorsProgress[] = [];
  return { seen, onProgress: (progress: WordVectorsProgress) => void seen.push(progress) };
}

/** The pid of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

test('the first load compiles with progress, private to the user; the next reads what was compiled', async (t) => {
  const cacheDir = emptyFolder(t);
  const first = recorder();
  const buffer = await loadWordVectors({ cacheDir, source, onProgress: first.onProgress });
  const size = statSync(jsonPath).size;
  assert.deepEqual(first.seen, [{ phase: 'compiling', bytesRead: size, bytesTotal: size }]);
  assert.ok(buffer instanceof SharedArrayBuffer);
  const vectors = openWordVectors(buffer);
  assert.deepEqual([vectors.packageVersion, vectors.count, vectors.dim], ['0.0.1', 50, 8]);
  assert.equal(lookupTerm(vectors.vocabulary, 'naïve'), 28);
  const path = wordVectorsCachePath(cacheDir, '0.0.1');
  assert.deepEqual(readdirSync(cacheDir), [`word-vectors-f${WORD_VECTORS_FORMAT}-0.0.1.bin`]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(cacheDir).mode & 0o777, 0o700);

  const second = recorder();
  const missing = { jsonPath: '/nowhere.json', packageVersion: '0.0.1' };
  const again = await loadWordVectors({ cacheDir, source: missing, onProgress: second.onProgress });
  assert.deepEqual(second.seen, []);
  assert.deepEqual(Buffer.from(again), Buffer.from(buffer));
});

test('a cache that is cut, changed, empty or of another format is told and made again', async (t) => {
  const cacheDir = emptyFolder(t);
  const path = wordVectorsCachePath(cacheDir, '0.0.1');
  await loadWordVectors({ cacheDir, source });
  const good = readFileSync(path);
  const flipped = Buffer.from(good);
  flipped[good.length - 20] ^= 4;
  const otherFormat = Buffer.from(good);
  otherFormat[8]++;
  const faults: [Buffer, RegExp][] = [
    [good.subarray(0, good.length >> 1), /dimensions/],
    [good.subarray(0, 50), /only 50 bytes/],
    [Buffer.alloc(0), /only 0 bytes/],
    [flipped, /checksum/],
    [otherFormat, /format 2/],
    [Buffer.concat([good, good]), /dimensions/],
  ];
  for (const [content, reason] of faults) {
    writeFileSync(path, content);
    const { seen, onProgress } = recorder();
    await loadWordVectors({ cacheDir, source, onProgress });
    assert.equal(seen[0].phase, 'rebuilding');
    assert.match(seen[0].phase === 'rebuilding' ? seen[0].reason : '', reason);
    assert.deepEqual(readFileSync(path), good);
  }
});

test('of many processes that start at once one compiles, and all get the same vectors', async (t) => {
  const cacheDir = emptyFolder(t);
  const cache = new URL('../../src/providers/word-vectors-cache.ts', import.meta.url).href;
  const script = `
    import { createHash } from 'node:crypto';
    import { loadWordVectors } from ${JSON.stringify(cache)};
    const phases = new Set();
    const buffer = await loadWordVectors({
      cacheDir: ${JSON.stringify(cacheDir)}, source: ${JSON.stringify(source)}, onProgress: ({ phase }) => phases.add(phase),
    });
    const sum = createHash('sha256').update(Buffer.from(buffer)).digest('hex');
    console.log(JSON.stringify({ sum, phases: [...phases] }));`;
  const runs = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const output = child.stdout.toArray();
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
      const result: { sum: string; phases: string[] } = JSON.parse(Buffer.concat(await output).toString());
      return result;
    }),
  );
  assert.equal(new Set(runs.map(({ sum }) => sum)).size, 1);
  assert.equal(runs.filter(({ phases }) => phases.includes('compiling')).length, 1);
  assert.deepEqual(readdirSync(cacheDir), [`word-vectors-f${WORD_VECTORS_FORMAT}-0.0.1.bin`]);
});

test('the lock of a dead process is taken over, and old temporary files of a crash go', async (t) => {
  const cacheDir = emptyFolder(t);
  const path = wordVectorsCachePath(cacheDir, '0.0.1');
  mkdirSync(cacheDir);
  writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: await deadPid(), id: 'x' }));
  const [old, fresh] = [`${path}.1.a.tmp`, `${path}.2.b.tmp`];
  writeFileSync(old, 'half');
  writeFileSync(fresh, 'half');
  utimesSync(old, 1000, 1000);
  const { seen, onProgress } = recorder();
  await loadWordVectors({ cacheDir, source, onProgress });
  assert.deepEqual(
    seen.map(({ phase }) => phase),
    ['compiling'],
  );
  assert.deepEqual([existsSync(`${path}.lock`), existsSync(old), existsSync(fresh)], [false, false, true]);
});

test('a lock of a living process is waited for, until its time no longer moves', async (t) => {
  const cacheDir = emptyFolder(t);
  const path = wordVectorsCachePath(cacheDir, '0.0.1');
  mkdirSync(cacheDir);
  for (const content of [JSON.stringify({ host: 'elsewhere', pid: 1, id: 'x' }), '', 'no json']) {
    writeFileSync(`${path}.lock`, content);
    rmSync(path, { force: true });
    const { seen, onProgress } = recorder();
    const waited = () => seen.filter(({ phase }) => phase === 'waiting').length;
    await loadWordVectors({
      cacheDir,
      source,
      lockStaleAfterMs: 300,
      onProgress: (progress) => {
        onProgress(progress);
        const now = new Date();
        if (progress.phase === 'waiting' && waited() < 3) utimesSync(`${path}.lock`, now, now); // it lives
      },
    });
    const phases = seen.map(({ phase }) => phase);
    assert.ok(waited() >= 3);
    assert.equal(phases[phases.length - 1], 'compiling');
  }
});

test('a load inside the same process waits for the other and gets its result', async (t) => {
  const cacheDir = emptyFolder(t);
  const both = [recorder(), recorder()];
  const [a, b] = await Promise.all(both.map(({ onProgress }) => loadWordVectors({ cacheDir, source, onProgress })));
  assert.deepEqual(Buffer.from(a), Buffer.from(b));
  assert.equal(both.filter(({ seen }) => seen.some(({ phase }) => phase === 'compiling')).length, 1);
});

test('a source that is missing or of another layout, and a folder that cannot be made, are clear errors and leave nothing', async (t) => {
  const cacheDir = emptyFolder(t);
  const bad = join(cacheDir, 'bad.json');
  mkdirSync(cacheDir);
  writeFileSync(bad, '{"size":1}');
  const code = (wanted: string, message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof WordVectorsUnavailableError);
    assert.equal(error.code, wanted);
    assert.match(error.message, message);
    return true;
  };
  const load = (path: string, folder = cacheDir) =>
    loadWordVectors({ cacheDir: folder, source: { jsonPath: path, packageVersion: '0.0.1' } });
  await assert.rejects(load('/nowhere.json'), code('word_vectors_compile_failed', /nowhere\.json.*ENOENT/));
  await assert.rejects(load(bad), code('word_vectors_compile_failed', /no vectors/));
  assert.deepEqual(readdirSync(cacheDir), ['bad.json']);
  await assert.rejects(load(jsonPath, join(bad, 'below-a-file')), code('word_vectors_cache_unusable', /ENOTDIR/));
});

test('a folder that may not be written is a clear error', {
  skip: process.getuid?.() === 0 && 'root may write anywhere',
}, async (t) => {
  const cacheDir = emptyFolder(t);
  mkdirSync(cacheDir);
  chmodSync(cacheDir, 0o500);
  await assert.rejects(loadWordVectors({ cacheDir, source }), { code: 'word_vectors_cache_unusable' });
});
