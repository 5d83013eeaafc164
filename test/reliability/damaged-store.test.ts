/** A store's file that is damaged from its beginning, cut short, emptied or gone: refused in a line, never a crash, never an empty store. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { proveStore } from '../../src/store/look-apart.ts';
import { RunningService, withoutModel } from '../process/service.ts';

const damages: Record<string, { change: (good: Buffer) => Buffer | null; says: RegExp }> = {
  gone: { change: () => null, says: /it is missing, although index files of it exist/ },
  empty: { change: () => Buffer.alloc(0), says: /it is empty, although index files of it exist/ },
  'of other bytes': { change: (good) => Buffer.alloc(good.length, 0xa5), says: /it is not a store/ },
  'without its first pages': {
    change: (good) => Buffer.from(good).fill(0, 0, 8192),
    says: /it is not a store, or its beginning is damaged/,
  },
  'without its second page': {
    change: (good) => Buffer.from(good).fill(0, 4096, 8192),
    says: /its beginning is damaged/,
  },
  'cut short': { change: (good) => good.subarray(0, 8192), says: /it ends after 8192 bytes, too early/ },
};

/** With which the service is started, too; with one that lost its second half in test/cli/damaged-store.test.ts. */
const started = ['gone'];

test('a damaged store is refused with the reason and left as it is; the good file in its place is served again', async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const page = { url: 'https://cellar.example/', body_extracted: 'Barrels of cider, and a cat that guards them.' };
  const { body } = await service.call<{ page_id: string }>('POST', '/v1/pages', page);
  await service.stop();
  const file = join(service.dataDir, 'store', 'data.mdb');
  const good = readFileSync(file);
  for (const [what, { change, says }] of Object.entries(damages)) {
    const changed = change(good);
    if (changed === null) rmSync(file);
    else writeFileSync(file, changed);
    await assert.rejects(proveStore(service.dataDir, { isShared: false, wasUsed: true }), { message: says }, what);
    if (started.includes(what)) {
      const { code, signal, stderr } = await service.attempt();
      assert.deepEqual([code, signal], [6, null], what);
      assert.match(stderr, says, what);
      assert.equal(stderr.trim().split('\n').length, 1, `one line: ${stderr}`);
    }
    if (changed === null) assert.equal(existsSync(file), false, 'no empty store is made');
    else assert.deepEqual(readFileSync(file), changed, what);
  }
  writeFileSync(file, good);
  await service.start();
  assert.equal((await service.call('GET', `/v1/pages/${body.page_id}`)).status, 200);
  await service.stop();
});
