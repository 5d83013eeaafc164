/** A disk that is full while the service runs, stops and starts: reliability checks C16 and, for the index files, C21. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { RunningService, until } from '../process/service.ts';
import { SmallDisk } from './small-disk.ts';

const disk = SmallDisk.mount(64);
const skip = typeof disk === 'string' ? disk : false;
after(() => {
  if (typeof disk !== 'string') disk.unmount();
});

const words = 'lighthouse keeper storm lantern harbour gull rope anchor tide chart compass barrel sail mast deck'.split(
  ' ',
);
const textOf = (no: number) =>
  `Entry ${no}. ${Array.from({ length: 150 }, (_, i) => words[(no * 7 + i * ((no % 5) + 1)) % words.length]).join(' ')}.`;
const page = (no: number) => ({ url: `https://sea.example/${no}`, title: `Log ${no}`, body_extracted: textOf(no) });

interface Ingested {
  page_id: string;
}

test('a full disk refuses writes in so many words, and nothing else; with space again everything goes on', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  const service = await RunningService.start(t, { SERVICE_DATA_DIR: join(disk.path, 'data') });
  await service.pauseVectors();
  const ingest = (no: number) => service.call<Ingested>('POST', '/v1/pages', page(no));
  const find = async () => {
    const { status, body } = await service.call<SearchResponse>('POST', '/v1/search', {
      query: 'lantern harbour',
      k: 5,
    });
    assert.equal(status, 200);
    return body.results.map(({ page_id }) => page_id);
  };
  const ids: string[] = [];
  for (let no = 0; no < 40; no++) ids.push((await ingest(no)).body.page_id);
  assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
  const before = await find();
  assert.equal(before.length, 5);

  disk.fill();
  const refused: { status: number; retryAfter: string | null }[] = [];
  for (let no = 100; no < 1100 && refused.length < 3; no++) {
    const { status, body, headers } = await ingest(no);
    if (status === 202) ids.push(body.page_id);
    else refused.push({ status, retryAfter: headers.get('retry-after') });
  }
  assert.equal(refused.length, 3, 'the disk is full');
  for (const { status, retryAfter } of refused) {
    assert.equal(status, 503);
    assert.ok(Number(retryAfter) > 0);
  }
  assert.equal((await find()).length, 5);

  let refusedNo = 5000;
  // A stop cannot save the index then, and is a stop all the same; a start needs no room, whichever way the process before ended.
  for (const end of ['stop', 'kill'] as const) {
    await service[end]();
    disk.fill();
    await service.start();
    assert.equal((await find()).length, 5);
    assert.equal((await service.call('GET', `/v1/pages/${ids[0]}`)).status, 200);
    assert.equal((await service.call('GET', '/healthz')).status, 200);
    await until(async () => {
      const { status } = await ingest(refusedNo);
      if (status < 300) refusedNo++;
      return status === 503;
    }, 'a write is refused');
    await until(async () => {
      const { status, body } = await service.call<{ reason?: string }>('GET', '/readyz');
      return status === 503 && /metadata store unavailable/.test(body.reason ?? '');
    }, 'it says why it is not ready');
  }

  disk.clear();
  await until(async () => (await ingest(2000)).status < 300, 'writes are taken again');
  ids.push((await ingest(2000)).body.page_id);
  assert.deepEqual(new Set(await service.settled([...new Set(ids)])), new Set(['indexed']));
  await service.stop();
  const report = await checkFolder(join(disk.path, 'data'));
  assert.ok(isClean(report), JSON.stringify(report));
});
