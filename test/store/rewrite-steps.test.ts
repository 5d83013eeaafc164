/** The rewrite of the store's file, stopped at each of its steps: by a crash, by an error of the file system, by a disk that is full. */
import assert from 'node:assert/strict';
import fs, { cpSync, existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { erasePage } from '../../src/commands/forget.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { Store } from '../../src/store/store.ts';
import { submission } from '../commands/submissions.ts';
import { SmallDisk } from '../reliability/small-disk.ts';
import { temporaryFolder } from '../scope.ts';
import { TemporaryStore } from './temporary-store.ts';

const steps = ['rmSync', 'mkdirSync', 'chmodSync', 'renameSync', 'fsyncSync'] as const;

/** Have something happen before each step of the file system until the test lets go; gives how to let go. */
function beforeEachStep(t: TestContext, happens: (step: string, nth: number) => void): () => void {
  let nth = 0;
  const mocks = steps.map((name) => {
    const real = fs[name] as (...given: unknown[]) => unknown;
    return t.mock.method(fs, name, (...given: unknown[]) => {
      happens(name, ++nth);
      return real(...given);
    });
  });
  syncBuiltinESMExports();
  return () => {
    for (const { mock } of mocks) mock.restore();
    syncBuiltinESMExports();
  };
}

const text = (at: number) => `text ${at} `.repeat(500);
const pageAt = (at: number) =>
  ingestPage(submission({ canonical_url: `https://example.com/${at}`, title: `Page ${at}`, body: text(at) }));

/** Twenty pages, every second of which was erased. */
async function furnished(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  for (let at = 1; at <= 20; at++) await temporary.commit(pageAt(at));
  await temporary.commit((transaction) => {
    for (let no = 2; no <= 20; no += 2) {
      const page = transaction.pages.get(no);
      if (page !== undefined) erasePage(transaction, page, 5);
    }
  });
  return temporary;
}

function assertWhole({ reader }: Pick<Store, 'reader'>, more = 0, message?: string): void {
  const found = [reader.pages.count(), reader.tombstones.countByState().pending, reader.pages.body(19)];
  assert.deepEqual(found, [10 + more, 10, text(19)], message);
}

test('a crash before any step leaves a whole store, which the next start opens without what is left of the copy', async (t) => {
  await using temporary = await furnished();
  const home = temporaryFolder(t);
  const left: string[] = [];
  let isOwn = false; // copying is done by the same functions
  const letGo = beforeEachStep(t, (step, nth) => {
    if (isOwn) return;
    isOwn = true;
    cpSync(temporary.path, join(home, String(nth)), { recursive: true });
    left.push(step);
    isOwn = false;
  });
  try {
    await temporary.store.compact();
  } finally {
    letGo();
  }
  assert.ok(left.filter((step) => step === 'renameSync').length === 2 && left.includes('fsyncSync'), left.join());
  for (const folder of fs.readdirSync(home)) {
    const store = await Store.open(join(home, folder), () => 'another identity');
    assertWhole(store, 0, `before step ${folder} of ${left.join()}`);
    assert.equal(store.storeId, 'store 1');
    assert.ok(!existsSync(join(home, folder, 'store', 'copy')));
    const { flushed } = await store.transact([pageAt(21)]);
    await flushed;
    assertWhole(store, 1);
    await store.close();
  }
});

test('an error at any step loses nothing that is written afterwards, and the next rewrite succeeds', async (t) => {
  for (let failing = 1; ; failing++) {
    await using temporary = await furnished();
    let failed = '';
    const letGo = beforeEachStep(t, (step, nth) => {
      if (nth !== failing) return;
      failed = step;
      throw Object.assign(new Error('input/output error'), { code: 'EIO' });
    });
    try {
      await temporary.store.compact();
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'EIO');
    } finally {
      letGo();
    }
    if (failed === '') break;
    await temporary.commit(pageAt(21));
    assertWhole(temporary.store, 1, `${failed}, step ${failing}`);
    await temporary.reopen();
    assertWhole(temporary.store, 1, `${failed}, step ${failing}, after a restart`);
    await temporary.store.compact();
    assertWhole(temporary.store, 1);
  }
});

const disk = SmallDisk.mount(64);

test('a disk that fills up during the copy leaves the old file, and the rewrite succeeds when there is room', {
  skip: typeof disk === 'string' ? disk : false,
}, async (t) => {
  if (typeof disk === 'string') return;
  t.after(() => disk.unmount());
  const store = await Store.open(disk.path, () => 'store 1');
  t.after(() => store.close());
  for (let at = 1; at <= 20; at++) await (await store.transact([pageAt(at)])).flushed;
  const prototype: { backup(...given: unknown[]): Promise<void> } = Object.getPrototypeOf(
    Reflect.get(store.reader.jobs, 'rows'),
  );
  const real = prototype.backup;
  const backup = t.mock.method(prototype, 'backup', function (this: unknown, ...given: unknown[]) {
    disk.fill();
    return real.apply(this, given);
  });
  await assert.rejects(store.compact());
  assert.equal(backup.mock.callCount(), 1, 'there was room when it was asked for');
  assert.equal(store.reader.pages.body(19), text(19));
  assert.ok(!existsSync(join(disk.path, 'store', 'copy')), 'no half of a copy takes room');
  backup.mock.restore();
  disk.clear();
  await (await store.transact([pageAt(21)])).flushed;
  const { bytesAfter } = await store.compact();
  assert.ok(bytesAfter > 0);
  assert.equal(store.reader.pages.count(), 21);
});
