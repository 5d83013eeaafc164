import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { copyLiveRows, loadRows, readRows, saveRows } from '../../../src/engine/vectors/row-tasks.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { temporaryFolder } from '../../scope.ts';
import { cosine, DIM, openSpaceThreads, range, setOf, vectorOf, vectorsOf } from './space-harness.ts';

const threads = openSpaceThreads();
after(() => threads.close());

function rowsOf(labels: Uint32Array, dim = DIM): VectorRows {
  const rows = VectorRows.create(dim);
  const vectors = vectorsOf(labels, dim);
  labels.forEach((label, i) => {
    rows.append(label, vectors, i * dim);
  });
  return rows;
}

/** Every live row has the vector of its label. */
function assertWhole(rows: VectorRows): void {
  for (const label of rows.liveLabels()) {
    const vector = rows.vectorOf(rows.rowOf(label) ?? 0);
    assert.ok(cosine(vector, vectorOf(label, rows.dim)) > 0.99, `label ${label}`);
  }
}

function saved(t: TestContext, rows: VectorRows) {
  const path = join(temporaryFolder(t), '1.rows');
  const sha256 = saveRows({ shared: rows.shared, path });
  return { path, sha256, bytes: statSync(path).size };
}

const setHas = (set: Uint32Array, label: number) => ((set[label >> 5] ?? 0) & (1 << (label & 31))) !== 0;

test('saved rows are loaded as they were, but for labels that are not to be kept', (t) => {
  const rows = rowsOf(range(0, 300));
  for (const label of range(100, 150)) rows.erase(label);
  const file = saved(t, rows);
  assert.equal(file.sha256, createHash('sha256').update(readFileSync(file.path)).digest('hex'));
  const loaded = VectorRows.create(DIM);
  const report = loadRows({ shared: loaded.shared, file, keep: setOf(range(20, 400)) });
  const labels = Uint32Array.from([...range(20, 100), ...range(150, 300)]);
  assert.deepEqual([report.fault, report.dropped], [null, 20]);
  assert.deepEqual(loaded.liveLabels(), labels);
  const held = [...range(0, 400)].filter((label) => setHas(report.held, label));
  assert.deepEqual(held, [...labels]);
  assertWhole(loaded);
});

test('a file that is not the one saved gives its fault and no rows', (t) => {
  const file = saved(t, rowsOf(range(0, 50)));
  const whole = readFileSync(file.path);
  const flipped = Buffer.from(whole);
  flipped[500] ^= 1;
  const otherVersion = Buffer.from(whole);
  otherVersion[4]++;
  const cases: [fault: RegExp, content: Buffer, changes?: Partial<typeof file>, dim?: number][] = [
    [/another size/, whole.subarray(0, -1)],
    [/cut short/, Buffer.alloc(0), { bytes: 0 }],
    [/not a file of rows/, otherVersion],
    [/another dimension/, whole, {}, DIM + 1],
    [/another count/, whole.subarray(0, -1), { bytes: whole.length - 1 }],
    [/another checksum/, flipped],
    [/another checksum/, whole, { sha256: 'a'.repeat(64) }],
    [/ENOENT/, whole, { path: `${file.path}.gone` }],
  ];
  for (const [fault, content, changes = {}, dim = DIM] of cases) {
    writeFileSync(file.path, content);
    const rows = VectorRows.create(dim);
    assert.match(readRows(rows, { ...file, ...changes }) ?? '', fault);
    assert.deepEqual([rows.count, rows.live, rows.liveLabels().length], [0, 0, 0]);
  }
});

test('rows whose loading failed can be filled anew', (t) => {
  const file = saved(t, rowsOf(range(0, 50)));
  const rows = VectorRows.create(DIM);
  assert.equal(readRows(rows, { ...file, sha256: 'a'.repeat(64) }), 'another checksum');
  rows.append(77, vectorOf(77), 0);
  assertWhole(rows);
  assert.deepEqual([...rows.liveLabels()], [77]);
});

test('a save whose path is taken or missing fails, and leaves what is there', (t) => {
  const { shared } = rowsOf(range(0, 30));
  const dir = temporaryFolder(t);
  const path = join(dir, 'rows');
  assert.throws(() => saveRows({ shared, path: join(dir, 'missing', 'rows') }), { code: 'ENOENT' });
  saveRows({ shared, path });
  const before = readFileSync(path);
  assert.throws(() => saveRows({ shared, path }), { code: 'EEXIST' });
  assert.deepEqual([readdirSync(dir), readFileSync(path)], [['rows'], before]);
});

test('copied rows are the live ones, in their order', () => {
  const rows = rowsOf(range(0, 200));
  for (const label of range(50, 150)) rows.erase(label);
  const copy = VectorRows.create(DIM);
  copyLiveRows({ from: rows.shared, to: copy.shared });
  assert.deepEqual([copy.count, copy.live], [100, 100]);
  assert.deepEqual(copy.liveLabels(), rows.liveLabels());
  assertWhole(copy);
});

test('rows that are erased while they are saved, or copied, are in the file or the copy whole or not at all', async (t) => {
  const dim = 256;
  const labels = range(0, 10_000);
  const tasks: Record<string, (rows: VectorRows, other: VectorRows) => Promise<void>> = {
    async saved(rows, other) {
      const path = join(temporaryFolder(t), '1.rows');
      const sha256 = await threads.worker.run('saveRows', { shared: rows.shared, path });
      assert.equal(readRows(other, { path, sha256, bytes: statSync(path).size }), null);
    },
    copied: (rows, other) => threads.worker.run('copyLiveRows', { from: rows.shared, to: other.shared }),
  };
  await tasks.copied(rowsOf(range(0, 1)), VectorRows.create(DIM)); // starts the thread
  for (const [name, task] of Object.entries(tasks)) {
    const rows = rowsOf(labels, dim);
    const before = range(0, 100);
    for (const label of before) rows.erase(label);
    const other = VectorRows.create(dim);
    let isDone = false;
    const done = task(rows, other).finally(() => {
      isDone = true;
    });
    const meanwhile: number[] = [];
    for (let label = 100; label < labels.length && !isDone; label += 7) {
      if (rows.erase(label)) meanwhile.push(label);
      await new Promise(setImmediate);
    }
    await done;
    assert.ok(meanwhile.length > 0, `${name}: some were erased meanwhile`);
    for (const label of before) assert.ok(!other.has(label), `${name}: ${label}`);
    for (const label of rows.liveLabels()) assert.ok(other.has(label), `${name}: ${label}`);
    // As the owner does.
    if (name === 'copied') for (const label of meanwhile) other.erase(label);
    assertWhole(other);
    if (name === 'copied') assert.deepEqual(other.liveLabels(), rows.liveLabels());
  }
});
