/** The service that takes imported files in, over a real store and real threads; commits wait at a gate where a state is to be held. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { importsService } from '../../../src/actors/ingest/imports.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { ImportResponse } from '../../../src/domain/import.ts';
import type { Command } from '../../../src/store/store.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { until } from '../../process/service.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { keptLog } from '../quiet-log.ts';

/** Lets so many commits through; the others wait. */
class Gate {
  #left = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];
  arrived = 0;

  let(count: number): void {
    this.#left = count;
    while (this.#left > 0 && this.#waiting.length > 0) {
      this.#left--;
      this.#waiting.shift()?.();
    }
  }

  async pass(): Promise<void> {
    this.arrived++;
    if (this.#left-- > 0) return;
    this.#left = 0;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

async function madeService(t: TestContext, options: { quotaBytes?: number; mostKept?: number } = {}) {
  const stored = await TemporaryStore.open();
  const gate = new Gate();
  const trouble: DomainError[] = [];
  const dir = join(stored.path, 'tmp', 'imports');
  const ending = new AbortController();
  const open = importsService({
    commit: async <Reply>(command: Command<Reply>) => {
      await gate.pass();
      const error = trouble.shift();
      if (error !== undefined) throw error;
      return stored.commit(command);
    },
    reader: { imports: stored.reader.imports },
    storeId: 'this library',
    dir,
    extract: () => assert.fail('there is no HTML'),
    pdfs: {},
    canonicalize: { tracking_params: [], keep_params: {} },
    maxAttempts: 5,
    ...{ quotaBytes: null, ...options },
    usedBytes: () => 1000,
    metrics: createMetrics().ofLibrary(),
    log: keptLog().log,
    now: () => Date.parse('2026-01-02T03:04:05Z'),
  });
  const { handlers, stop } = await open({ crash: assert.fail, ending: ending.signal });
  const end = async () => {
    ending.abort();
    gate.let(Number.POSITIVE_INFINITY);
    await stop?.();
  };
  t.after(async () => {
    await end();
    await stored[Symbol.asyncDispose]();
  });
  async function* bytesOf(text: string) {
    yield Buffer.from(text);
  }
  const begin = (text: string, name = 'list.txt') =>
    Promise.resolve(handlers['import.begin']({ name, format: 'auto', bytes: bytesOf(text) }, undefined));
  const get = async (id: string) => (await handlers['import.get']({ import_id: id }, undefined)) as ImportResponse;
  const files = () => (existsSync(dir) ? readdirSync(dir) : []);
  const ended = async (id: string) => {
    await until(async () => (await get(id)).status !== 'running', 'the import has ended');
    return get(id);
  };
  return { gate, trouble, end, begin, get, handlers, files, ended };
}

const urls = (count: number, site = 'a') =>
  Array.from({ length: count }, (_, i) => `https://${site}.example/${i}\n`).join('');
const told = ({ status, items, created, revisits, error }: ImportResponse) => [status, items, created, revisits, error];

test('an import that is stopped keeps what it took in, and the same file goes on there', async (t) => {
  const { gate, begin, get, handlers, ended, files } = await madeService(t);
  gate.let(2);
  const { id } = await begin(urls(450));
  await until(() => gate.arrived === 3, 'the third batch is at the gate');
  assert.deepEqual(told(await get(id)), ['running', 200, 200, 0, null]);
  assert.equal(files().length, 1);
  const stopping = handlers['import.stop']({ import_id: id }, undefined);
  gate.let(1);
  await stopping;
  // The batch that was under way is in.
  assert.deepEqual(told(await get(id)), ['stopped', 300, 300, 0, null]);
  assert.deepEqual(files(), []);
  gate.let(Number.POSITIVE_INFINITY);
  const again = await ended((await begin(urls(450), 'the same.txt')).id);
  assert.deepEqual(told(again), ['done', 450, 450, 0, null]);
  await handlers['import.stop']({ import_id: again.id }, undefined);
  assert.equal((await get(again.id)).status, 'done');
});

test('two take items in at a time, five are on the disk, and more are refused; who waits can be stopped', async (t) => {
  const { gate, begin, get, handlers, ended, files } = await madeService(t);
  gate.let(0);
  const ids: string[] = [];
  for (const site of ['a', 'b', 'c', 'd', 'e']) ids.push((await begin(urls(10, site))).id);
  await until(() => gate.arrived === 2, 'two are at the gate');
  await assert.rejects(begin(urls(10, 'f')), { code: 'overloaded', retryAfterS: 30 });
  assert.equal(files().length, 5);
  await handlers['import.stop']({ import_id: ids[4] }, undefined);
  assert.deepEqual(told(await get(ids[4])), ['stopped', 0, 0, 0, null]);
  assert.equal(gate.arrived, 2);
  gate.let(Number.POSITIVE_INFINITY);
  for (const id of ids.slice(0, 4)) assert.deepEqual(told(await ended(id)), ['done', 10, 10, 0, null]);
  assert.deepEqual(files(), []);
});

test('a file that is being imported is refused until it is through', async (t) => {
  const { gate, begin, ended, files } = await madeService(t);
  gate.let(0);
  const { id } = await begin(urls(10));
  await assert.rejects(begin(urls(10), 'the same.txt'), { code: 'conflict' });
  assert.equal(files().length, 1);
  gate.let(Number.POSITIVE_INFINITY);
  assert.deepEqual(told(await ended(id)), ['done', 10, 10, 0, null]);
  assert.deepEqual((await ended((await begin(urls(10))).id)).skipped, [{ reason: 'imported before', count: 10 }]);
});

test('a full queue is waited for; what does not pass ends the import with its reason', async (t) => {
  const { trouble, begin, ended } = await madeService(t);
  trouble.push(new DomainError('overloaded', 'too many writes are waiting', { retryAfterS: 0.01 }));
  assert.deepEqual(told(await ended((await begin(urls(150))).id)), ['done', 150, 150, 0, null]);
  trouble.push(new DomainError('over_quota', 'the store has reached storage.max_bytes'));
  const failed = await ended((await begin(urls(10, 'b'))).id);
  assert.deepEqual(told(failed), ['failed', 0, 0, 0, 'the store has reached storage.max_bytes']);
  assert.deepEqual(told(await ended((await begin(urls(10, 'b'))).id)), ['done', 10, 10, 0, null]);
});

test('over the quota nothing is taken', async (t) => {
  const { begin, files } = await madeService(t, { quotaBytes: 1000 });
  await assert.rejects(begin(urls(10)), { code: 'over_quota' });
  assert.deepEqual(files(), []);
});

test('a sender that goes away leaves nothing', async (t) => {
  const { handlers, files } = await madeService(t);
  const gone = new AbortController();
  async function* bytes() {
    yield Buffer.from(urls(10));
    gone.abort(new Error('the client has gone'));
    await new Promise(() => {});
    yield Buffer.from(urls(10));
  }
  const asked = handlers['import.begin']({ name: 'x', format: 'auto', bytes: bytes() }, gone.signal);
  await assert.rejects(Promise.resolve(asked));
  assert.deepEqual(files(), []);
});

test('stopping the service stops what runs and what waits', async (t) => {
  const { gate, begin, get, end, files } = await madeService(t);
  gate.let(0);
  const ids: string[] = [];
  for (const site of ['a', 'b', 'c']) ids.push((await begin(urls(250, site))).id);
  await until(() => gate.arrived === 2, 'two are at the gate');
  await end();
  const statuses = await Promise.all(ids.map(async (id) => (await get(id)).status));
  assert.deepEqual(statuses, ['stopped', 'stopped', 'stopped']);
  assert.deepEqual(files(), []);
});

test('the newest are kept, fifty in a service', async (t) => {
  const { begin, ended, handlers } = await madeService(t, { mostKept: 2 });
  const file = urls(1);
  for (let i = 0; i < 4; i++) await ended((await begin(file, `${i}`)).id);
  const { imports } = (await handlers['import.list']({}, undefined)) as { imports: ImportResponse[] };
  assert.deepEqual([imports.length, imports[0].name, imports.at(-1)?.name], [2, '3', '2']);
  await assert.rejects(async () => handlers['import.get']({ import_id: 'im_0' }, undefined), { code: 'not_found' });
});
