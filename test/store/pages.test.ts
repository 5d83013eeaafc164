import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PageMetadata } from '../../src/domain/metadata.ts';
import { foldTitle } from '../../src/domain/normalize-text.ts';
import type { Page } from '../../src/domain/page.ts';
import { pageRow } from '../machines/rows.ts';
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
  const { pages } = temporary.store.reader;
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
  const { pages } = temporary.store.reader;
  assert.deepEqual(
    urls.map((url) => pages.numberByUrl(url)),
    [1, 2, 3, 4, 5],
  );
  assert.deepEqual(
    urls.map((_, index) => pages.get(index + 1)?.canonical_url),
    urls,
  );
  assert.equal(pages.numberByUrl(`${urls[3]}y`), undefined);
  assert.equal(pages.count(), 5);
});

test('texts and chunk lists come back exactly, an empty text included', async () => {
  await using temporary = await TemporaryStore.open();
  const texts = ['', 'ASCII', 'Grüße, 世界 🜨\u0000 end', 'long '.repeat(200_000)];
  const chunks = [
    { char_start: 0, char_end: 4, token_count: 1, section_title: null, section_start_s: null },
    { char_start: 4, char_end: 9, token_count: 2, section_title: 'Two', section_start_s: 1.5 },
  ];
  await temporary.commit((transaction) => {
    for (const [index, text] of texts.entries()) transaction.pages.putBody(index + 1, text, []);
    transaction.pages.putChunks(1, chunks);
    transaction.pages.putChunks(2, []);
  });
  await temporary.reopen();
  const { pages } = temporary.store.reader;
  assert.deepEqual(
    texts.map((_, index) => pages.body(index + 1)),
    texts,
  );
  assert.equal(pages.body(99), undefined);
  assert.deepEqual([pages.chunks(1), pages.chunks(2), pages.chunks(99)], [chunks, [], []]);
});

test('a page is found by its title, case and white space folded, oldest first, and no more by one that it had before', async () => {
  await using temporary = await TemporaryStore.open();
  const url = (no: number) => `https://example.com/${no}`;
  const title = (no: number, text: string | null) => pageRow({ no, canonical_url: url(no), title: text });
  await put(temporary, title(1, 'The  Grey\tHeron'));
  await put(temporary, title(2, 'the grey heron'));
  await put(temporary, title(3, null));
  const { pages } = temporary.store.reader;
  assert.deepEqual(pages.numbersByTitle(' THE GREY HERON', 9), [1, 2]);
  assert.deepEqual(pages.numbersByTitle('the grey heron', 1), [1]);

  await put(temporary, title(1, 'Another'), pages.get(1));
  await put(temporary, title(3, 'The grey heron'), pages.get(3));
  await put(temporary, title(2, null), pages.get(2));
  assert.deepEqual(pages.numbersByTitle('the grey heron', 9), [3]);
  assert.deepEqual(pages.numbersByTitle('another', 9), [1]);
});

test('after any changes of titles, each title finds exactly the pages that have it', async () => {
  const titles = [null, 'One', 'ONE ', 'Two words', 'two  words', ''];
  const change = fc.record({ no: fc.integer({ min: 1, max: 4 }), title: fc.constantFrom(...titles) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
      await using temporary = await TemporaryStore.open();
      const { pages } = temporary.store.reader;
      for (const { no, title } of changes) {
        const page = pageRow({ no, canonical_url: `https://example.com/${no}`, title });
        await temporary.commit((transaction) => transaction.pages.put(page, transaction.pages.get(no)));
      }
      const rows = [...pages.all()];
      for (const title of titles) {
        if (title === null) continue;
        const having = rows.filter((row) => row.title !== null && foldTitle(row.title) === foldTitle(title));
        assert.deepEqual(
          pages.numbersByTitle(title, 100),
          having.map(({ no }) => no),
        );
      }
    }),
    { seed: 20_264, numRuns: 40 },
  );
});
