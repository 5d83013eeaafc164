import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RankQuery } from '../../../src/actors/search/rank-query.ts';
import { querySuggester } from '../../../src/actors/search/suggest.ts';
import { appendRuns, purgeRunsBefore } from '../../../src/commands/log-queries.ts';
import { suggestResponse } from '../../../src/domain/search.ts';
import { queryRun } from '../../store/query-runs.ts';
import { Shelf } from '../shelf.ts';

const day = 86_400_000;
const now = 1000 * day;

const titles = [
  'Grey herons',
  'The heron and the river',
  'Herons nest',
  'Café culture',
  'Московское метро',
  '東京の電車',
];

/** A shelf of these pages, all of which every search by words finds; of three kinds there is one each that begins with `her`. */
async function suggesting() {
  const shelf = await Shelf.open();
  for (const title of titles) await shelf.add({ title, text: 'word' });
  await shelf.temporary.commit(({ entities, clusters }) => {
    const entity = { page_count: 2, parent: 0, children: [], tree_pages: 0 };
    const person = { ...entity, no: 1, type: 'person', key: 'herbert' };
    entities.put({ ...person, forms: [['Herbert', 2]] }, undefined);
    entities.put({ ...entity, no: 2, type: 'date', key: 'her day', forms: [['Her day', 1]] }, undefined);
    const places = [0, 7];
    entities.putPage(1, [
      { no: 1, forms: [['Herbert', places]] },
      { no: 2, forms: [['Her day', places]] },
    ]);
    const names = { label: 'nests, herons', labelled: false, keywords: ['nest', 'heron'] };
    clusters.put({ no: 1, ...names, size: 2, tombstoned: false, x: 0, y: 0, stale: false });
    clusters.putPoints(1, [{ page_no: 2, cluster_no: 1, probability: 1, x: 0, y: 0, since: false }]);
    clusters.note('current', 1);
  });
  const asked: unknown[] = [];
  shelf.answers['index.domains'] = (request: { beginning: string }) => {
    asked.push(request);
    return request.beginning === 'her' ? [{ domain: 'herons.example', pages: 3 }] : [];
  };
  const rank = (async (request: object) => {
    asked.push(request);
    return { pages: titles.map((_, at) => ({ page_no: at + 1 })) };
  }) as unknown as RankQuery;
  const { ask, reader, temporary } = shelf;
  const suggest = querySuggester({ ask, reader, rank, keepQueriesMs: 90 * day, now: () => now });
  let logged = 0;
  return {
    temporary,
    asked,
    /** Each a second after the one before. */
    log: (...runs: (readonly [text: string, changes?: object])[]) =>
      temporary.commit(
        appendRuns(
          runs.map(([query_text, changes]) => queryRun({ query_text, ts: now - day + 1000 * logged++, ...changes })),
        ),
      ),
    suggested: async (typed: string) =>
      suggestResponse.parse(await suggest(typed, undefined)).suggestions.map(({ kind, text }) => `${kind}: ${text}`),
    [Symbol.asyncDispose]: () => shelf[Symbol.asyncDispose](),
  };
}

const prefix = { params: { prefix: true } };

test('what has words that begin as typed is suggested, three of a kind and eight in all', async () => {
  await using shelf = await suggesting();
  const { suggested, log, asked } = shelf;
  await log(['heron food'], ['herons'], ['where do herons live'], ['Herons'], ['tomatoes']);
  const queries = ['query: Herons', 'query: heron food', 'query: where do herons live'];
  const pages = ['page: Herons nest', 'page: Grey herons'];
  const topic = 'cluster: nests, herons';
  for (const [typed, expected] of [
    ['her', [...queries, ...pages, 'domain: herons.example', 'entity: Herbert', topic]],
    ['HÉR', [...queries, ...pages, 'domain: herons.example', 'entity: Herbert', topic]],
    ['herons ', [queries[2], ...pages, topic]],
    ['herons nest', [pages[0], topic]],
    ['gre her', [pages[1]]],
    ['eron', []],
    ['herbert', ['entity: Herbert']],
    ['cafe', ['page: Café culture']],
    ['CAFÉ cul', ['page: Café culture']],
    ['моск', ['page: Московское метро']],
    ['МЕТРО', ['page: Московское метро']],
    ['電', ['page: 東京の電車']],
    ['京の電', ['page: 東京の電車']],
    ['tomatoes', []],
    ['…', []],
  ] as const) {
    assert.deepEqual(await suggested(typed), expected, typed);
  }
  asked.length = 0;
  await log(['heron -egret "grey"']);
  assert.deepEqual(await suggested('heron -egret'), ['query: heron -egret "grey"']);
  assert.deepEqual(asked, [], 'a query with operators has earlier queries only');
});

test('an earlier query is suggested that was finished and had a page, while both are stored', async () => {
  await using shelf = await suggesting();
  const { suggested, log, temporary } = shelf;
  const ofPage = (page_no: number) => ({ final_pages: [{ page_no, score: 1, rank: 1 }] });
  await log(['minced', { ts: now - 91 * day }], ['min'.padEnd(101, 'e')], ['mine shaft', { final_pages: [] }]);
  await log(['minec', prefix], ['minecraft'], ['mineral', prefix]);
  assert.deepEqual(await suggested('min'), ['query: mineral', 'query: minecraft']);
  await log(['minimum', ofPage(6)]);
  assert.deepEqual(await suggested('min'), ['query: minimum', 'query: mineral', 'query: minecraft']);
  await temporary.commit(({ pages }) => {
    const page = pages.get(6);
    if (page !== undefined) pages.remove(page);
  });
  assert.deepEqual(await suggested('min'), ['query: mineral', 'query: minecraft']);
  await temporary.commit(purgeRunsBefore(now));
  assert.deepEqual(await suggested('min'), []);
});
