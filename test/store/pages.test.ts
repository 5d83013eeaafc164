import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PageMetadata } from '../../src/domain/metadata.ts';
import { foldTitle } from '../../src/domain/normalize-text.ts';
import type { Page } from '../../src/domain/page.ts';
import { chunkRow, pageRow } from '../machines/rows.ts';
import { pluck } from '../rows.ts';
import { TemporaryStore } from './temporary-store.ts';

const put = (temporary: TemporaryStore, page: Page, before?: Page) =>
  temporary.commit((transaction) => transaction.pages.put(page, before));

test('metadata come back exactly: odd keys, lone surrogates, depth, key order', async () => {
  await using temporary = await TemporaryStore.open();
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 1000; depth++) deep = depth % 2 === 0 ? [deep] : { deep };
  const metadata: PageMetadata[] = [
    {},
    JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":null,"":"","b":1,"a":2,"1":3}'),
    { 'lone \ud800': 'half \udc00 of a pair', 'nul \u0000': '\u0000\u2028' },
    { numbers: [0, -0.5, 1e300, Number.MAX_SAFE_INTEGER], nothing: null, yes: true },
    { deep },
  ];
  for (const [index, each] of metadata.entries()) {
    await put(temporary, pageRow({ no: index + 1, canonical_url: `https://example.com/${index}`, metadata: each }));
  }
  await temporary.reopen();
  const { pages } = temporary.reader;
  for (const [index, each] of metadata.entries()) {
    const stored = pages.get(index + 1)?.metadata;
    assert.equal(JSON.stringify(stored), JSON.stringify(each));
    assert.deepEqual(stored, each);
  }
  assert.equal(Object.hasOwn({}, 'polluted') || 'polluted' in {}, false);
});

test('a page is found by its URL, however long that is', async () => {
  await using temporary = await TemporaryStore.open();
  const urls = [10, 2000, 2001, 100_000, 100_001].map((length) => `https://example.com/${'x'.repeat(length)}`);
  for (const [index, canonical_url] of urls.entries()) await put(temporary, pageRow({ no: index + 1, canonical_url }));
  await temporary.reopen();
  const { pages } = temporary.reader;
  const numbers = urls.map((url) => pages.numberByUrl(url));
  assert.deepEqual(numbers, [1, 2, 3, 4, 5]);
  const stored = urls.map((_, index) => pages.get(index + 1)?.canonical_url);
  assert.deepEqual(stored, urls);
  assert.equal(pages.numberByUrl(`${urls[3]}y`), undefined);
  assert.equal(pages.count(), 5);
});

test('texts and chunk lists come back exactly, an empty text included', async () => {
  await using temporary = await TemporaryStore.open();
  const texts = ['', 'ASCII', 'Grüße, 世界 🜨\u0000 end', 'long '.repeat(200_000)];
  const chunks = [chunkRow(0, 4), chunkRow(4, 9, { token_count: 2, section_title: 'Two', section_start_s: 1.5 })];
  await temporary.commit((transaction) => {
    for (const [index, text] of texts.entries()) transaction.pages.putBody(index + 1, text, []);
    transaction.pages.putChunks(1, chunks);
    transaction.pages.putChunks(2, []);
  });
  await temporary.reopen();
  const { pages } = temporary.reader;
  for (const [index, text] of texts.entries()) assert.equal(pages.body(index + 1), text);
  assert.equal(pages.body(99), undefined);
  assert.deepEqual([pages.chunks(1), pages.chunks(2), pages.chunks(99)], [chunks, [], []]);
});

test('a page is found by its title, case and white space folded, oldest first, and no more by one that it had before', async () => {
  const titles = [null, 'One', ' ONE ', 'Two words', 'two \twords', ''];
  const change = fc.record({ no: fc.integer({ min: 1, max: 4 }), title: fc.constantFrom(...titles) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
      await using temporary = await TemporaryStore.open();
      const { pages } = temporary.reader;
      for (const { no, title } of changes) {
        const page = pageRow({ no, canonical_url: `https://example.com/${no}`, title });
        await temporary.commit((transaction) => transaction.pages.put(page, transaction.pages.get(no)));
      }
      const rows = [...pages.all()];
      for (const title of titles) {
        if (title === null) continue;
        const having = rows.filter((row) => row.title !== null && foldTitle(row.title) === foldTitle(title));
        assert.deepEqual(pages.numbersByTitle(title, 100), pluck(having, 'no'));
        assert.deepEqual(pages.numbersByTitle(title, 1), pluck(having, 'no').slice(0, 1));
      }
    }),
    { seed: 20_264, numRuns: 40 },
  );
});
