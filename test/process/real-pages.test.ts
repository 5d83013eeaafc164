/** Real web pages, saved as browsers got them, through the whole service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { haveRealPages, realPagesDir, searchRealPages, shareWithin } from '../../bench/real-pages.ts';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { RunningService } from './service.ts';

const skip = haveRealPages ? false : `the real pages are not at ${realPagesDir}`;

test('32 saved web pages are indexed, and at least 95 % of the queries find theirs among the first three', {
  skip,
}, async (t) => {
  const service = await RunningService.start(t);
  const { pages, queries, titles } = await searchRealPages((method, path, body) => service.call(method, path, body));
  assert.equal(pages, 32);
  const missed = queries.filter(({ rank }) => rank !== 1).map(({ query, rank, first }) => ({ query, rank, first }));
  t.diagnostic(`not first: ${JSON.stringify(missed)}`);
  assert.ok(shareWithin(queries, 3) >= 0.95, JSON.stringify(missed));
  assert.deepEqual(
    titles.filter(({ rank }) => rank !== 1),
    [],
    'a page is found first by its own title',
  );
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
});
