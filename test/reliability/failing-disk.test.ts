/**
 * A disk whose system calls fail or hang below the running service: nothing that was acknowledged is lost, whoever writes is told, and
 * where it is not known any more what is on the disk the library is opened again (docs/decisions/stop-when-a-flush-fails.md).
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { type Exit, patienceMs, RunningService, until } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
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

/** What all tests share in this order: a service on the disk, and the pages that it acknowledged. */
let service: RunningService;
const ids: string[] = [];
const scope = newestFirst({ after });
before(async () => {
  if (typeof disk === 'string') return;
  service = await RunningService.start(scope, { ...disk.env, ...onlyWriter });
  await service.pauseVectors();
  for (let no = 0; no < 3; no++) await acknowledged();
  await allAreFound();
});

/** Hand in the next page. */
async function ingest() {
  const answer = await service.call<{ page_id: string }>('POST', '/v1/pages', page(ids.length));
  if (answer.status < 300) ids.push(answer.body.page_id);
  return answer;
}

/** As an importer does: again, until it is acknowledged. */
const acknowledged = () => until(async () => (await ingest()).status < 300, 'a page is taken');

async function found(): Promise<number> {
  const query = { query: 'harbour master', k: 100, log: false };
  const { status, body } = await service.call<SearchResponse>('POST', '/v1/search', query);
  assert.equal(status, 200);
  return body.results.length;
}

async function allAreFound(): Promise<void> {
  // That a page is indexed may have been told before it was on the disk: it is indexed again then.
  assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
  assert.equal(await found(), ids.length);
}

/** Do this while the disk fails; gives where the output of that time begins. */
async function during(fault: DiskFault, work: (from: number) => Promise<void>): Promise<number> {
  assert.ok(typeof disk !== 'string');
  const from = service.output.length;
  disk.fail(fault);
  try {
    await work(from);
  } finally {
    disk.mend(fault);
  }
  return from;
}

/** Wait for the process's end, which has to come by itself. */
async function endedSoon(): Promise<Exit | 'it goes on'> {
  return Promise.race([service.ended(), delay(patienceMs, 'it goes on' as const, { ref: false })]);
}

const isReady = () =>
  until(async () => (await service.call('GET', '/readyz')).status === 200, 'the library is ready again');

/** Wait until the library broke and was opened again, since that place of the output. */
async function openAgain(from: number): Promise<void> {
  await until(() => service.output.includes('"msg":"the library is open again"', from), 'the library is open again');
  await isReady();
}

async function stopSound(): Promise<void> {
  // A thread whose write failed may never end: the process is killed then, after all else was stopped.
  const { code, signal } = await service.kill('SIGTERM');
  assert.ok(code === 0 || signal === 'SIGKILL', service.output.slice(-4000));
  assert.match(service.output.slice(-1000), /"msg":"stopped"/);
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
}

/** In another process: one ends when the disk has failed it three times. */
async function startAgain(settings: Record<string, string> = {}): Promise<void> {
  await stopSound();
  await service.start(settings);
  assert.equal(await found(), ids.length);
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
  test(`after ${what} the library is opened again, with what was acknowledged and nothing else`, { skip }, async () => {
    // The disk works again at once: a later flush would succeed, without what the failed one has lost.
    const from = await during(fault, async () => {
      const refused = await ingest();
      assert.deepEqual([refused.status, Number(refused.headers.get('retry-after')) > 0], [503, true]);
    });
    await openAgain(from);
    const said = service.output.slice(from);
    assert.match(said, /"msg":"the library cannot continue and is closed"/);
    assert.match(said, /a commit could not be flushed to disk/);
    assert.match(said, says);
    await allAreFound();
    assert.equal((await ingest()).status, 202, 'what was refused is not there: it is no revisit');
    await allAreFound();
    await startAgain();
  });
}

test('while flushes go on to fail the library waits longer each time, says so, and comes back when the disk does', {
  skip,
}, async () => {
  const from = await during('sync', async (from) => {
    assert.equal((await ingest()).status, 503);
    await until(() => service.output.includes('"failures":2', from), 'it was tried twice'); // after eight times the process ends
    const [ready, health, read] = await Promise.all(
      ['/readyz', '/healthz', `/v1/pages/${ids[0]}`].map((path) => service.call<{ reason: string }>('GET', path)),
    );
    assert.deepEqual([ready.status, ready.body.reason], [503, 'metadata store unavailable']);
    assert.deepEqual([health.status, read.status], [200, 503]);
  });
  await openAgain(from);
  await allAreFound();
});

test('a start on a disk that takes no mark of the flushed state ends with the reason, and the next one has everything', {
  skip,
}, async () => {
  await stopSound();
  await during('mark', async () => {
    service.spawn();
    assert.deepEqual(await endedSoon(), { code: 1, signal: null }, service.output.slice(-4000));
  });
  await service.start({ SERVICE_STORAGE__FLUSH_TIMEOUT_S: '2' });
  await allAreFound();
});

test('pages that cannot be written are refused, nothing of them is stored, and the service goes on', {
  skip,
}, async () => {
  await during('write', async () => {
    assert.equal((await ingest()).status, 503);
    const unready = await service.call<{ reason: string }>('GET', '/readyz');
    assert.equal(unready.status, 503);
    assert.match(unready.body.reason, /^metadata store unavailable: Input\/output error/);
    assert.equal(await found(), ids.length);
    assert.equal((await service.call('GET', `/v1/pages/${ids[0]}`)).status, 200);
  });
  await isReady();
  assert.equal((await ingest()).status, 202);
  await allAreFound();
});

test('while the disk does not answer writes are refused and reads go on; then it all goes on', { skip }, async () => {
  await during('stall', async () => {
    for (let no = 0; no < 2; no++) assert.equal((await ingest()).status, 503);
    const unready = await service.call<{ reason: string }>('GET', '/readyz');
    assert.deepEqual(
      [unready.status, unready.body.reason],
      [503, 'metadata store unavailable: the disk has not answered for 2000 ms'],
    );
    assert.ok((await found()) >= ids.length);
    assert.equal((await service.call('GET', `/v1/pages/${ids[0]}`)).status, 200);
  });
  await isReady();
  for (let no = 0; no < 2; no++) await acknowledged();
  await allAreFound();
});

test('a mark of the flushed state that cannot be written closes the library, though nobody is told by LMDB', {
  skip,
}, async () => {
  const from = await during('mark', async () => assert.equal((await ingest()).status, 503));
  await openAgain(from);
  await acknowledged();
  await allAreFound();
});

test('a disk that takes no mark of the valid state ends the process after some openings; the next one has what was acknowledged', {
  skip,
}, async () => {
  await startAgain({ SERVICE_OBSERVABILITY__METRICS_SNAPSHOT_INTERVAL_S: '1' });
  await during('meta', async () => {
    assert.equal((await ingest()).status, 503);
    assert.deepEqual(await endedSoon(), { code: 1, signal: null }, service.output.slice(-4000));
  });
  assert.match(service.output, /"msg":"no library can be opened again: the process ends"/);
  await service.start();
  await allAreFound();
  await stopSound();
});

test('where commits count elsewhere, closing waits for the disk, and a last flush that failed is known', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  const dir = temporaryFolder(t);
  const script = join(import.meta.dirname, 'closing-process.ts');
  const loader = join(import.meta.dirname, '../../scripts/tsx-in-threads.mjs');
  const endOf = (...args: string[]) =>
    new Promise<string>((resolve) => {
      const options = { env: { ...process.env, ...disk.env }, timeout: patienceMs, killSignal: 'SIGKILL' } as const;
      const given = ['--import', loader, script, ...args];
      execFile(process.execPath, given, options, (_, stdout, stderr) => resolve(stdout || `ended with: ${stderr}`));
    });
  assert.equal(await endOf(join(dir, 'sound')), 'closed');
  for (const fault of ['mark', 'sync'] as const)
    assert.equal(await endOf(join(dir, fault), disk.pathOf(fault)), 'failed', fault);
});
