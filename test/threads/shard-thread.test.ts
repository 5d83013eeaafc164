import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createBitmap } from '../../src/compute/structures/bitmap.ts';
import { NO_LABEL } from '../../src/engine/vectors/vector-rows.ts';
import { add, candidates, open, release, remove, save, search, stats, tidy } from '../../src/threads/shard-thread.ts';

const dir = mkdtempSync(join(tmpdir(), 'readback-shard-'));
after(() => rmSync(dir, { recursive: true }));

const keep = { labels: createBitmap(1000).fill(0xffff_ffff), shard: 0, shards: 1 };
const empty = { dim: 4, keep, rows: null };
const query = Float32Array.of(1, 2, 3, 4);

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function rowsOf(count: number): { labels: Uint32Array; vectors: Float32Array } {
  return {
    labels: Uint32Array.from({ length: count }, (_, i) => i),
    vectors: Float32Array.from({ length: 4 * count }, (_, i) => Math.sin(i * i + 1)),
  };
}

test('a thread says of every task that it does not know the space, until it is opened and after it is released', () => {
  const space = 'unknown';
  const everyTask = () => [
    add({ space, ...rowsOf(1) }),
    remove({ space, labels: Uint32Array.of(1) }),
    search({ space, vectors: [query], k: 1, minScore: -1 }),
    candidates({ space, vectors: [query], k: 1, minScore: -1, among: [null], labels: Uint32Array.of(1) }),
    tidy({ space }),
    save({ space, path: join(dir, 'never') }),
    stats({ space }),
  ];
  assert.ok(everyTask().every(({ lost }) => lost));
  open({ space, ...empty });
  assert.deepEqual(add({ space, ...rowsOf(2) }), {
    lost: false,
    value: { added: 2, bad: [] },
  });
  release({ space });
  assert.ok(everyTask().every(({ lost }) => lost));
  assert.deepEqual(readdirSync(dir), []);
});

test('bad rows are listed and none of their batch is stored, even if the owner let them pass', () => {
  const space = 'bad';
  open({ space, ...empty });
  const { labels, vectors } = rowsOf(4);
  vectors.fill(0, 4, 8);
  vectors[14] = Number.NaN;
  const bad = [
    { row: 1, reason: 'zero' as const },
    { row: 3, reason: 'nan' as const },
  ];
  assert.deepEqual(add({ space, labels, vectors }), {
    lost: false,
    value: { added: 0, bad },
  });
  assert.throws(() => add({ space, labels: Uint32Array.of(NO_LABEL), vectors: query }), RangeError);
  assert.throws(() => search({ space, vectors: [new Float32Array(4)], k: 1, minScore: -1 }), RangeError);
  assert.throws(() => search({ space, vectors: [new Float32Array(3).fill(1)], k: 1, minScore: -1 }), RangeError);
  const { value } = stats({ space }) as { value: { live: number } };
  assert.equal(value.live, 0);
});

test('a space of impossible dimensions is refused', () => {
  for (const dim of [0, -1, 1.5, Number.NaN, 8193]) {
    assert.throws(() => open({ space: 'dim', ...empty, dim }), RangeError);
  }
});

test('very small and very large components keep their direction', () => {
  const space = 'extreme';
  open({ space, ...empty });
  const vectors = Float32Array.of(1e-45, 0, 0, 0, 0, 3e38, 0, 0);
  add({ space, labels: Uint32Array.of(1, 2), vectors });
  const reply = search({ space, vectors: [Float32Array.of(1e-40, 3e-40, 0, 0)], k: 2, minScore: -1 });
  assert.ok(!reply.lost);
  const [{ labels, scores }] = reply.value;
  assert.deepEqual([...labels], [2, 1]);
  assert.ok(Math.abs(scores[0] - Math.sqrt(0.9)) < 0.001);
  assert.ok(Math.abs(scores[1] - Math.sqrt(0.1)) < 0.001);
});

test('a save whose path is taken or missing fails, and the shard goes on', () => {
  const space = 'save';
  open({ space, ...empty });
  add({ space, ...rowsOf(30) });
  const path = join(dir, 'rows');
  assert.throws(() => save({ space, path: join(dir, 'missing', 'rows') }), { code: 'ENOENT' });
  assert.deepEqual(save({ space, path }), { lost: false, value: sha256Of(path) });
  assert.throws(() => save({ space, path }), { code: 'EEXIST' });
  const found = search({ space, vectors: [query], k: 3, minScore: -1 });
  assert.equal(found.lost, false);
});
