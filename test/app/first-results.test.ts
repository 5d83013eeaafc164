/** What a person types into the search box, over a fixed library, and the page that must come first: words written otherwise, names of things, addresses, phrases, operators. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SearchRequest } from '../../src/domain/search.ts';
import { realEncoder } from '../process/service.ts';
import { WholeSystem } from './whole-system.ts';

/** Pages by name, and queries by kind with the page that comes first; `operators` as the console sets them. */
interface Expected {
  pages: Record<string, [url: string, title: string, text: string]>;
  queries: Record<string, [query: string, first: string | null, fields?: Partial<SearchRequest>][]>;
}
const { pages, queries }: Expected = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/first-results.json'), 'utf8'),
);

test('what a person types finds the page that it means first', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const page_ids = await system.submit(
    Object.values(pages).map(([address, title, body_extracted]) => ({
      url: `https://${address}`,
      title,
      body_extracted,
    })),
  );
  await system.settled(page_ids);
  await system.filled();
  const names = new Map(Object.keys(pages).map((name, i) => [page_ids[i], name]));
  for (const [kind, each] of Object.entries(queries)) {
    await t.test(kind, async () => {
      const wrong: string[] = [];
      for (const [query, expected, fields] of each) {
        const { results } = await system.search(query, fields);
        const found = results.length === 0 ? null : names.get(results[0].page_id);
        if (found !== expected) wrong.push(`${query}: ${found}, not ${expected}`);
      }
      assert.deepEqual(wrong, []);
    });
  }
  await t.test('other orders and counts leave out weak matches, unless a limit is set', async () => {
    for (const [fields, isListed] of [
      [{}, false],
      [{ min_relevance: 0 }, true],
    ] as const) {
      const { results, facets } = await system.search('people water', { sort: 'newest', facets: true, ...fields });
      const found = results.map(({ page_id }) => names.get(page_id));
      assert.deepEqual([found.includes('bonsai'), found.includes('jane')], [true, isListed]);
      assert.equal(facets?.total, found.length);
    }
    const { results, facets } = await system.search('town clock', { facets: true, k: 100 });
    assert.equal(facets?.total, results.length, 'each result is counted');
  });
});
