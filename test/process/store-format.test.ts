/** Check C26: a data folder that another version wrote is refused in one clear line, and left as it is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from 'lmdb';
import { RunningService, withoutEntities } from './service.ts';

const setFormat = async (dataDir: string, format: unknown) => {
  const root = open({ path: join(dataDir, 'store'), maxDbs: 64 });
  const stamp = root.openDB({ name: 'stamp' });
  const before = stamp.get('format');
  await stamp.put('format', format);
  await root.flushed;
  await root.close();
  return before;
};

test('a store of an unknown format is refused and not touched; its own version goes on with it, and with the format before', async (t) => {
  const service = await RunningService.start(t, withoutEntities);
  const page = { url: 'https://example.com/', title: 'Herons', body_extracted: 'Herons hunt fish in shallow water.' };
  const { body } = await service.call<{ page_id: string }>('POST', '/v1/pages', page);
  await service.settled([body.page_id]);
  await service.stop();
  const own = await setFormat(service.dataDir, 1);
  for (const [format, shown] of [
    [Number(own) + 1, String(Number(own) + 1)],
    [0, '0'],
    ['x', 'x'],
  ] as const) {
    await setFormat(service.dataDir, format);
    const file = join(service.dataDir, 'store', 'data.mdb');
    const before = readFileSync(file);
    const { code, stdout, stderr } = await service.attempt();
    assert.equal(code, 1);
    assert.equal(stdout, '');
    const says = `the data folder has store format ${shown}, this version of readback reads format ${own}\n`;
    assert.equal(stderr, says);
    assert.deepEqual(readFileSync(file), before);
  }
  await setFormat(service.dataDir, 1);
  await service.start();
  const { body: found } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/search', {
    query: 'herons',
  });
  assert.equal(found.results[0].page_id, body.page_id);
  await service.stop();
  assert.equal(await setFormat(service.dataDir, own), own, 'the start has made it its own');
});
