/** What a search makes of a query that is a title, a URL, a host or a quoted phrase: contract "Search", exact_match. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeExplainer, presentPage, textsOf } from '../../../src/actors/search/present-page.ts';
import { queryRanker } from '../../../src/actors/search/rank-query.ts';
import type { SystemAsk } from '../../../src/actors/system/service.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { defaultTrackingParams } from '../../../src/compute/web/canonical-url.ts';
import { type SearchRequest, searchRequest } from '../../../src/domain/search.ts';
import { idOf } from '../../../src/domain/values.ts';
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

async function results(shelf: Shelf, request: Partial<SearchRequest> & { query: string }, ask: SystemAsk = shelf.ask) {
  const rank = ranker(shelf, ask);
  const ranking = await rank(searchRequest.parse(request));
  const explain = placeExplainer(ranking);
  const { quoting } = ranking;
  const presentation = {
    chunks_per_page: 2,
    quoting,
    explain,
    relevanceOf: ranking.relevanceOf,
    readText: textsOf(shelf.reader),
  };
  return ranking.pages.map((each) => {
    const result = presentPage(shelf.reader, each, presentation);
    assert.ok(result !== null);
    assert.ok(result.chunks.length > 0, 'every result has passages');
    return [result.page_id, result.exact_match];
  });
}

/** What of each result the query is. */
async function places(shelf: Shelf, query: string) {
  const rank = ranker(shelf);
  const { pages } = await rank(searchRequest.parse({ query }));
  return pages.map(({ page_no, exact }) => [page_no, exact]);
}

const page = (no: number) => idOf('page', no);

test('pages whose title the query is come first, found or not; those that wait to be indexed do not', async () => {
  await using shelf = await shelfOfHerons();
  const expected = [
    [page(2), true],
    [page(3), true],
    [page(1), false],
  ];
  for (const query of ['the grey heron', ' THE   grey heron', '"The grey heron"', '“the Grey heron”']) {
    const found = await results(shelf, { query });
    // In quotation marks it is a phrase, too, which page 1 holds.
    const phrase = /["“]/.test(query);
    assert.deepEqual(found, phrase ? expected.map(([id]) => [id, true]) : expected, query);
  }
});

test('a title with other punctuation is the query’s, and words of a few pages verbatim are a phrase', async () => {
  await using shelf = await Shelf.open();
  const titles = ['Вода: откуда она?', 'C#', 'C', '清水寺・京都', "It's a “Long” Road…"];
  const labels: number[] = [];
  for (const title of titles) labels.push(await shelf.add({ title, text: 'one two' }));
  shelf.finds = { m1: { sparse: [...labels], dense: [] } };
  const named = [
    ['вода откуда она', 1],
    ['c#', 2],
    ['c', 3],
    ['清水寺 京都', 4],
    ["it's a long road", 5],
  ] as const;
  for (const [query, no] of named) {
    // Words of the index are compared by one byte each.
    shelf.named = { titled: labels, verbatim: [] };
    const exact = (await places(shelf, query)).filter(([, exact]) => exact !== null);
    assert.deepEqual(exact, [[no, 'title']], query);
  }
  shelf.named = { titled: [], verbatim: labels.slice(3) };
  assert.deepEqual(
    (await results(shelf, { query: 'one two three four' })).map(([, exact]) => exact),
    [true, true, false, false, false],
  );
  const sixth = await shelf.add({ text: 'one two' });
  shelf.finds.m1.sparse.push(sixth);
  shelf.named.verbatim = [...labels, sixth];
  assert.ok(
    (await results(shelf, { query: 'one two three four' })).every(([, exact]) => !exact),
    'common words',
  );
});

test('a query of white space is not the title of a page with an empty one', async () => {
  await using shelf = await Shelf.open();
  await shelf.add({ title: ' ', text: 'nameless' });
  shelf.finds = { m1: { sparse: [], dense: [] } };
  for (const query of [' ', '\n', '\ufeff', '" "'])
    assert.deepEqual(await results(shelf, { query }), [], JSON.stringify(query));
});

test('a page whose URL the query is comes first, tracking parameters or not', async () => {
  await using shelf = await shelfOfHerons();
  for (const query of ['https://example.com/4', ' HTTPS://EXAMPLE.com/4?utm_source=x#part ']) {
    assert.deepEqual((await results(shelf, { query }))[0], [page(4), true], query);
  }
});

test('an address is a page’s with another scheme or none, with www or a slash at its end, and with a fragment', async () => {
  await using shelf = await Shelf.open();
  await shelf.add({ url: 'https://example.com/4', text: 'a page' });
  await shelf.add({ url: 'http://www.birds.example/herons/?p=2', text: 'another' });
  for (const query of [
    'example.com/4',
    'http://example.com/4',
    'https://example.com/4/',
    ' WWW.Example.com/4/#part ',
    'http://www.example.com/4?utm_source=x',
  ]) {
    assert.deepEqual(await places(shelf, query), [[1, 'url']], query);
  }
  assert.deepEqual(await places(shelf, 'birds.example/herons?p=2'), [[2, 'url']]);
  for (const query of [
    'example.com/40',
    'm.example.com/4',
    'birds.example/herons',
    'ftp://example.com/4',
    'me@example.com/4',
    'see example.com/4',
    'example.com /4',
    '4',
    'node.js',
    'and/or',
    'e.g.',
    'https://[',
  ]) {
    assert.deepEqual(await places(shelf, query), [], query);
  }
});

test('of addresses that differ only so the one that the query is comes first; written otherwise it is all of them', async () => {
  await using shelf = await Shelf.open();
  for (const url of ['http://example.com/a', 'https://example.com/a/']) await shelf.add({ url, text: 'a page' });
  shelf.finds = {};
  assert.deepEqual(await places(shelf, 'http://example.com/a'), [[1, 'url']]);
  assert.deepEqual(await places(shelf, 'https://example.com/a/'), [[2, 'url']]);
  assert.deepEqual(await places(shelf, 'example.com/a'), [
    [1, 'url'],
    [2, 'url'],
  ]);
});

test('pages of the host that the query is come behind its title and URL and before the others, which is no exact match', async () => {
  await using shelf = await Shelf.open();
  const labels: number[] = [];
  for (const url of [
    'https://a.example.org/1',
    'https://else.example/',
    'https://www.example.org/',
    'https://example.org/b',
  ]) {
    labels.push(await shelf.add({ url, text: 'heron' }));
  }
  shelf.ofHost = new Set([1, 3, 4]);
  shelf.finds = { m1: { sparse: [labels[1], labels[3], labels[0], labels[2]], dense: [] } };
  assert.deepEqual(await places(shelf, 'example.org'), [
    [3, 'url'],
    [4, 'host'],
    [1, 'host'],
    [2, null],
  ]);
  assert.deepEqual(
    (await results(shelf, { query: 'example.org' })).map(([, exact]) => exact),
    [true, false, false, false],
  );
});

test('a title is found however its apostrophes and quotation marks are shaped', async () => {
  await using shelf = await Shelf.open();
  const titles = [
    "It's the “journey”",
    'It’s the “journey”',
    'It\'s the "journey"',
    'Комп’ютер',
    'Компʼютер',
    '‘Hush’',
  ];
  for (const title of titles) await shelf.add({ title, text: 'nothing of the kind' });
  shelf.finds = {};
  const found = async (query: string) => (await results(shelf, { query })).map(([id]) => id);
  const curly = [page(2), page(3)];
  assert.deepEqual(await found('it\'s the "journey"'), curly);
  assert.deepEqual(await found('IT’S THE “journey”'), curly);
  assert.deepEqual(await found("it's the “journey”"), [page(1), ...curly], 'mixed marks as they are written');
  assert.deepEqual(await found("комп'ютер"), [page(4), page(5)]);
  assert.deepEqual(await found('компʼютер'), [page(4), page(5)]);
  assert.deepEqual(await found('"\'hush\'"'), [page(6)]);
});

test('a quoted phrase is found however its apostrophes and quotation marks are shaped', async () => {
  await using shelf = await Shelf.open();
  const curly = await shelf.add({ title: 'A road', text: 'They say it’s the journey, ‘not’ the inn.' });
  const straight = await shelf.add({ title: 'Another', text: "They say it's the journey, 'not' the inn." });
  const letter = await shelf.add({ title: 'It\u02bcs the journey that counts', text: 'and nothing else' });
  const other = await shelf.add({ title: 'Its the journey', text: 'its the journey' });
  shelf.finds = { m1: { sparse: [curly, straight, letter, other], dense: [] } };
  for (const query of ['"it\'s the journey"', '“it’s the journey”', '«it‘s the  Journey»', '"it＇s the journey"']) {
    assert.deepEqual(
      await results(shelf, { query }),
      [
        [page(1), true],
        [page(2), true],
        [page(3), true],
        [page(4), false],
      ],
      query,
    );
  }
  assert.deepEqual(
    (await results(shelf, { query: '"journey, \'not\' the"' })).map(([, exact]) => exact),
    [true, true, false, false],
  );
});

test('pages that hold every phrase that the query quotes come first, and are marked', async () => {
  await using shelf = await shelfOfHerons();
  assert.deepEqual(await results(shelf, { query: 'birds that are "Ardea  CINEREA"' }), [
    [page(2), true],
    [page(1), false],
  ]);
  assert.deepEqual(await results(shelf, { query: '"ardea cinerea" and "stands still"' }), [
    [page(1), false],
    [page(2), false],
  ]);
});

test('where no word is known only a title or URL is found, and else nothing', async () => {
  await using shelf = await shelfOfHerons();
  shelf.finds = {};
  assert.deepEqual(await results(shelf, { query: 'elsewhere' }), [[page(4), true]]);
  assert.deepEqual(await results(shelf, { query: 'qwxz' }), []);
});

test('what the filters forbid is not put first', async () => {
  await using shelf = await Shelf.open();
  await shelf.add({ title: 'The grey heron', text: 'it stands still', seen_at: 1000 });
  await shelf.add({ title: 'the grey heron', text: 'it flies', seen_at: 5000 });
  const filters = { after: '1970-01-01T00:00:04Z' };
  assert.deepEqual(await results(shelf, { query: 'the grey heron', filters }), [[page(2), true]]);
  assert.deepEqual(await results(shelf, { query: 'https://example.com/1', filters }), []);
});

test('the filters reach the index as instants and as a plain domain', async () => {
  await using shelf = await shelfOfHerons();
  await results(shelf, {
    query: 'heron',
    candidates: 7,
    filters: { domain: 'Example.COM', after: '2026-01-01T00:00:00+01:00', before: null },
  });
  assert.deepEqual(shelf.retrievals, [
    {
      query: 'heron',
      phrases: [],
      clauses: { must: [], mustNot: [] },
      prefix: false,
      spelling: true,
      candidates: 7,
      model: 'm1',
      relevance: false,
      sketches: false,
      byWords: false,
      filters: {
        domain: 'example.com',
        after: Date.parse('2025-12-31T23:00:00Z'),
        before: null,
        published_after: null,
        published_before: null,
        pages: null,
      },
    },
  ]);
});
