/** What is suggested beside results by nearness: nothing rather than noise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediation } from '../../../src/actors/search/mediation.ts';
import type { SystemAsk, SystemRequestOf } from '../../../src/actors/system/service.ts';
import { idOf } from '../../../src/domain/values.ts';
import { Shelf } from '../shelf.ts';

const pages = ['Herons', 'Egrets', 'Everything', 'Storks', 'A title that is longer than forty characters are, by some'];

type Asked = SystemRequestOf<'index.relatedPages'>;

/** A shelf of these pages, and suggestions of the pages given, each with the one that it is related to, best first. */
async function suggesting(...related: [page_no: number, to: number][]) {
  const shelf = await Shelf.open();
  for (const title of pages) await shelf.add({ title, text: 'word' });
  const asked: Asked[] = [];
  const ask = (async (name: string, request: Asked) => {
    assert.equal(name, 'index.relatedPages');
    asked.push(request);
    return related.map(([page_no, to], at) => ({ page_no, to, score: 0.9 - at / 10 }));
  }) as unknown as SystemAsk;
  const { suggest } = mediation({ ask, reader: shelf.reader });
  const wanted = { suggest: 3, mediation: 'vector', filters: null } as const;
  return {
    asked,
    suggested: (...ranked: [page_no: number, relevance: number | null][]) =>
      suggest(
        wanted,
        'm1',
        ranked.map(([page_no, relevance]) => ({ page_no, relevance })),
      ),
    [Symbol.asyncDispose]: () => shelf[Symbol.asyncDispose](),
  };
}

const told = (no: number, reason: string) => ({ page_id: idOf('page', no), title: pages[no - 1], reason });

test('each related page is suggested, and names the result that it is related to', async () => {
  await using shelf = await suggesting([4, 5], [2, 1]);
  assert.deepEqual(await shelf.suggested([1, 0.9], [5, null]), [
    told(4, 'close to “A title that is longer than forty charac…”'),
    told(2, 'close to “Herons”'),
  ]);
});

test('pages are sought that are related to the likeliest results, and are no results', async () => {
  await using shelf = await suggesting();
  assert.deepEqual(await shelf.suggested([3, 0.9], [1, 0.49], [4, null], [5, 0.8]), []);
  const none = { domain: null, after: null, before: null, pages: null };
  const filters = { ...none, published_after: null, published_before: null };
  assert.deepEqual(shelf.asked, [{ model: 'm1', page_nos: [3, 4], k: 3, few: 2, except: [3, 1, 4, 5], filters }]);
});

test('nothing is suggested, nor sought, beside results that are not likely to be about the query', async () => {
  await using shelf = await suggesting([2, 1]);
  assert.deepEqual(await shelf.suggested([1, 0.49], [3, 0.1]), []);
  assert.deepEqual(await shelf.suggested(), []);
  assert.deepEqual(shelf.asked, []);
});
