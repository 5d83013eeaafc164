import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { erasePage } from '../../src/commands/forget.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { roomFor } from '../../src/store/replace-file.ts';
import { submission } from '../commands/submissions.ts';
import { TemporaryStore } from './temporary-store.ts';

const canary = 'zqxverbork';
const held = ({ path }: TemporaryStore) => readFileSync(join(path, 'store', 'data.mdb')).includes(canary);

async function furnished(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  for (let i = 0; i < 60; i++) {
    const mark = i % 3 === 0 ? canary : 'plain';
    const url = `https://example.com/${mark}/${i}`;
    const body = `${mark} `.repeat(1 + i * 40);
    await temporary.commit(ingestPage(submission({ canonical_url: url, title: `${mark} ${i}`, body })));
  }
  return temporary;
}

const forget = (temporary: TemporaryStore) =>
  temporary.commit((transaction) => {
    for (let no = 1; no <= 60; no += 3) {
      const page = transaction.pages.get(no);
      if (page !== undefined) erasePage(transaction, page, 5);
    }
  });

test('a rewrite leaves no byte of what was deleted, and every handle goes on, also after a restart', async () => {
  await using temporary = await furnished();
  await forget(temporary);
  assert.ok(held(temporary), 'deleting alone leaves the text in the file');
  const { pages, jobs, tombstones } = temporary.reader;
  const { bytesBefore, bytesAfter } = await temporary.store.compact();
  assert.ok(bytesAfter < bytesBefore);
  assert.ok(!held(temporary));
  assert.deepEqual([pages.count(), jobs.get(2)?.status, tombstones.countByState().pending], [40, 'pending', 20]);
  assert.equal(statSync(join(temporary.path, 'store', 'data.mdb')).mode & 0o777, 0o600);
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/new' })));
  assert.equal(pages.count(), 41);
  await temporary.reopen();
  assert.equal(temporary.store.storeId, 'store 1');
  assert.equal(temporary.reader.pages.count(), 41);
  assert.equal(temporary.reader.pages.body(2), 'plain '.repeat(41));
});

test('reads go on while the file is rewritten, and writes that come meanwhile follow it', async () => {
  await using temporary = await furnished();
  let reads = 0;
  let rewriting = true;
  const reading = (async () => {
    while (rewriting) {
      for (const { no } of temporary.reader.pages.all()) {
        assert.equal(temporary.reader.pages.get(no)?.no, no);
        reads++;
      }
      await new Promise(setImmediate);
    }
  })();
  for (let round = 0; round < 5; round++) {
    const writes = Array.from({ length: 10 }, (_, i) =>
      temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${round}/${i}` }))),
    );
    const rewritten = temporary.store.compact();
    await Promise.all([...writes, rewritten, temporary.commit(({ counters }) => counters.take('claim'))]);
  }
  rewriting = false;
  await reading;
  assert.ok(reads > 60);
  assert.equal(temporary.reader.pages.count(), 110);
  assert.equal(temporary.reader.counters.peek('claim'), 6);
});

test('what a crash left of a copy is deleted at the next start and counts for nothing', async () => {
  await using temporary = await furnished();
  await temporary.store.close();
  const copy = join(temporary.path, 'store', 'copy');
  mkdirSync(copy);
  writeFileSync(join(copy, 'data.mdb'), canary);
  await temporary.reopen();
  assert.ok(!existsSync(copy));
  assert.equal(temporary.reader.pages.count(), 60);
});

test('a rewrite that fails leaves the store as it was, and the next one succeeds', async (t) => {
  await using temporary = await furnished();
  await forget(temporary);
  const lock = join(temporary.path, 'store', 'lock.mdb');
  const prototype: { backup(): Promise<void> } = Object.getPrototypeOf(Reflect.get(temporary.reader.jobs, 'rows'));
  const backup = t.mock.method(prototype, 'backup', async () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  await assert.rejects(temporary.store.compact(), { code: 'ENOSPC' });
  backup.mock.restore();
  assert.ok(existsSync(lock) && !existsSync(join(temporary.path, 'store', 'copy')));
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/new' })));
  await temporary.store.compact();
  assert.ok(!held(temporary));
  assert.throws(() => roomFor(temporary.path, Number.MAX_SAFE_INTEGER), { code: 'no_room' });
});
