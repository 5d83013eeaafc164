import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realEncoder } from '../process/service.ts';
import { library, once, untilEnd, WholeSystem } from './whole-system.ts';

const pagesRead = once(async () => {
  const system = await WholeSystem.start(untilEnd, realEncoder);
  await system.read({
    ...library,
    oil: {
      title: 'Oil prices',
      text: 'Oil prices fell on Monday as traders weighed the demand for fuel against a stronger dollar.',
    },
    fish: { title: 'Supper', text: 'Halibut from the market in Seattle, baked with lemon and served with potatoes.' },
    club: {
      title: 'Sacked',
      text: 'Mourinho took over at Tottenham after Pochettino had been dismissed in the autumn.',
    },
    drawn: {
      title: 'Drawn',
      text: 'The cartoon was drawn on a carton of milk, and the gardening column stood below it.',
    },
    secret: { title: 'Visit', text: 'We met Kowalczyk at the river.' },
  });
  return system;
});

test('each result and passage says how relevant it is; filler is left out unless it is asked for', async () => {
  const system = await pagesRead();
  const search = (query: string, rest = {}) => system.search(query, { suggest: 0, ...rest });
  for (const rerank of [true, false]) {
    const { results } = await search('oil prices fell as traders weighed demand', { rerank });
    assert.equal(results[0].title, 'Oil prices');
    assert.ok((results[0].relevance ?? 0) > 0.9, String(results[0].relevance));
    assert.equal(results[0].chunks[0].relevance, results[0].relevance);
    assert.ok(results.slice(1).every(({ relevance }) => (relevance ?? 1) < 0.5));

    const { results: nothing } = await search('quantum chromodynamics lattice gauge', { rerank });
    assert.deepEqual(nothing, []);
    const all = await search('quantum chromodynamics lattice prices', { rerank, min_relevance: 0 });
    assert.ok(all.results.length > 0 && all.results.every(({ relevance }) => (relevance ?? 1) < 0.5));
    const likely = await search('oil bread king', { rerank, min_relevance: 0.99 });
    assert.ok(likely.results.every(({ relevance }) => (relevance ?? 0) >= 0.99));
  }
  const { results: titled } = await search('Oil prices', { min_relevance: 1 });
  assert.deepEqual(
    titled.map(({ title, relevance }) => [title, relevance]),
    [['Oil prices', 1]],
  );
});

test('misspelt words find what they mean, and the answer says so', async () => {
  const system = await pagesRead();
  const search = async (query: string, fields = {}) => {
    const { results, corrected_query: shown, corrected } = await system.search(query, { suggest: 0, ...fields });
    return [results[0]?.title, shown, corrected.map(({ word, taken }) => [word, ...taken].join(' '))];
  };
  for (const [query, first, shown, corrected] of [
    ['halibutt seatle', 'Supper', 'halibut seattle', ['halibutt halibut', 'seatle seattle']],
    ['Mourinyo, totenham', 'Sacked', 'mourinho, tottenham', ['mourinyo mourinho', 'totenham tottenham']],
    ['Pochett', 'Sacked', 'pochettino', ['pochett pochettino']],
    ['Pochett Tottenham', 'Sacked', 'pochettino Tottenham', ['pochett pochettino']],
    // Found by meaning, and taken for no other word.
    ['cart', 'Drawn', null, []],
    ['garde', undefined, null, []],
    ['halibut lemon', 'Supper', null, []],
    ['halibut terrarium bonsai postgres', 'Supper', null, []],
    ['https://halibutt.example/seatle', undefined, null, []],
    ['halibut https://halibutt.example/seatle', 'Supper', null, []],
    ['halibut chef@seatle.org totenham.com/news', 'Supper', null, []],
    ['halibut in seatle.', 'Supper', 'halibut in seattle.', ['seatle seattle']],
    ['halibutt -halibutt -site:seatle.org', 'Supper', 'halibut -halibutt -site:seatle.org', ['halibutt halibut']],
  ] as const)
    assert.deepEqual(await search(query, { operators: query.includes(' -') }), [first, shown, corrected], query);
  assert.deepEqual(await search('totenham', { spelling: false }), [undefined, null, []]);
});

test('a word of a page that is forgotten is no correction', async () => {
  const system = await pagesRead();
  const ask = () => system.search('kowalczik');
  assert.deepEqual((await ask()).corrected, [{ word: 'kowalczik', taken: ['kowalczyk'] }]);
  await system.ask('page.forget', { url: 'https://example.com/secret' });
  assert.deepEqual((await ask()).corrected, []);
});

test('passages tell where they have the words of the query, and what to show first', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const filler = 'Nothing of note happened in the harbour on the days before that. '.repeat(12);
  const text = `${filler}In the end two Häfen were closed, and the governors met in Seattle. ${filler}`;
  await system.read({ news: { title: 'News', text } });
  for (const query of ['governor in seatle', '"the governors met"']) {
    const { results } = await system.search(query);
    const [{ text: passage, highlights, snippet }] = results[0].chunks;
    const marked = highlights.map(({ start, end }) => passage.slice(start, end));
    assert.ok(marked.includes('governors'), String(marked));
    assert.equal(marked.includes('Seattle'), query.includes('seatle'));
    assert.equal(snippet.text, passage.slice(snippet.start, snippet.end));
    assert.match(snippet.text, /governors met in Seattle/);
    assert.ok(snippet.text.length <= 300);
  }
});
