import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { forceCloseDatabase } from 'fake-indexeddb';
import { unwrap } from 'idb';
import { keepOpen } from '../../../extension/src/queue/database.ts';

let opens = 0;
let failing = false;
before(() => {
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...args) {
    opens++;
    if (failing) throw new DOMException('no room on the disk', 'UnknownError');
    return open.apply(this, args);
  };
});

test('the database is opened once, and again after that failed or the browser closed it', async () => {
  const database = keepOpen('kept');
  failing = true;
  await assert.rejects(async () => database(), { name: 'UnknownError' });
  failing = false;
  const first = await database();
  assert.equal(await database(), first);
  assert.equal(opens, 2);
  forceCloseDatabase(unwrap(first) as unknown as Parameters<typeof forceCloseDatabase>[0]);
  const second = await database();
  assert.notEqual(second, first);
  assert.equal(await second.count('items'), 0);
  assert.equal(opens, 3);
});
