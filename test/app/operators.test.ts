/** What a query asks for beside its words: phrases, operators, a language; and its last word, while it is typed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SearchRequest } from '../../src/domain/search.ts';
import { realEncoder } from '../process/service.ts';
import { once, untilEnd, WholeSystem } from './whole-system.ts';

const pages: { url: string; body_extracted: string }[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/operators-pages.json'), 'utf8'),
);

/** What is visited again in a test is visited after the tests of what was seen last. */
const library = once(async () => {
  const system = await WholeSystem.start(untilEnd, realEncoder);
  const page_ids = await system.submit(pages);
  await system.settled(page_ids);
  await system.filled();
  const names = new Map(page_ids.map((page_id, i) => [page_id, pages[i].url.replace(/^https:\/\/(?:www\.)?/, '')]));
  const search = (query: string, fields: Partial<SearchRequest> = {}) =>
    system.search(query, { min_relevance: 0, ...fields });
  const found = async (query: string, fields: Partial<SearchRequest> = {}) =>
    (await search(query, { operators: true, ...fields })).results.map(({ page_id }) => names.get(page_id)).sort();
  return { system, search, found };
});

const [heron, egret, boat, reiher] = [
  'birds.example/heron',
  'birds.example/egret',
  'boats.example/heron',
  'boats.example/reiher',
];

test('operators say which pages are wanted', async () => {
  const { found } = await library();
  for (const rerank of [true, false]) {
    const is = async (query: string, ...expected: string[]) =>
      assert.deepEqual(await found(query, { rerank }), expected.sort(), query);
    await is('heron', heron, egret, boat, reiher);
    await is('heron site:birds.example', heron, egret);
    await is('heron site: birds.example site:www.birds.example', heron, egret);
    await is('heron -site:birds.example', boat, reiher);
    await is('site:boats.example', boat, reiher);
    await is('heron -egret', heron, boat, reiher);
    await is('heron -egrets -rowing', heron, reiher);
    await is('river "had it been there"', egret);
    await is('heron -"any eye"', egret, boat, reiher);
    await is('title:heron', egret);
    await is('title:herons river', egret);
    await is('river -title:heron', heron, boat);
    await is('heron author:lima', heron);
    await is('author:"Ana Lima"', heron);
    await is('heron lang:de', reiher);
    await is('heron -lang:de', heron, egret, boat);
    await is('heron after:2025 before:2026-03-06', egret, boat);
    await is('heron before:2025', heron);
    await is('heron site:boats.example lang:en "Nobody rowed it"', boat);
    await is('heron "rowed nobody"');
    await is('heron tag:marsh', heron, boat);
    await is('heron -tag:MARSH', egret, reiher);
    await is('heron folder:nature -folder:nature/birds', boat);
    await is('heron source:import:pocket', boat);
    await is('heron type:html', heron, egret, boat, reiher);
    await is('heron -type:html');
    await is('url:birds.example heron', heron, egret);
    await is('heron url:boats.example/reiher', reiher);
    await is('-url:heron', egret, reiher);
    await is('egr*', egret);
    await is('heron -wad*', egret, boat, reiher);
    await is('row* OR egret', egret, boat);
    await is('river tag:marsh OR lang:de', heron, boat, reiher);
    await is('heron tag:quiet OR -site:birds.example', heron, boat, reiher);
    await is('"grey heron" OR "nobody rowed"', heron, boat);
    await is('heron is:starred', heron);
    await is('heron -is:starred is:read', egret, reiher);
    await is('heron is:unread OR is:archived', heron, boat);
    await is('heron in:title', egret);
    await is('heron -in:title', heron, boat, reiher);
    await is('heron -after:2026', heron, egret);
    await is('heron or egret', heron, egret, boat, reiher);
    await is('heron site:nowhere.example');
  }
  assert.deepEqual(await found('heron', { filters: { lang: 'de' } }), [reiher]);
  for (const [filters, expected] of [
    [{ tag: 'Marsh' }, [heron, boat]],
    [{ tag: 'marsh', folder: 'nature/birds' }, [heron]],
    [{ source: 'import:pocket' }, [boat]],
    [{ type: 'html', domain: 'birds.example' }, [heron, egret]],
    [{ type: 'pdf' }, []],
    [{ is: 'unread' }, [boat]],
  ] as const)
    assert.deepEqual(await found('heron', { filters }), [...expected].sort(), JSON.stringify(filters));
  // Noon of UTC's fifth is the sixth there.
  assert.deepEqual(await found('heron after:2026-03-06'), [reiher]);
  assert.deepEqual(await found('heron after:2026-03-06', { tz: 'Pacific/Kiritimati' }), [boat, reiher]);
  const published = (published_after: string | null, published_before: string | null = null) =>
    found('heron', { filters: { published_after, published_before } });
  assert.deepEqual(await published('2023-06-01T06:00:00Z'), [egret, heron], 'the others say nothing of it');
  assert.deepEqual(await published('2023-06-01T06:00:01Z'), [egret]);
  assert.deepEqual(await published(null, '2025-01-01T00:00:00Z'), [heron]);
  assert.deepEqual(
    await found('The heron question', { operators: false, filters: { published_before: '2024-01-01T00:00:00Z' } }),
    [heron],
  );
  assert.deepEqual(await found('heron site:birds.example', { filters: { domain: 'boats.example' } }), []);
});

test('operators without a word to search for give the pages that were seen last', async () => {
  const { system, found } = await library();
  const ordered = async (query: string) => {
    const { results } = await system.search(query, { operators: true });
    for (const { chunks } of results) assert.equal(chunks.length, 1);
    return results.map(({ canonical_url }) => canonical_url.replace(/^https:\/\/(?:www\.)?/, ''));
  };
  assert.deepEqual(await ordered('lang:de'), [reiher]);
  assert.deepEqual(await ordered('after:2025-03'), [reiher, boat, egret]);
  assert.deepEqual(await ordered('after:2025-03 -lang:de'), [boat, egret]);
  assert.deepEqual(await ordered('-egret'), [reiher, boat, heron]);
  assert.deepEqual(await ordered('site:boats.example'), [reiher, boat]);
  assert.deepEqual(await ordered('site:example'), [reiher, boat, egret, heron], 'all below a name');
  assert.deepEqual(await ordered('site:boats.example site:birds.example -lang:de'), [boat, egret, heron]);
  assert.deepEqual(await ordered('before:1999'), []);
  assert.deepEqual(await found('lang:de', { operators: false }), [], 'without operators it is text');
  assert.deepEqual(await found('   '), [], 'nothing was asked for');
});

test('other orders and counts include all pages that match the words; if none does, the candidates', async () => {
  const { system, search } = await library();
  const visit = { url: pages[1].url, fetched_at: '2025-03-06T10:00:00Z' };
  await system.ask('page.ingest', visit);
  const inOrder = async (query: string, fields: Partial<SearchRequest>) => {
    const { results, has_more, facets } = await search(query, { operators: true, ...fields });
    const addresses = results.map(({ canonical_url }) => canonical_url.replace(/^https:\/\/(?:www\.)?/, ''));
    return { addresses, has_more, facets, results };
  };
  for (const [query, fields, expected] of [
    ['heron', { sort: 'newest' }, [reiher, boat, egret, heron]],
    ['heron', { sort: 'oldest' }, [heron, egret, boat, reiher]],
    ['heron', { sort: 'most_visited' }, [egret, reiher, boat, heron]],
    ['heron', { sort: 'newest', candidates: 1 }, [reiher, boat, egret, heron]],
    ['heron', { sort: 'newest', k: 2, offset: 2 }, [egret, heron]],
    ['heron', { sort: 'newest', offset: 9 }, []],
    ['heron tag:marsh', { sort: 'newest' }, [boat, heron]],
    ['heron "nobody rowed"', { sort: 'oldest' }, [boat]],
    ['tag:marsh', { sort: 'oldest' }, [heron, boat]],
    ['birds.example', { sort: 'newest' }, [egret, heron]],
    ['egr*', { sort: 'newest' }, [egret]],
    // The rarer word has most of the weight.
    ['egret river', { sort: 'newest' }, [egret]],
    ['hern', { sort: 'newest', filters: { domain: 'boats.example' } }, [reiher, boat]],
    ['quuxly', { sort: 'newest', min_relevance: 0.5 }, []],
  ] as const) {
    const { addresses, results } = await inOrder(query, fields);
    assert.deepEqual(addresses, expected, `${query} ${JSON.stringify(fields)}`);
    for (const { chunks } of results) assert.ok(chunks.length > 0);
  }
  assert.equal((await inOrder('heron', { sort: 'newest', k: 2 })).has_more, true);
  assert.equal((await inOrder('heron', { sort: 'newest', k: 2, offset: 2 })).has_more, false);

  const values = (counts: readonly { value: string; count: number }[] = []) =>
    counts.map(({ value, count }) => [value, count]);
  const { facets } = await inOrder('heron', { facets: true, candidates: 1, tz: 'Pacific/Kiritimati' });
  assert.deepEqual(
    [
      facets?.total,
      ...[facets?.site, facets?.type, facets?.tag, facets?.folder, facets?.source, facets?.is].map(values),
    ],
    [
      4,
      [
        ['boats.example', 2],
        ['birds.example', 1],
        ['www.birds.example', 1],
      ],
      [['html', 4]],
      [
        ['Marsh', 2],
        ['Quiet', 1],
      ],
      [
        ['Nature', 1],
        ['Nature/Birds', 1],
      ],
      [['import:pocket', 1]],
      [
        ['read', 3],
        ['archived', 1],
        ['starred', 1],
        ['unread', 1],
      ],
    ],
  );
  assert.deepEqual(values(facets?.month).sort(), [
    ['2024-03', 1],
    ['2025-03', 1],
    ['2026-03', 1],
    ['2026-04', 1],
  ]);
  assert.deepEqual(values(facets?.lang), [
    ['en', 3],
    ['de', 1],
  ]);

  const candidates = (await inOrder('ships and sailing', { min_relevance: 0 })).addresses;
  const sorted = await inOrder('ships and sailing', { sort: 'newest', facets: true, min_relevance: 0 });
  const byTime = [reiher, boat, egret, heron].filter((each) => candidates.includes(each));
  assert.ok(candidates.length > 0);
  assert.deepEqual([sorted.addresses, sorted.facets?.total], [byTime, candidates.length]);
});

test('an operator that cannot be read is searched as text and reported', async () => {
  const { search } = await library();
  const { ignored_operators, results } = await search('heron after:blah', { operators: true });
  assert.deepEqual(ignored_operators, [{ operator: 'after:blah', reason: 'not a date' }]);
  assert.ok(results.length > 0);
  assert.equal('ignored_operators' in (await search('heron after:blah')), false);
});

test('without operators they are words, and pages that have a quoted phrase come first, wherever in the page it stands', async () => {
  const { search } = await library();
  const first = async (query: string) => {
    const { results } = await search(query);
    return [
      results[0]?.canonical_url.replace(/^https:\/\/(?:www\.)?/, ''),
      results[0]?.why.exact,
      results[0]?.exact_match,
    ];
  };
  assert.deepEqual(await first('"had it been there"'), [egret, 'phrase', true]);
  assert.deepEqual(await first('"as it had been available to any"'), [heron, 'phrase', true]);
  assert.deepEqual(await first('"who had come to it that day. Nobody rowed"'), [boat, 'phrase', true]);
  // A phrase over the border of two passages, and one of the title.
  const page = pages[2].body_extracted;
  const words = [...page.matchAll(/\S+/g)];
  for (let at = 0; at + 5 <= words.length; at += 7) {
    const quote = page.slice(words[at].index, words[at + 4].index + words[at + 4][0].length);
    assert.deepEqual(await first(`"${quote}"`), [boat, 'phrase', true], quote);
  }
  assert.deepEqual((await first('egret "the heron question"')).slice(0, 2), [egret, 'phrase']);
  assert.ok((await search('heron site:birds.example')).results.length > 2, 'a site is only a word');
});

test('a word that is not finished finds what it may become, if that is asked for', async () => {
  const { search } = await library();
  const urls = async (query: string, prefix: boolean) =>
    (await search(query, { prefix })).results.map(({ canonical_url }) =>
      canonical_url.replace(/^https:\/\/(?:www\.)?/, ''),
    );
  assert.equal((await urls('egr', true))[0], egret);
  assert.equal((await urls('the river egr', true))[0], egret);
  assert.equal((await urls('wait', true))[0], heron);
  assert.equal((await urls('Rei', true))[0], reiher);
  const { results, corrected } = await search('egre', { prefix: true });
  assert.deepEqual(corrected, [], 'a word that goes on is not misspelt');
  const [{ chunks }] = results;
  const [{ start, end }] = chunks[0].highlights;
  assert.equal(chunks[0].text.slice(start, end), 'egret');
});

test('an answer without results says why: what excludes all of them, or that nothing matches', async () => {
  const { search } = await library();
  const excluded = { reason: 'excluded', operators: [] as string[], filters: [] as string[], pages_waiting: 0 };
  const noMatch = { ...excluded, reason: 'no_match' };
  for (const [query, expected, fields = {}] of [
    ['heron', null],
    ['heron', null, { offset: 50 }],
    ['quuxly', noMatch, { min_relevance: 0.5 }],
    ['quuxly -heron', noMatch],
    ['   ', noMatch, { min_relevance: 0.5 }],
    ['heron -herons', { ...excluded, operators: ['-herons'] }],
    ['egret -site:birds.example lang:en', { ...excluded, operators: ['-site:birds.example'] }],
    ['heron -heron site:nowhere.example', { ...excluded, operators: ['-heron', 'site:nowhere.example'] }],
    ['heron "rowed nobody" after:2024', { ...excluded, operators: ['"rowed nobody"'] }],
    ['heron site:boats.example before:2026', { ...excluded, operators: ['site:boats.example', 'before:2026'] }],
    [
      'heron "grey heron"',
      { ...excluded, operators: ['"grey heron"'], filters: ['domain'] },
      { filters: { domain: 'boats.example' } },
    ],
    [
      'heron lang:de',
      { ...excluded, operators: ['lang:de'], filters: ['domain'] },
      { filters: { domain: 'birds.example' } },
    ],
    // What keeps only pages below the best candidate excludes nothing by itself, and of several together those are named that have a part in it.
    [
      'egret heron river site:boats.example -rowed -lang:de',
      { ...excluded, operators: ['site:boats.example', '-rowed', '-lang:de'] },
      { candidates: 1 },
    ],
    [
      'egret heron river after:2026-04 -lang:de',
      { ...excluded, operators: ['after:2026-04', '-lang:de'] },
      { candidates: 1, filters: { domain: 'boats.example' } },
    ],
    [
      'egret heron river -rowed -reiher',
      { ...excluded, operators: ['-rowed', '-reiher'], filters: ['domain'] },
      { candidates: 1, filters: { domain: 'boats.example' } },
    ],
    ['heron -heron -heron', { ...excluded, operators: ['-heron'] }],
    ['site:birds.example -title:heron -river', { ...excluded, operators: ['site:birds.example', '-river'] }],
    ['site:nowhere.example', { ...excluded, operators: ['site:nowhere.example'] }],
    ['after:2020 before:1999', { ...excluded, operators: ['before:1999'] }],
    ['heron', { ...excluded, filters: ['cluster_id'] }, { filters: { cluster_id: 'cl_00000009', lang: 'en' } }],
  ] as const) {
    const { no_results } = await search(query, { operators: true, ...fields });
    assert.deepEqual(no_results, expected, `${query} ${JSON.stringify(fields)}`);
  }
});

test('an operator that is still typed excludes nothing yet', async () => {
  const { found } = await library();
  const all = [heron, egret, boat, reiher].sort();
  for (const [query, expected] of [
    ['heron -heron', all],
    ['heron site:bird', all],
    ['heron site:birds.example', [heron, egret]],
    ['heron title:her', all],
    ['heron title:heron', [egret]],
    ['heron after:2030', all],
    ['heron lang:de', [reiher]],
    ['heron -herons ', []],
    ['heron -"heron"', []],
  ] as const)
    assert.deepEqual(await found(query, { prefix: true }), [...expected].sort(), query);
});

test('what is found in passing while somebody types is found in full, too', async () => {
  const { system } = await library();
  for (const whole of [
    ...['title:herons', 'heron lang:en', 'heron before:2027-01', 'had been available', 'grey heron waits'],
    ...['reiher am fluss wartet', 'heron site:boats.example', 'tag:quiet heron', 'url:boats.example heron'],
  ])
    for (const part of [1, 2, 3, 4]) {
      const query = whole.slice(0, Math.ceil((whole.length * part) / 4)).trimEnd();
      const urls = async (fields: Partial<SearchRequest>) =>
        (await system.search(query, { operators: true, prefix: true, ...fields })).results.map(
          (each) => each.canonical_url,
        );
      const stays = await urls({});
      const passes = await urls({ k: 5, rerank: false });
      assert.deepEqual(
        passes.filter((url) => !stays.includes(url)),
        [],
        query,
      );
      if (part === 4) assert.ok(stays.length > 0 && passes.length > 0, `${query} finds nothing`);
    }
});
