import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from 'lmdb';
import { storeFormat } from '../../src/store/environment.ts';
import { type Command, Store } from '../../src/store/store.ts';
import { StoreView } from '../../src/store/store-view.ts';
import { TemporaryStore } from './temporary-store.ts';

const nothing: Command<undefined> = () => undefined;

test('opstamps increase by one with each commit, over restarts', async () => {
  await using temporary = await TemporaryStore.open();
  const opstamp = async (...commands: Command<unknown>[]) =>
    (await temporary.store.transact(commands)).steps.at(-1)?.opstamp;
  assert.deepEqual([await opstamp(nothing), await opstamp(nothing, nothing), await opstamp()], [1, 2, 3]);
  await temporary.reopen();
  assert.equal(await opstamp(nothing), 4);
  const failing: Command<undefined> = () => {
    throw new Error('no');
  };
  const stamps = [await opstamp(failing), await opstamp(failing, nothing), await opstamp(nothing)];
  assert.deepEqual(stamps, [undefined, 5, 6]);
});

test('the replies of a batch come in order, and a command sees what the ones before it wrote', async () => {
  await using temporary = await TemporaryStore.open();
  const { results } = await temporary.store.transact(
    [1, 2, 3].map(() => (transaction) => [transaction.counters.take('label', 10), transaction.counters.peek('label')]),
  );
  for (const [at, result] of results.entries())
    assert.deepEqual(result, { ok: true, reply: [10 * at + 1, 10 * at + 11] });
});

test('a store that is closed right after commits waits until each of them is on the disk', async () => {
  await using temporary = await TemporaryStore.open();
  const told: string[] = [];
  for (let round = 0; round < 5; round++) {
    for (let no = 0; no < 4; no++) {
      const { flushed } = await temporary.store.transact([(transaction) => transaction.counters.take('label')]);
      void flushed.then(
        () => told.push('flushed'),
        (error) => told.push(String(error)),
      );
    }
    await temporary.store.close();
    told.push('closed');
    await temporary.reopen();
  }
  const round = ['flushed', 'flushed', 'flushed', 'flushed', 'closed'];
  assert.deepEqual(told, [...round, ...round, ...round, ...round, ...round]);
  assert.equal(temporary.reader.counters.peek('label'), 21);
});

test('a store of another format is refused in one line and left as it is', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit((transaction) => transaction.counters.take('label', 5));
  await temporary.store.close();
  for (const format of [storeFormat + 1, 0, 'one']) {
    const root = open({ path: join(temporary.path, 'store'), maxDbs: 64 });
    await root.openDB({ name: 'stamp' }).put('format', format);
    await root.close();
    const message = `the data folder has store format ${format}, this version of readback reads format ${storeFormat}`;
    await assert.rejects(() => Store.open(temporary.path, () => 'x'), { code: 'store_format', message });
  }
  const root = open({ path: join(temporary.path, 'store'), maxDbs: 64 });
  await root.openDB({ name: 'stamp' }).put('format', storeFormat);
  await root.close();
  temporary.store = await Store.open(temporary.path, () => 'x');
  assert.equal(temporary.reader.counters.peek('label'), 6);
});

test('a file that is not a store yet is refused by those who only read, whose process LMDB would end', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.store.close();
  const whole = await readFile(join(temporary.path, 'store', 'data.mdb'));
  const path = await mkdtemp(join(tmpdir(), 'readback-begun-'));
  try {
    await mkdir(join(path, 'store'));
    for (const begun of [Buffer.alloc(0), Buffer.alloc(4096), Buffer.alloc(16_384), whole.subarray(0, 4096)]) {
      await writeFile(join(path, 'store', 'data.mdb'), begun);
      const message = /is not a store, or is being created$/;
      assert.throws(() => StoreView.open(path), { code: 'store_format', message });
    }
    await writeFile(join(path, 'store', 'data.mdb'), whole);
    const view = StoreView.open(path);
    assert.equal(view.storeId, 'store 1');
    await view.close();
  } finally {
    await rm(path, { recursive: true });
  }
  temporary.store = await Store.open(temporary.path, () => 'x');
});

test('a new store is found by others when it has all its databases, and what a killed start has left is made again', async () => {
  const path = await mkdtemp(join(tmpdir(), 'readback-making-'));
  const noStore = { code: 'store_format', message: /^there is no store/ };
  try {
    const killed = () => {
      throw new Error('ended here');
    };
    await assert.rejects(() => Store.open(path, killed), { message: 'ended here' });
    const made = await Store.open(path, () => {
      assert.throws(() => StoreView.open(path), noStore);
      return 'store 1';
    });
    assert.deepEqual(await readdir(path), ['store']);
    await made.commit(({ counters }) => counters.take('label'));
    const view = StoreView.open(path);
    assert.equal(view.storeId, 'store 1');
    assert.equal(view.reader.counters.peek('label'), 2);
    await view.close();
    await made.close();
    assert.deepEqual(await readdir(path), ['store']);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});

test('the store is for its owner alone, whatever the umask', async () => {
  const path = await mkdtemp(join(tmpdir(), 'readback-modes-'));
  const umask = process.umask(0);
  try {
    const store = await Store.open(path, () => 'store 1');
    await store.transact([(transaction) => transaction.counters.take('label')]);
    const mode = async (name: string) => ((await stat(join(path, name))).mode & 0o777).toString(8);
    assert.equal(await mode('store'), '700');
    const files = await readdir(join(path, 'store'));
    assert.deepEqual(files.sort(), ['data.mdb', 'lock.mdb']);
    for (const file of files) assert.equal(await mode(join('store', file)), '600', file);
    await store.close();
  } finally {
    process.umask(umask);
    await rm(path, { recursive: true, force: true });
  }
});

test('nothing is written to a file that is not in its place, and reads go on', async () => {
  await using temporary = await TemporaryStore.open();
  const take: Command<number> = (transaction) => transaction.counters.take('label');
  await temporary.commit(take);
  const folder = join(temporary.path, 'store');
  const elsewhere = `${folder}.away`;
  await rename(folder, elsewhere);
  await assert.rejects(temporary.commit(take), { message: 'the file of the store is missing in the data folder' });
  await cp(elsewhere, folder, { recursive: true });
  await assert.rejects(temporary.commit(take), { message: 'another file has replaced the store' });
  assert.equal(temporary.reader.counters.peek('label'), 2);
  await rm(folder, { recursive: true });
  await rename(elsewhere, folder);
  await temporary.commit(take);
  await temporary.store.compact();
  assert.equal(await temporary.commit(take), 3, 'a rewrite puts a new file in place');
});
