import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { diskUsage } from '../../src/store/disk-usage.ts';
import { pluck } from '../rows.ts';
import { TemporaryFolder } from './temporary-folder.ts';

test('every file of the folder counts once, for the part that it is of', async () => {
  await using folder = await TemporaryFolder.make();
  const { path: dir } = folder;
  const sizes = {
    'store/data.mdb': 300_000,
    'index/sparse/1.segment': 200_000,
    'index/dense/a-model/deeper/1.rows': 100_000,
    'index/pages/a-model/1.rows': 50_000,
    'index/labels': 10_000,
    'store-restored/data.mdb': 20_000,
    token: 10_000,
  };
  for (const [name, size] of Object.entries(sizes)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), Buffer.alloc(size, 1));
  }
  const { parts, free_bytes, disk_bytes } = await diskUsage(dir);
  const least = { store: 300_000, words: 200_000, passage_vectors: 100_000, page_vectors: 50_000, other: 40_000 };
  assert.deepEqual(pluck(parts, 'part'), Object.keys(least));
  for (const { part, bytes } of parts) {
    // Blocks are up to 64 KiB on file systems in use; folders have their own.
    assert.ok(bytes >= least[part] && bytes < least[part] + 5 * 65_536, `${part}: ${bytes}`);
  }
  assert.ok(free_bytes > 0 && free_bytes < disk_bytes);
});
