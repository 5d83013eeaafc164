/** Stores of older formats are brought to this one with all that is in them, also through kills, and can be read before. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Key, open } from 'lmdb';
import { beginForget } from '../../src/commands/forget.ts';
import { visitTimes } from '../../src/compute/structures/visit-times.ts';
import { hourMs, minuteMs } from '../../src/domain/durations.ts';
import { isOperatorError } from '../../src/domain/errors.ts';
import { auditStore } from '../../src/store/audit.ts';
import { makeBackup, restoreBackup } from '../../src/store/backup.ts';
import { storeFormat } from '../../src/store/environment.ts';
import { Store, type StoreReader } from '../../src/store/store.ts';
import { StoreView } from '../../src/store/store-view.ts';
import {
  entity,
  forgottenPage,
  longPage,
  model,
  sectionedPage,
  shortPage,
  watch,
} from '../fixtures/stores/contents.ts';
import { unpackStore } from '../fixtures/stores/unpack-store.ts';
import { SmallDisk } from '../reliability/small-disk.ts';
import { pluck } from '../rows.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const plain = { encoder: { useRecords: false } };
const numbered = { keyEncoding: 'uint32', ...plain } as const;
const texts = { keyEncoding: 'uint32', encoding: 'string' } as const;

/** The raw file of a data folder. */
function openFile(dataDir: string) {
  const root = open<unknown, Key>({ path: join(dataDir, 'store'), maxDbs: 64 });
  return {
    root,
    stamp: root.openDB<unknown, string>({ name: 'stamp' }),
    rows: root.openDB<Record<string, unknown>, number>({ name: 'pages', ...numbered }),
    bodies: root.openDB<string, number>({ name: 'bodies', ...texts }),
    chunks: root.openDB<unknown[], number>({ name: 'chunks', ...numbered }),
    visits: root.openDB<number, Key>({ name: 'known_visits', ...plain }),
  };
}

/** What the stamp says, and of which pages a value is whole that is longer than a part. */
async function stateOf(dataDir: string): Promise<{ format: unknown; done: unknown; whole: number[]; inRow: number[] }> {
  const { root, stamp, rows, bodies, chunks } = openFile(dataDir);
  const numbers = [...rows.getKeys()];
  const isWhole = (no: number) => (bodies.get(no)?.length ?? 0) > 8000 || (chunks.get(no)?.length ?? 0) > 64;
  const state = {
    format: stamp.get('format'),
    done: stamp.get('migrated') ?? null,
    whole: numbers.filter(isWhole),
    inRow: numbers.filter((no) => rows.get(no)?.sections !== undefined),
  };
  await root.close();
  return state;
}

/** Everything that the store of the fixture has, as its requests made it. */
function assertAllThere(reader: StoreReader): void {
  const { pages, models, watches, blacklist, entities, vectors, jobs } = reader;
  const all = [longPage, shortPage, sectionedPage].map(({ url }) => pages.numberByUrl(url));
  assert.deepEqual(all, [1, 2, 3]);
  assert.equal(pages.numberByUrl(forgottenPage.url), undefined);
  assert.equal(blacklist.find('url', forgottenPage.url)?.reason, 'gossip');
  assert.equal(pages.body(1), longPage.body_extracted);
  assert.equal(pages.bodyLength(1), longPage.body_extracted.length);
  assert.equal(pages.bodySlice(1, 90_000, 90_010), longPage.body_extracted.slice(90_000, 90_010));
  assert.equal(pages.body(2), shortPage.body_extracted);
  assert.deepEqual(pages.get(2)?.metadata, shortPage.metadata);
  assert.deepEqual(pluck(pages.sections(3), 'title'), ['The sour dough', 'The oven']);
  for (const no of [1, 2, 3]) {
    const page = pages.get(no);
    assert.ok(page !== undefined && pages.isWhole(no));
    assert.equal(page.status, 'indexed');
    assert.equal(pages.chunks(no).length, page.chunk_count);
    assert.equal(pages.chunk(no, page.chunk_count - 1)?.char_end, pages.bodyLength(no));
    assert.equal(vectors.get(1, no)?.length, page.chunk_count * 100);
  }
  assert.ok(pages.chunks(1).length > 64);
  assert.equal(models.activeModel()?.id, model);
  assert.equal(watches.count(), 1);
  assert.equal(watches.get(1)?.url, watch.url);
  assert.ok([...entities.named(entity)].length > 0);
  assert.equal(jobs.get(1)?.status, 'done');
}

test('a store of format 1 is read before and after it is migrated, and is whole', async () => {
  await using folder = await TemporaryFolder.make();
  unpackStore(1, folder.path);
  const view = StoreView.open(folder.path);
  assertAllThere(view.reader);
  await view.close();
  assert.deepEqual((await auditStore(folder.path)).findings, []);
  assert.deepEqual(await stateOf(folder.path), { format: 1, done: null, whole: [1], inRow: [1, 2, 3] });

  const said: string[] = [];
  const open = () => Store.open(folder.path, () => 'never', { say: (line) => said.push(line) });
  const store = await open();
  assertAllThere(store.reader);
  await store.close();
  const moved = [`migrating the store from format 1 to ${storeFormat}`, `the store has format ${storeFormat}`];
  assert.deepEqual(said, moved);
  assert.deepEqual(await stateOf(folder.path), { format: storeFormat, done: null, whole: [], inRow: [] });
  assert.deepEqual((await auditStore(folder.path)).findings, []);
  const after = StoreView.open(folder.path);
  assertAllThere(after.reader);
  await after.close();
  await (await open()).close();
  assert.equal(said.length, 2, 'a store of this format is left as it is');
});

test('a backup of a store of format 1 is of that format, and is migrated when its restored store is opened', async () => {
  await using folder = await TemporaryFolder.make();
  const [dataDir, target, other] = ['data', 'backup', 'other'].map((name) => join(folder.path, name));
  unpackStore(1, dataDir);
  const taken = await makeBackup({ dataDir, target, now: () => 0, version: 'of a test' });
  assert.deepEqual([taken.store_format, taken.pages], [1, 3]);
  unpackStore(1, other);
  const elsewhere = await Store.open(other, () => 'never');
  await elsewhere.commit(beginForget({ kind: 'domain', pattern: 'gossip.example', reason: null, at: 9 }));
  await elsewhere.close();
  const options = { backup: target, dataDir: other, replace: true, newStoreId: () => 'restored', now: () => 0 };
  const restored = await restoreBackup(options);
  assert.equal(restored.carriedRules, 1);
  assert.equal((await stateOf(other)).format, 1);
  const store = await Store.open(other, () => 'never');
  assertAllThere(store.reader);
  assert.equal(store.reader.blacklist.list().length, 2);
  assert.equal(store.storeId, 'restored');
  await store.close();
  assert.equal((await stateOf(other)).format, storeFormat);
});

test('a migration that is killed between two transactions goes on where it was, and what it left can be read', async () => {
  await using folder = await TemporaryFolder.make();
  await makeLarge(folder.path);
  for (const [done, left] of [
    [101, 6],
    [103, 4],
  ]) {
    const run = promisify(execFile)(process.execPath, [
      ...['--import', import.meta.resolve('tsx')],
      ...[join(import.meta.dirname, 'killed-migration.ts'), folder.path],
    ]);
    await assert.rejects(run, { signal: 'SIGKILL' });
    const state = await stateOf(folder.path);
    assert.deepEqual([state.format, state.done, state.whole.length, state.inRow.length], [2, done, left, left]);
    const view = StoreView.open(folder.path);
    assertAllThere(view.reader);
    assertLarge(view.reader);
    await view.close();
  }
  const said: string[] = [];
  const store = await Store.open(folder.path, () => 'never', { say: (line) => said.push(line) });
  assert.deepEqual(said, [
    `migrating the store from format 2 to ${storeFormat}`,
    'migrating the store to format 3: done up to page 105',
    'migrating the store to format 3: done up to page 107',
    `the store has format ${storeFormat}`,
  ]);
  assertAllThere(store.reader);
  assertLarge(store.reader);
  await store.close();
  assert.deepEqual(await stateOf(folder.path), { format: storeFormat, done: null, whole: [], inRow: [] });
});

test('times of visits come into the rows of their pages', async () => {
  await using folder = await TemporaryFolder.make();
  unpackStore(1, folder.path);
  const known: Record<number, number[]> = {
    1: [1000, 5000, 9000],
    2: Array.from({ length: 11_500 }, (_, minute) => minute * minuteMs),
    77: [1000],
  };
  const before = openFile(folder.path);
  await before.root.transaction(() => {
    for (const [no, times] of Object.entries(known)) {
      const row = before.rows.get(Number(no));
      const seen = { first_seen_at: times[0], last_seen_at: times.at(-1) };
      if (row !== undefined) void before.rows.put(Number(no), { ...row, ...seen });
      for (const at of times) void before.visits.put([Number(no), at], 0);
    }
  });
  await before.root.close();
  const store = await Store.open(folder.path, () => 'never');
  const hoursOf = (times: readonly number[]) => new Set(times.map((at) => Math.floor(at / hourMs)));
  const timesOf = (no: number) => visitTimes(store.reader.pages.get(no) ?? assert.fail('no page')).reverse();
  assert.deepEqual(timesOf(1), known[1]);
  assert.deepEqual(hoursOf(timesOf(2)), hoursOf(known[2]));
  assert.equal(timesOf(3).length, 1);
  await store.close();
  const after = openFile(folder.path);
  assert.equal(after.visits.getKeysCount(), 0);
  await after.root.close();
  assert.deepEqual((await auditStore(folder.path)).findings, []);
});

test('a disk that gets full stops a migration between two transactions, in one line, and with room it goes on', async (t) => {
  const disk = SmallDisk.mount(128);
  if (typeof disk === 'string') return t.skip(disk);
  t.after(() => disk.unmount());
  const path = join(disk.path, 'data');
  await makeLarge(path);
  const needs = '16777216 bytes are needed to upgrade the store';
  const message = new RegExp(`^the disk of .*data is full: ${needs}, \\d+ are free$`);
  const full = (error: unknown) => isOperatorError(error, 'disk_full') && message.test(error.message);
  const migrate = (whenSaid: (line: string) => void) => Store.open(path, () => 'never', { say: whenSaid });
  disk.fill(2 ** 22);
  await assert.rejects(async () => migrate(() => {}), full);
  assert.equal((await stateOf(path)).format, 1);
  disk.clear();
  const fillBehindPage = (line: string) => {
    if (line.endsWith('up to page 101')) disk.fill(2 ** 22);
  };
  await assert.rejects(async () => migrate(fillBehindPage), full);
  const { format, done } = await stateOf(path);
  assert.deepEqual([format, done], [2, 101]);
  disk.clear();
  const store = await migrate(() => {});
  assertAllThere(store.reader);
  assertLarge(store.reader);
  await store.close();
});

/** Each of these fills more than half of a transaction. */
const largeTexts = Array.from({ length: 8 }, (_, at) => `text ${at} of a page with 🜨 in it. `.repeat(100_000));

/** The store of format 1 with as many pages more, which a migration takes some transactions for. */
async function makeLarge(dataDir: string): Promise<void> {
  unpackStore(1, dataDir);
  const { root, rows, bodies, chunks } = openFile(dataDir);
  await root.transaction(() => {
    for (const [at, text] of largeTexts.entries()) {
      void rows.put(100 + at, { ...rows.get(1), no: 100 + at });
      void bodies.put(100 + at, text);
      void chunks.put(100 + at, chunks.get(1) ?? []);
    }
  });
  await root.close();
}

function assertLarge({ pages }: StoreReader): void {
  for (const [at, text] of largeTexts.entries()) {
    assert.equal(digest(pages.body(100 + at)), digest(text));
    assert.equal(pages.chunks(100 + at).length, pages.chunks(1).length);
  }
}

function digest(text = ''): string {
  return createHash('sha256').update(text).digest('hex');
}
