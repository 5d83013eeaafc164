import assert from 'node:assert/strict';
import { test } from 'node:test';
import { erasePages } from '../../src/commands/forget.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

test('a slice ends when it is enough, after one page at least, and passes over pages that are gone', async () => {
  await using temporary = await TemporaryStore.open();
  for (let at = 1; at <= 5; at++) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${at}` })));
  }
  const numbers = async (pageNos: number[], enough?: () => boolean) => {
    const { erased, looked } = await temporary.commit(erasePages(pageNos, 5, enough));
    return [erased.map(({ page_no }) => page_no), looked];
  };
  assert.deepEqual(await numbers([1, 2, 3], () => true), [[1], 1]);
  assert.deepEqual(await numbers([1, 2, 3, 4], () => true), [[2], 2]);
  let asked = 0;
  assert.deepEqual(await numbers([1, 2, 3, 4, 5], () => ++asked === 2), [[3, 4], 4]);
  assert.deepEqual(await numbers([1, 2, 3, 4, 5]), [[5], 5]);
  assert.deepEqual(await numbers([1, 2, 3, 4, 5]), [[], 5]);
});
