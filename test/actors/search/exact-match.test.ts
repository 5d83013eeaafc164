/** What a search makes of a query that is a title, a URL, a host or a quoted phrase: contract "Search", exact_match. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeExplainer, presentPage, textsOf } from '../../../src/actors/search/present-page.ts';
import { queryRanker } from '../../../src/actors/search/rank-query.ts';
import type { SystemAsk } from '../../../src/actors/system/service.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { defaultTrackingParams } from '../../../src/compute/web/canonical-url.ts';
import { type SearchRequest, searchRequest } from '../../../src/domain/search.ts';
import { submission } from '../../commands/submissions.ts';
import { Shelf } from '../shelf.ts';

/** Pages 1 to 4 are indexed, page 5 waits; the index finds page 1, then 2, unless told otherwise. */
async function shelfOfHerons() {
  const shelf = await Shelf.open();
  const first = await shelf.add({ title: 'Wading birds', text: 'the grey heron stands still' });
  const second = await shelf.add({ title: 'The Grey  Heron', text: 'Ardea cinerea is grey; heron it is' });
  await shelf.add({ title: 'the grey heron', text: 'another' });
  await shelf.add({ title: 'Elsewhere', text: 'nothing of the kind' });
  const waiting = { canonical_url: 'https://example.com/5', title: 'The grey heron', body: 'x' };
  await shelf.temporary.commit(ingestPage(submission(waiting)));
  shelf.finds = { m1: { sparse: [first, second], dense: [] } };
  return shelf;
}

function ranker(shelf: Shelf, ask: SystemAsk = shelf.ask) {
  return queryRanker({
    ask,
    reader: shelf.reader,
    canonicalize: { tracking_params: defaultTrackingParams, keep_params: {} },
    localReranker: true,
    outsideReranker: null,
    onRerankDegraded: () => {},
    recencyHalfLifeDays: null,
    now: () => 1000,
    monotonic: () => 0,
  });
}

/** Of each result the number of its page, and whether it is an exact match. */
async function results(shelf: Shelf, request: Partial<SearchRequest> & { query: string }) {
  const ranking = await ranker(shelf)(searchRequest.parse(request));
  const { quoting, relevanceOf } = ranking;
  const explain = placeExplainer(ranking);
  const presentation = { chunks_per_page: 2, quoting, explain, relevanceOf, readText: textsOf(shelf.reader) };
  return ranking.pages.map((each) => {
    const result = presentPage(shelf.reader, each, presentation);
    assert.ok(result !== null);
    assert.ok(result.chunks.length > 0, 'every result has passages');
    return `${Number(result.page_id.slice(3))}${result.exact_match ? ' exact' : ''}`;
  });
}

/** Of each result the number of its page, and what of the page the query is. */
async function places(shelf: Shelf, query: string) {
  const { pages } = await ranker(shelf)(searchRequest.parse({ query }));
  return pages.map(({ page_no, exact }) => `${page_no} ${exact}`);
}

test('pages whose title the query is come first, found or not; those that wait to be indexed do not', async () => {
  await using shelf = await shelfOfHerons();
  for (const query of ['the grey heron', ' THE   grey heron'])
    assert.deepEqual(await results(shelf, { query }), ['2 exact', '3 exact', '1'], query);
  // In quotation marks it is a phrase, too, which page 1 holds.
  for (const query of ['"The grey heron"', '“the Grey heron”'])
    assert.deepEqual(await results(shelf, { query }), ['2 exact', '3 exact', '1 exact'], query);
});

test('a title with other punctuation is the query’s, and words of a few pages verbatim are a phrase', async () => {
  await using shelf = await Shelf.open();
  const titles = ['Вода: откуда она?', 'C#', 'C', '清水寺・京都', "It's a “Long” Road…"];
  const labels: number[] = [];
  for (const title of titles) labels.push(await shelf.add({ title, text: 'one two' }));
  shelf.finds = { m1: { sparse: [...labels], dense: [] } };
  // Words of the index are compared by one byte each.
  shelf.named = { titled: labels, verbatim: [] };
  for (const [at, query] of ['вода откуда она', 'c#', 'c', '清水寺 京都', "it's a long road"].entries()) {
    const exact = (await places(shelf, query)).filter((place) => !place.endsWith('null'));
    assert.deepEqual(exact, [`${at + 1} title`], query);
  }
  shelf.named = { titled: [], verbatim: labels.slice(3) };
  const query = 'one two three four';
  assert.deepEqual(await results(shelf, { query }), ['4 exact', '5 exact', '1', '2', '3']);
  const sixth = await shelf.add({ text: 'one two' });
  shelf.finds.m1.sparse.push(sixth);
  shelf.named.verbatim = [...labels, sixth];
  assert.doesNotMatch((await results(shelf, { query })).join(), /exact/, 'common words');
});

test('a query of white space is not the title of a page with an empty one', async () => {
  await using shelf = await Shelf.open();
  await shelf.add({ title: ' ', text: 'nameless' });
  for (const query of [' ', '\n', '\ufeff', '" "'])
    assert.deepEqual(await results(shelf, { query }), [], JSON.stringify(query));
});

test('a page whose URL the query is comes first, tracking parameters or not', async () => {
  await using shelf = await shelfOfHerons();
  for (const query of ['https://example.com/4', ' HTTPS://EXAMPLE.com/4?utm_source=x#part '])
    assert.equal((await results(shelf, { query }))[0], '4 exact', query);
});

test('an address is a page’s with another scheme or none, with www or a slash at its end, and with a fragment', async () => {
  await using shelf = await Shelf.open();
  await shelf.add({ url: 'https://example.com/4', text: 'a page' });
  await shelf.add({ url: 'http://www.birds.example/herons/?p=2', text: 'another' });
  const same = 'example.com/4 http://example.com/4 https://example.com/4/ http://www.example.com/4?utm_source=x';
  for (const query of [...same.split(' '), ' WWW.Example.com/4/#part '])
    assert.deepEqual(await places(shelf, query), ['1 url'], query);
  assert.deepEqual(await places(shelf, 'birds.example/herons?p=2'), ['2 url']);
  const others = 'example.com/40 m.example.com/4 birds.example/herons ftp://example.com/4 me@example.com/4 https://[';
  for (const query of [
    ...others.split(' '),
    ...'4 node.js and/or e.g.'.split(' '),
    'see example.com/4',
    'example.com /4',
  ])
    assert.deepEqual(await places(shelf, query), [], query);
});

test('of addresses that differ only so the one that the query is comes first; written otherwise it is all of them', async () => {
  await using shelf = await Shelf.open();
  for (const url of ['http://example.com/a', 'https://example.com/a/']) await shelf.add({ url, text: 'a page' });
  assert.deepEqual(await places(shelf, 'http://example.com/a'), ['1 url']);
  assert.deepEqual(await places(shelf, 'https://example.com/a/'), ['2 url']);
  assert.deepEqual(await places(shelf, 'example.com/a'), ['1 url', '2 url']);
});

test('pages of the host that the query is come behind its title and URL and before the others, which is no exact match', async () => {
  await using shelf = await Shelf.open();
  const labels: number[] = [];
  for (const at of ['a.example.org/1', 'else.example/', 'www.example.org/', 'example.org/b'])
    labels.push(await shelf.add({ url: `https://${at}`, text: 'heron' }));
  shelf.ofHost = new Set([1, 3, 4]);
  shelf.finds = { m1: { sparse: [labels[1], labels[3], labels[0], labels[2]], dense: [] } };
  assert.deepEqual(await places(shelf, 'example.org'), ['3 url', '4 host', '1 host', '2 null']);
  assert.deepEqual(await results(shelf, { query: 'example.org' }), ['3 exact', '4', '1', '2']);
});

test('a title is found however its apostrophes and quotation marks are shaped', async () => {
  await using shelf = await Shelf.open();
  const journeys = ["It's the “journey”", 'It’s the “journey”', 'It\'s the "journey"'];
  for (const title of [...journeys, 'Комп’ютер', 'Компʼютер', '‘Hush’'])
    await shelf.add({ title, text: 'nothing of the kind' });
  const found = async (query: string) => (await results(shelf, { query })).map((each) => Number.parseInt(each, 10));
  assert.deepEqual(await found('it\'s the "journey"'), [2, 3]);
  assert.deepEqual(await found('IT’S THE “journey”'), [2, 3]);
  assert.deepEqual(await found("it's the “journey”"), [1, 2, 3], 'mixed marks as they are written');
  assert.deepEqual(await found("комп'ютер"), [4, 5]);
  assert.deepEqual(await found('компʼютер'), [4, 5]);
  assert.deepEqual(await found('"\'hush\'"'), [6]);
});

test('a quoted phrase is found however its apostrophes and quotation marks are shaped', async () => {
  await using shelf = await Shelf.open();
  const curly = await shelf.add({ title: 'A road', text: 'They say it’s the journey, ‘not’ the inn.' });
  const straight = await shelf.add({ title: 'Another', text: "They say it's the journey, 'not' the inn." });
  const letter = await shelf.add({ title: 'It\u02bcs the journey that counts', text: 'and nothing else' });
  const other = await shelf.add({ title: 'Its the journey', text: 'its the journey' });
  shelf.finds = { m1: { sparse: [curly, straight, letter, other], dense: [] } };
  for (const query of ['"it\'s the journey"', '“it’s the journey”', '«it‘s the  Journey»', '"it＇s the journey"'])
    assert.deepEqual(await results(shelf, { query }), ['1 exact', '2 exact', '3 exact', '4'], query);
  assert.deepEqual(await results(shelf, { query: '"journey, \'not\' the"' }), ['1 exact', '2 exact', '3', '4']);
});

test('pages that hold every phrase that the query quotes come first, and are marked', async () => {
  await using shelf = await shelfOfHerons();
  assert.deepEqual(await results(shelf, { query: 'birds that are "Ardea  CINEREA"' }), ['2 exact', '1']);
  assert.deepEqual(await results(shelf, { query: '"ardea cinerea" and "stands still"' }), ['1', '2']);
});

test('where no word is known only a title or URL is found, and else nothing', async () => {
  await using shelf = await shelfOfHerons();
  shelf.finds = {};
  assert.deepEqual(await results(shelf, { query: 'elsewhere' }), ['4 exact']);
  assert.deepEqual(await results(shelf, { query: 'qwxz' }), []);
});

test('what the filters forbid is not put first', async () => {
  await using shelf = await Shelf.open();
  await shelf.add({ title: 'The grey heron', text: 'it stands still', seen_at: 1000 });
  await shelf.add({ title: 'the grey heron', text: 'it flies', seen_at: 5000 });
  const filters = { after: '1970-01-01T00:00:04Z' };
  assert.deepEqual(await results(shelf, { query: 'the grey heron', filters }), ['2 exact']);
  assert.deepEqual(await results(shelf, { query: 'https://example.com/1', filters }), []);
});

test('the filters reach the index as instants and as a plain domain', async () => {
  await using shelf = await shelfOfHerons();
  const filters = { domain: 'Example.COM', after: '2026-01-01T00:00:00+01:00', before: null };
  await results(shelf, { query: 'heron', candidates: 7, filters });
  const [{ candidates, model, filters: asked }, ...others] = shelf.retrievals;
  assert.deepEqual([candidates, model, others], [7, 'm1', []]);
  const after = Date.parse('2025-12-31T23:00:00Z');
  const open = { before: null, published_after: null, published_before: null, pages: null };
  assert.deepEqual(asked, { ...open, domain: 'example.com', after });
});
