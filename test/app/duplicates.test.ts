/** Pages that are one page show as one result: by their addresses, or by nearly the same text; pages of results stay full. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchRequest } from '../../src/domain/search.ts';
import { WholeSystem } from './whole-system.ts';

const sentences: Record<string, (no: number) => string> = {
  heron: (no) =>
    `On day ${no} the heron stood at pond ${no * 7}, and boat ${no * 13} went past with ${no * 17} people.`,
  цапля: (no) => `В день ${no} цапля стояла у пруда ${no * 7}, и лодка ${no * 13} прошла мимо с ${no * 17} людьми.`,
  青鷺: (no) => `${no}日目に青鷺は池${no * 7}に立ち、舟${no * 13}は${no * 17}人を乗せて通り過ぎた。`,
};
const views = [
  'https://birds.example/story',
  'http://www.birds.example/story/',
  'https://m.birds.example/story',
  'https://birds.example/story/amp',
  'https://birds.example/print/story',
  'https://birds.example/story?reader=8',
];

test('addresses of one text are a result with the others, and no other page is', async (t) => {
  const system = await WholeSystem.start(t);
  const textOf = (word: string, from: number) =>
    Array.from({ length: 20 }, (_, at) => sentences[word](from + at)).join(' ');
  const pages = Object.keys(sentences).flatMap((word, language) => [
    ...views.map((url) => ({
      url: `${url}${url.includes('?') ? '&' : '?'}n=${word}`,
      title: word,
      text: textOf(word, 1),
    })),
    { url: `https://paper.example/${language}`, title: `${word} – The Paper`, text: `${textOf(word, 1)} (AP)` },
    ...[1, 2].map((no) => ({
      url: `https://shop.example/${word}/${no}`,
      title: `${word} ${no}`,
      text: textOf(word, 1),
    })),
    ...[1, 2].map((no) => ({ url: `https://other.example/${word}/${no}`, title: word, text: textOf(word, 100 * no) })),
  ]);
  const submitted = pages.map(({ url, title, text }) => ({ url, title, body_extracted: text }));
  const page_ids = await system.submit(submitted);
  await system.settled(page_ids);
  // An unfinished query is searched by words alone.
  const search = (query: string, fields: Partial<SearchRequest> = {}) =>
    system.search(query, { prefix: true, ...fields });

  for (const query of Object.keys(sentences)) {
    for (const rerank of [true, false]) {
      const found = await search(query, { rerank });
      assert.deepEqual(found.results.map(({ duplicates }) => duplicates.length).sort(), [0, 0, 0, 0, 6], query);
      const [whole] = found.results.filter(({ duplicates }) => duplicates.length > 0);
      const urls = [whole, ...whole.duplicates].map(({ canonical_url }) => new URL(canonical_url).hostname);
      assert.equal(urls.filter((host) => host.endsWith('birds.example')).length, 6);
    }
    const apart = await search(query, { collapse: false, k: 20 });
    assert.deepEqual(
      [apart.results.length, apart.results.every(({ duplicates }) => duplicates.length === 0)],
      [11, true],
    );
    for (const sort of ['newest', 'oldest', 'most_visited'] as const) {
      const { results, facets, has_more } = await search(query, { sort, facets: true, k: 5 });
      assert.deepEqual(results.map(({ duplicates }) => duplicates.length).sort(), [0, 0, 0, 0, 6], `${query} ${sort}`);
      assert.deepEqual([facets?.total, has_more], [5, false]);
      const parts = [await search(query, { sort, k: 3 }), await search(query, { sort, k: 3, offset: 3 })];
      const inParts = parts.flatMap((part) => part.results.map(({ page_id }) => page_id));
      assert.deepEqual([inParts, parts[0].has_more], [results.map(({ page_id }) => page_id), true]);
      assert.equal((await search(query, { sort, k: 20, collapse: false })).results.length, 11);
    }
    const { facets } = await search(query, { facets: true });
    const shopping = facets?.site.find(({ value }) => value === 'shop.example');
    assert.deepEqual([facets?.total, shopping?.count], [5, 2], 'counts are of what the list shows');
    assert.equal((await search(query, { facets: true, collapse: false })).facets?.total, 11);
    const [first, rest] = [await search(query, { k: 3 }), await search(query, { k: 3, offset: 3 })];
    assert.deepEqual([first.results.length, first.has_more, rest.results.length, rest.has_more], [3, true, 2, false]);
    const shown = new Set(
      [...first.results, ...rest.results].flatMap((each) => [each, ...each.duplicates]).map(({ page_id }) => page_id),
    );
    assert.equal(shown.size, 11, 'each page once');
    const suggested = (await search(query, { k: 5 })).suggestions.filter(({ page_id }) => shown.has(page_id));
    assert.deepEqual(suggested, [], 'nothing is suggested that is shown');
  }
});
