/**
 * A disk whose system calls fail or hang below the running service: nothing that was acknowledged is lost, whoever writes is told, and
 * where it is not known any more what is on the disk the library is opened again (docs/decisions/stop-when-a-flush-fails.md).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { type Exit, patienceMs, RunningService, until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { type DiskFault, FailingDisk } from './failing-disk.ts';

const disk = FailingDisk.build();
const skip = typeof disk === 'string' ? disk : false;
after(() => {
  if (typeof disk !== 'string') disk.remove();
});

const page = (no: number) => ({
  url: `https://quay.example/${no}`,
  body_extracted: `Mooring ${no}: the harbour master wrote the name of the boat and the colour of her hull.`,
});

/** Nothing is written but what the test asks for: whoever else wrote would meet the fault in its place. */
const onlyWriter = { SERVICE_OBSERVABILITY__METRICS_SNAPSHOT_INTERVAL_S: '3600' };

/** A service on the disk with ten pages, which are indexed; and how to put more there. */
async function shelf(t: TestContext, broken: FailingDisk, settings: Record<string, string> = {}) {
  const service = await RunningService.start(t, { ...broken.env, ...onlyWriter, ...settings });
  const ingest = (no: number) => service.call<{ page_id: string; detail?: string }>('POST', '/v1/pages', page(no));
  /** As an importer does: again, until it is acknowledged. */
  const acknowledged = async (no: number) => {
    let pageId = '';
    await until(async () => {
      const { status, body } = await ingest(no);
      pageId = body.page_id;
      return status < 300;
    }, `page ${no} is taken`);
    return pageId;
  };
  const ids: string[] = [];
  for (let no = 0; no < 10; no++) ids.push(await acknowledged(no));
  const indexed = async (pages: string[]) =>
    assert.deepEqual(new Set(await service.settled(pages)), new Set(['indexed']));
  await indexed(ids);
  const found = async () => {
    const query = { query: 'harbour master', k: 100 };
    const { status, body } = await service.call<SearchResponse>('POST', '/v1/search', query);
    assert.equal(status, 200);
    return body.results.length;
  };
  return { service, ingest, acknowledged, ids, indexed, found };
}

/** Wait for the process's end, which has to come by itself. */
async function endedSoon(service: RunningService): Promise<Exit | 'it goes on'> {
  return Promise.race([service.ended(), delay(patienceMs, 'it goes on' as const, { ref: false })]);
}

/** Wait until the library broke and was opened again. */
async function openAgain(service: RunningService): Promise<void> {
  await until(() => service.output.includes('"msg":"the library is open again"'), 'the library is open again');
  await until(async () => (await service.call('GET', '/readyz')).status === 200, 'it is ready');
}

async function assertSound(service: RunningService): Promise<void> {
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
}

const endings: Record<string, { fault: DiskFault; says: RegExp }> = {
  'a flush that fails': { fault: 'sync', says: /Input\/output error/ },
  // Where it is the mark of a commit on its way to the disk, LMDB says no more than that it failed.
  'a mark of the valid state that cannot be written': {
    fault: 'meta',
    says: /Input\/output error|Update of meta page failed/,
  },
};
for (const [what, { fault, says }] of Object.entries(endings)) {
  test(`after ${what} the library is opened again, with what was acknowledged and nothing else`, {
    skip,
  }, async (t) => {
    if (typeof disk === 'string') return;
    t.after(() => disk.mend(fault));
    const { service, ingest, ids, indexed, found } = await shelf(t, disk);
    disk.fail(fault);
    const refused = await ingest(10);
    assert.deepEqual([refused.status, Number(refused.headers.get('retry-after')) > 0], [503, true]);
    // The disk works again at once: a later flush would succeed, without what the failed one has lost.
    disk.mend(fault);
    await openAgain(service);
    assert.match(service.output, /"msg":"the library cannot continue and is closed"/);
    assert.match(service.output, /a commit could not be brought to the disk/);
    assert.match(service.output, says);
    // That a page is indexed may have been told before it was on the disk: it is indexed again then.
    await indexed(ids);
    assert.equal(await found(), 10);
    const again = await ingest(10);
    assert.equal(again.status, 202, 'what was refused is not there: it is no revisit');
    await indexed([...ids, again.body.page_id]);
    assert.equal(await found(), 11);
    await service.stop();
    await assertSound(service);
    await service.start();
    assert.equal(await found(), 11);
    await service.stop();
  });
}

test('while flushes go on to fail the library waits longer each time, says so, and comes back when the disk does', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.mend('sync'));
  const { service, ingest, ids, indexed, found } = await shelf(t, disk);
  disk.fail('sync');
  assert.equal((await ingest(10)).status, 503);
  await until(() => /"failures":2/.test(service.output), 'it was tried twice'); // after eight times the process ends
  const [ready, health, read] = await Promise.all(
    ['/readyz', '/healthz', `/v1/pages/${ids[0]}`].map((path) => service.call<{ reason: string }>('GET', path)),
  );
  disk.mend('sync');
  assert.deepEqual([ready.status, ready.body.reason], [503, 'metadata store unavailable']);
  assert.deepEqual([health.status, read.status], [200, 503]);
  await openAgain(service);
  await indexed(ids);
  assert.equal(await found(), 10);
  await service.stop();
  await assertSound(service);
});

test('a disk that takes no mark of the valid state ends the process after some openings; the next one has what was acknowledged', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.mend('meta'));
  const { service, ingest, ids, indexed, found } = await shelf(t, disk, {
    SERVICE_OBSERVABILITY__METRICS_SNAPSHOT_INTERVAL_S: '1',
  });
  disk.fail('meta');
  assert.equal((await ingest(10)).status, 503);
  assert.deepEqual(await endedSoon(service), { code: 1, signal: null }, service.output.slice(-4000));
  assert.match(service.output, /"msg":"no library can be opened again: the process ends"/);
  disk.mend('meta');
  await service.start();
  await indexed(ids);
  assert.equal(await found(), 10);
  await service.stop();
  await assertSound(service);
});

test('a mark of the flushed state that cannot be written closes the library, though nobody is told by LMDB', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.mend('mark'));
  const settings = { SERVICE_STORAGE__FLUSH_TIMEOUT_S: '2' };
  const { service, ingest, acknowledged, ids, indexed, found } = await shelf(t, disk, settings);
  disk.fail('mark');
  assert.equal((await ingest(10)).status, 503);
  disk.mend('mark');
  await openAgain(service);
  await indexed([...ids, await acknowledged(10)]);
  assert.equal(await found(), 11);
  await service.stop();
  await assertSound(service);
});

test('a start on a disk that takes no mark of the flushed state ends with the reason, and the next one has everything', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.mend('mark'));
  const { service, found } = await shelf(t, disk);
  await service.stop();
  disk.fail('mark');
  service.spawn();
  assert.deepEqual(await endedSoon(service), { code: 1, signal: null }, service.output.slice(-4000));
  disk.mend('mark');
  await service.start();
  assert.equal(await found(), 10);
  await service.stop();
  await assertSound(service);
});

test('pages that cannot be written are refused, nothing of them is stored, and the service goes on', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.mend('write'));
  const { service, ingest, ids, indexed, found } = await shelf(t, disk);
  disk.fail('write');
  assert.equal((await ingest(10)).status, 503);
  const unready = await service.call<{ reason: string }>('GET', '/readyz');
  assert.equal(unready.status, 503);
  assert.match(unready.body.reason, /^metadata store unavailable: Input\/output error/);
  assert.equal(await found(), 10);
  assert.equal((await service.call('GET', `/v1/pages/${ids[0]}`)).status, 200);
  disk.mend('write');
  await until(async () => (await service.call('GET', '/readyz')).status === 200, 'it is ready again');
  const again = await ingest(10);
  assert.equal(again.status, 202);
  await indexed([again.body.page_id]);
  await service.stop();
  await assertSound(service);
});

test('while the disk does not answer writes are refused and reads go on; then it all goes on', { skip }, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.mend('stall'));
  const settings = { SERVICE_STORAGE__FLUSH_TIMEOUT_S: '2' };
  const { service, ingest, acknowledged, ids, indexed, found } = await shelf(t, disk, settings);
  disk.fail('stall');
  assert.equal((await ingest(10)).status, 503);
  assert.equal((await ingest(11)).status, 503);
  const unready = await service.call<{ reason: string }>('GET', '/readyz');
  assert.deepEqual(
    [unready.status, unready.body.reason],
    [503, 'metadata store unavailable: the disk has not answered for 2000 ms'],
  );
  assert.ok((await found()) >= 10);
  assert.equal((await service.call('GET', `/v1/pages/${ids[0]}`)).status, 200);
  disk.mend('stall');
  await until(async () => (await service.call('GET', '/readyz')).status === 200, 'it is ready again');
  await indexed([await acknowledged(10), await acknowledged(11)]);
  assert.equal(await found(), 12);
  await service.stop();
  await assertSound(service);
});

test('where commits count elsewhere, closing waits for the disk, and a last flush that failed is known', {
  skip,
}, (t) => {
  if (typeof disk === 'string') return;
  const dir = temporaryFolder(t);
  const script = join(import.meta.dirname, 'closing-process.ts');
  const loader = join(import.meta.dirname, '../../scripts/tsx-in-threads.mjs');
  const endOf = (...args: string[]) => {
    const env = { ...process.env, ...disk.env };
    const { stdout } = spawnSync(process.execPath, ['--import', loader, script, ...args], { env, encoding: 'utf8' });
    return stdout;
  };
  assert.equal(endOf(join(dir, 'sound')), 'closed');
  for (const fault of ['mark', 'sync'] as const)
    assert.equal(endOf(join(dir, fault), disk.pathOf(fault)), 'failed', fault);
});
