/** What is suggested beside results by nearness: nothing rather than noise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediation } from '../../../src/actors/search/mediation.ts';
import type { SystemAsk, SystemRequestOf } from '../../../src/actors/system/system-messages.ts';
import { idOf } from '../../../src/domain/ids.ts';
import { Shelf } from '../shelf.ts';

const pages = ['Herons', 'Egrets', 'Everything', 'Storks', 'A title that is longer than forty characters are, by some'];

/** A shelf of these pages, and suggestions by nearest pages as given: of each page number, the nearest first. */
async function suggesting(nearest: Record<number, number[]>) {
  const shelf = await Shelf.open();
  for (const title of pages) await shelf.add({ title, text: 'word' });
  const asked: number[] = [];
  const ask = (async (name: string, request: SystemRequestOf<'index.nearEach'>) => {
    assert.equal(name, 'index.nearEach');
    asked.push(...request.page_nos);
    return request.page_nos.map((no) =>
      (nearest[no] ?? []).slice(0, request.k).map((page_no, at) => ({ page_no, score: 0.9 - at / 10 - no / 100 })),
    );
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

test('a page is suggested where it and a result are among the nearest of each other; one near to everything is not', async () => {
  await using shelf = await suggesting({ 1: [3, 2], 2: [1, 3], 3: [4, 5] });
  assert.deepEqual(await shelf.suggested([1, 0.9]), [told(2, 'close to “Herons”')]);
});

test('results are not suggested, and each suggestion names the result it is nearest to', async () => {
  await using shelf = await suggesting({ 1: [5, 2], 2: [1, 5], 4: [5, 1], 5: [4, 1] });
  assert.deepEqual(await shelf.suggested([1, 0.9], [2, 0.8]), [told(5, 'close to “Herons”')]);
  await using other = await suggesting({ 2: [1, 4], 4: [5, 2], 5: [4, 2] });
  assert.deepEqual(await other.suggested([5, null]), [told(4, 'close to “A title that is longer than forty charac…”')]);
});

test('nothing is suggested, nor sought, beside results that are not likely to be about the query', async () => {
  await using shelf = await suggesting({ 1: [2], 2: [1] });
  assert.deepEqual(await shelf.suggested([1, 0.49], [3, 0.1]), []);
  assert.deepEqual(await shelf.suggested(), []);
  assert.deepEqual(shelf.asked, []);
});
