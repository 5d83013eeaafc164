/** A query that is a host or an address finds the pages that are there, whatever other pages say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { library, WholeSystem } from './whole-system.ts';

/** `com` is a word of Portuguese. */
const portuguese = [
  'O time perdeu com justiça, com chuva e com vento, com a torcida calada.',
  'Com o tempo, o bairro cresceu com as fábricas e com o porto.',
  'Receita de arroz com feijão, com alho e com cebola, servida com farinha.',
  'A banda tocou com amigos, com gosto e com pouca luz.',
  'Viajou com a família, com malas demais e com pouco dinheiro.',
  'O livro conversa com o leitor, com humor e com ironia.',
];

interface Read {
  url: string;
  title: string;
  text?: string;
}

async function read(system: WholeSystem, pages: Read[]): Promise<void> {
  const submitted = pages.map(({ url, title, text }) => ({ url, title, ...(text ? { body_extracted: text } : {}) }));
  const page_ids = await system.submit(submitted);
  // A page without a text is not fetched from an address that nobody may fetch: a job for it is dead at once.
  await system.settled(page_ids, ({ status }) => ['indexed', 'dead'].includes(status));
}

async function search(system: WholeSystem, query: string, fields: Record<string, unknown> = {}) {
  const { results } = await system.search(query, fields);
  return results.map(({ canonical_url, why }) => [canonical_url.replace('https://', ''), why.exact]);
}

const ofHost = (found: unknown[][]) => found.filter(([, exact]) => exact === 'host').map(([url]) => url);

test('a query that is a host finds its pages and those below it first, and no words of its suffix', async (t) => {
  const system = await WholeSystem.start(t);
  const recipe = { title: 'Guardar pan', text: 'Para guardar el pan, guardar la masa y guardar la harina.' };
  await read(system, [
    { url: 'https://www.forbes.com/sites/rich', title: 'The richest', text: 'Fortunes grew again in the past year.' },
    { url: 'https://blogs.forbes.com/poor', title: 'The poorest', text: 'Fortunes shrank again in the past year.' },
    {
      url: 'https://biz.example.org/forbes',
      title: 'Who was Forbes?',
      text: 'Forbes, and Forbes again: Malcolm Forbes.',
    },
    { url: 'https://the-guardian-times.co.uk/news', title: 'Council meets', text: 'It talked about roads and drains.' },
    { url: 'https://recetas.example.org/pan', ...recipe },
    { url: 'https://x.com/a', title: 'A heron', text: library.heron.text },
    { url: 'https://163.com/a', title: 'An egret', text: library.egret.text },
    { url: 'https://the.com/a', title: 'A stork', text: library.stork.text },
    { url: 'https://xn--80aswg.xn--p1ai/a', title: 'Rolls', text: library.rolls.text },
    { url: 'http://10.1.2.3/bare', title: 'A page without a text' },
    ...portuguese.map((text, i) => ({ url: `https://jornal${i}.example.org/`, title: `Jornal ${i}`, text })),
  ]);
  for (const rerank of [true, false]) {
    for (const query of ['forbes.com', 'WWW.Forbes.com', 'https://forbes.com/']) {
      const found = await search(system, query, { rerank });
      assert.deepEqual(ofHost(found.slice(0, 2)).sort(), ['blogs.forbes.com/poor', 'www.forbes.com/sites/rich'], query);
      assert.deepEqual(found.slice(2), [['biz.example.org/forbes', null]], 'no page is found by com');
    }
    const guardian = await search(system, 'the-guardian-times.co.uk', { rerank });
    assert.deepEqual(guardian[0], ['the-guardian-times.co.uk/news', 'host']);
  }
  assert.deepEqual((await search(system, 'blogs.forbes.com'))[0], ['blogs.forbes.com/poor', 'host']);
  for (const host of ['x.com', '163.com', 'the.com', 'сайт.рф']) {
    assert.equal(ofHost(await search(system, host)).length, 1, host);
  }
  const { results } = await system.search('forbes.com');
  assert.ok(
    results.every(({ exact_match }) => !exact_match),
    'its host is not the page itself',
  );

  const narrowed = async (query: string, fields: Record<string, unknown> = {}) =>
    (await search(system, query, { operators: true, ...fields })).map(([url]) => url);
  const [poor, rich] = ['blogs.forbes.com/poor', 'www.forbes.com/sites/rich'];
  for (const [query, left, gone] of [
    ['forbes.com -richest', poor, rich],
    ['forbes.com -site:blogs.forbes.com', rich, poor],
    ['forbes.com -"Fortunes shrank"', rich, poor],
  ]) {
    const found = await narrowed(query);
    assert.equal(found[0], left, query);
    assert.ok(!found.includes(gone), query);
  }
  assert.deepEqual(await narrowed('forbes.com site:biz.example.org'), ['biz.example.org/forbes']);
  assert.ok(!(await narrowed('forbes.com', { filters: { lang: 'pt' } })).some((url) => String(url).includes('forbes')));

  const within = (domain: string) => search(system, 'forbes.com', { filters: { domain } });
  assert.deepEqual(ofHost(await within('blogs.forbes.com')), ['blogs.forbes.com/poor']);
  assert.deepEqual(ofHost(await within('com')).length, 2);
  assert.deepEqual(await within('biz.example.org'), [['biz.example.org/forbes', null]], 'a host without a page: words');
  // Of no such host a page was read: all of its words are searched for.
  assert.ok((await search(system, 'jornal.com')).length >= portuguese.length);
  assert.deepEqual(ofHost(await search(system, 'forbes.com richest')), []);
});

test('its pages are found however many others have the words of its name', async (t) => {
  const system = await WholeSystem.start(t);
  const lessons = Array.from({ length: 60 }, (_, i) => ({
    url: `https://notes.example.com/${i}`,
    title: `Sailing, lesson ${i}`,
    text: `Sailing, sailing, sailing: lesson ${i} of sailing.`,
  }));
  await read(system, [...lessons, { url: 'https://sailing.org/harbour', title: 'Harbour', text: library.bread.text }]);
  const found = await search(system, 'sailing.org', { candidates: 10 });
  assert.deepEqual(found[0], ['sailing.org/harbour', 'host']);
  assert.deepEqual(ofHost(found), ['sailing.org/harbour']);
  assert.ok(found.length > 5, 'the others follow');
});
