import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { beginForget } from '../../src/commands/forget.ts';
import { ingestPage, type PageSubmission } from '../../src/commands/ingest-page.ts';
import { giveFeedback, purgeFromLog } from '../../src/commands/log-queries.ts';
import { addressesKey, allReaddressed, readdressPages } from '../../src/commands/readdress-pages.ts';
import { visitTimes } from '../../src/compute/structures/visit-times.ts';
import {
  type CanonicalizeSettings,
  canonicalizeUrl,
  defaultTrackingParams,
  presetKeepParams,
} from '../../src/compute/web/canonical-url.ts';
import { idOf } from '../../src/domain/values.ts';
import { auditStore } from '../../src/store/audit.ts';
import { pluck } from '../rows.ts';
import { hitsOf, queryRun } from '../store/query-runs.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

/** As of the version before the built-in rules. */
const earlier = {
  tracking_params: defaultTrackingParams,
  keep_params: { 'youtu.be': [], 'youtube.com': ['list', 'v'] },
};
const settings = { tracking_params: defaultTrackingParams, keep_params: presetKeepParams, known_addresses: true };
const video = 'https://www.youtube.com/watch?v=dQw4w9WgXcQ';
const shared = 'https://youtu.be/dQw4w9WgXcQ';
const mobile = 'https://m.youtube.com/watch?v=dQw4w9WgXcQ';

/** A page that the earlier version took in. */
function taken(url: string, { body = 'some text', ...changes }: Partial<PageSubmission> = {}) {
  const canonical = canonicalizeUrl(url, earlier);
  if ('invalid' in canonical) throw new TypeError(canonical.invalid);
  const content_hash = body === null ? null : hash('sha256', body);
  return ingestPage(submission({ ...canonical, original_url: url, body, content_hash, ...changes }));
}

async function libraryOf(...pages: Parameters<typeof taken>[]): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  for (const page of pages) await temporary.commit(taken(...page));
  return temporary;
}

const readdress = (pageNos: readonly number[], after = allReaddressed) =>
  readdressPages(pageNos, after, { settings, at: 9000 });

const idsLeadTo = ({ reader }: TemporaryStore, ...numbers: number[]) =>
  numbers.map((no) => reader.pages.numberOfId(idOf('page', no)));
async function assertSound({ path, store }: TemporaryStore): Promise<void> {
  await store.close();
  assert.deepEqual((await auditStore(path)).findings, []);
}

test('pages get the current address, or stay', async () => {
  const moves: Record<string, string> = {
    'https://example.com/a?mc_cid=1&id=2': 'https://example.com/a?id=2',
    'https://example.com/b?id=3': 'https://example.com/b?id=3',
    'https://old.reddit.com/r/books/': 'https://www.reddit.com/r/books/',
    'https://gitlab.com/a/b?ref=main': 'https://gitlab.com/a/b?ref=main',
    [shared]: video,
  };
  await using temporary = await libraryOf(...Object.keys(moves).map((url): [string] => [url]));
  const { pages } = temporary.reader;
  const before = pages.get(4)?.canonical_url;
  assert.equal(before, 'https://gitlab.com/a/b');
  assert.deepEqual(await temporary.commit(readdress([1, 2, 3, 4, 5])), { moved: 4, erased: [] });
  for (const [at, url] of Object.values(moves).entries()) {
    const page = pages.get(at + 1);
    assert.deepEqual([page?.canonical_url, page?.domain], [url, new URL(url).hostname]);
    assert.equal(pages.numberByUrl(url), at + 1);
  }
  assert.equal(pages.numberByUrl(before ?? ''), undefined);
  assert.deepEqual(await temporary.commit(readdress([1, 2, 3, 4, 5])), { moved: 0, erased: [] });
  await assertSound(temporary);
});

test('pages of one address become one, which has all that was kept with each', async () => {
  const one = { tags: ['a', 'b'], note: 'first', author: 'Ada', folder: 'Bread' };
  const two = { tags: ['b', 'c'], note: 'second', author: 'A. L.', highlights: ['h'], folder: 'Bread' };
  await using temporary = await libraryOf(
    [mobile, { body: null, metadata: one, seen_at: 500, title: null, source: null, once: true }],
    [video, { body: 'a longer text', metadata: two, seen_at: 300, title: 'A video', source: 'phone', once: true }],
    [video, { seen_at: 400, once: true }],
    [`${video}&list=PL1`, { body: null, metadata: null, seen_at: 800, title: 'A list' }],
  );
  const { pages, tombstones, jobs } = temporary.reader;
  const { erased } = await temporary.commit(readdress([1, 2, 3]));
  assert.deepEqual(pluck(erased, 'page_no'), [1, 3]);
  const page = pages.get(2) ?? assert.fail('the page with the text is kept');
  const { canonical_url, title, source, visit_count, first_seen_at, last_seen_at } = page;
  const merged = { canonical_url: video, title: 'A video', source: 'phone', visit_count: 4 };
  const shown = { canonical_url, title, source, visit_count, first_seen_at, last_seen_at };
  assert.deepEqual(shown, { ...merged, first_seen_at: 300, last_seen_at: 800 });
  assert.deepEqual(page.metadata, {
    ...{ tags: ['b', 'c', 'a'], note: ['second', 'first'], author: 'A. L.', highlights: ['h'], folder: 'Bread' },
    merged: [
      { original_url: mobile, author: 'Ada' },
      { original_url: `${video}&list=PL1`, title: 'A list' },
    ],
  });
  assert.equal(pages.body(2), 'a longer text');
  assert.deepEqual(visitTimes(page), [800, 500, 400, 300]);
  assert.deepEqual(idsLeadTo(temporary, 1, 2, 3, 4), [2, 2, 2, 4]);
  assert.equal(pages.numberByUrl(mobile), undefined);
  assert.equal([1, 3].map((no) => tombstones.get(no)?.state).join(), 'pending,pending');
  for (const { last_error } of jobs.list({ status: 'dead', limit: 10 }))
    assert.equal(last_error, 'cancelled: page merged');
  await assertSound(temporary);
});

test('a page without a text is merged into one with a text, and the id of a page merged twice leads to the last', async () => {
  await using temporary = await libraryOf([`${video}&list=PL1`, { body: null }], [mobile, { body: null }]);
  const { pages } = temporary.reader;
  await temporary.commit(readdress([1, 2]));
  assert.deepEqual([pages.count(), pages.get(1)?.canonical_url, pages.numberOfId(idOf('page', 2))], [1, video, 1]);
  await temporary.commit(taken(mobile, { body: 'a text' }));
  await temporary.commit(readdress([3]));
  assert.deepEqual(idsLeadTo(temporary, 1, 2, 3), [3, 3, 3]);
  await assertSound(temporary);
});

test('pages with different texts, or of different sites, stay at their addresses', async () => {
  await using temporary = await libraryOf(
    [video, { body: 'a text' }],
    [mobile, { body: 'another text' }],
    [shared, { body: null }],
    ['https://example.com/a?id=1', { body: 'one' }],
    ['https://example.com/a?id=2', { body: 'two' }],
    ['https://web.archive.org/web/2020/https://example.com/b', { body: 'then' }],
    ['https://example.com/b', { body: 'now' }],
  );
  const broad = { ...settings, keep_params: { ...presetKeepParams, 'example.com': [] } };
  const all = [1, 2, 3, 4, 5, 6, 7];
  const { erased } = await temporary.commit(readdressPages(all, allReaddressed, { settings: broad, at: 9000 }));
  assert.deepEqual(erased, []);
  const { pages } = temporary.reader;
  const bodies = all.map((no) => pages.body(no) ?? null);
  assert.deepEqual(bodies, ['a text', 'another text', null, 'one', 'two', 'then', 'now']);
  await assertSound(temporary);
});

test('what a merged page left in the query log is not given to a page that is forgotten, too', async () => {
  await using temporary = await libraryOf([mobile, { body: null }], [video, { body: 'a text' }]);
  const final_pages = [{ page_no: 1, score: 1, rank: 1 }];
  await temporary.commit(({ queryLog }) => {
    queryLog.append(1, queryRun({ query_id: 'qr_1', final_pages }));
  });
  await temporary.commit(readdress([1, 2]));
  await temporary.commit(purgeFromLog(new Set([1, 2]), 0));
  assert.deepEqual(temporary.reader.queryLog.get(1)?.final_pages, []);
});

test('results and feedback of a merged page become those of the page that it became', async () => {
  await using temporary = await libraryOf([mobile, { body: null }], [video, { body: 'a longer text' }]);
  const final_pages = [1, 2].map((page_no) => ({ page_no, score: 1 / page_no, rank: page_no }));
  await temporary.commit(({ queryLog }) => {
    queryLog.append(1, queryRun({ query_id: 'qr_1', candidate_set: hitsOf(1, 2), final_pages }));
    queryLog.append(2, queryRun({ query_id: 'qr_2', final_pages: final_pages.slice(0, 1) }));
  });
  await temporary.commit(giveFeedback({ query_id: 'qr_1', page_id: idOf('page', 1), relevant: true }));
  await temporary.commit(readdress([1, 2]));
  await temporary.commit(purgeFromLog(new Set([1]), 0));
  const { queryLog } = temporary.reader;
  for (const no of [1, 2]) assert.equal(pluck(queryLog.get(no)?.final_pages ?? [], 'page_no').join(), '2');
  assert.deepEqual([...queryLog.feedback(1)], [[2, true]]);
  await temporary.commit(giveFeedback({ query_id: 'qr_2', page_id: idOf('page', 1), relevant: false }));
  assert.deepEqual([...queryLog.feedback(2)], [[2, false]]);
});

test('blocked addresses keep blocking, and a page does not move to one', async () => {
  await using temporary = await libraryOf(
    [shared],
    ['https://example.com/b?mc_cid=2'],
    ['https://example.com/c?mc_cid=3'],
  );
  const block = (pattern: string, made: CanonicalizeSettings) =>
    temporary.commit(beginForget({ kind: 'url', pattern, settings: made, reason: null, at: 1 }));
  await block(video, earlier);
  await block('https://example.com/a?mc_cid=1', earlier);
  await block('https://example.com/c', settings);
  await temporary.commit(beginForget({ kind: 'domain', pattern: 'amp.reddit.com', reason: null, at: 1 }));
  await temporary.commit(beginForget({ kind: 'domain', pattern: 'blocked.example', reason: null, at: 1 }));
  const { pages, blacklist } = temporary.reader;
  const { moved, erased } = await temporary.commit(readdress([1, 2, 3]));
  assert.deepEqual([moved, pluck(erased, 'page_no')], [1, [3]], 'page 3 was forgotten by the current rules');
  const urls = [1, 2].map((no) => pages.get(no)?.canonical_url);
  assert.deepEqual(urls, [shared, 'https://example.com/b']);
  const blocked: Record<string, string | undefined> = {
    'https://example.com/a?mc_cid=1': 'https://example.com/a?mc_cid=1',
    'https://example.com/a?mc_cid=2': undefined,
    'https://example.com/a': undefined,
    [video]: video,
    [shared]: video,
    'https://amp.reddit.com/r/a': 'amp.reddit.com',
    'https://www.reddit.com/r/a': undefined,
    'https://web.archive.org/web/2020/https://www.blocked.example/x': 'blocked.example',
  };
  for (const [url, pattern] of Object.entries(blocked)) {
    const canonical = canonicalizeUrl(url, settings);
    if ('invalid' in canonical) throw new TypeError(canonical.invalid);
    assert.equal(blacklist.match({ ...canonical, original_url: url })?.pattern, pattern, url);
  }
});

test('the progress belongs to its settings', async () => {
  await using temporary = await libraryOf([shared]);
  const { pages } = temporary.reader;
  assert.equal(pages.addressesDoneTo(addressesKey(settings)), 0);
  await temporary.commit(readdress([1], 1));
  await temporary.reopen();
  const done = (asked: CanonicalizeSettings) => temporary.reader.pages.addressesDoneTo(addressesKey(asked));
  assert.deepEqual([done(settings), done({ ...settings, known_addresses: false })], [1, 0]);
});
