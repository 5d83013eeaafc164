import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEntities } from '../process/service.ts';
import { WholeSystem } from './whole-system.ts';

const pages = {
  herons: { title: 'Grey herons of Ottawa', text: 'Angela Merkel watched a grey heron in the shallow river.' },
  sinan: { title: 'Ottoman domes', text: 'The architect Sinan built mosques and bridges.' },
  metro: { title: 'Московское метро', text: 'Станции украшены мозаикой.' },
  tokyo: { title: '東京の電車', text: '東京の電車は時刻どおりに来る。' },
  cafe: { title: 'Œuvres du café', text: 'Le café ouvrit en 1686.' },
};

test('pages, names, sites and earlier queries are suggested letter by letter, and are gone with their page', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  const ids = await system.read(pages);
  await system.settled(Object.values(ids), ({ features }) => features?.entities?.status === 'done');
  const suggested = async (q: string) =>
    (await system.ask('search.suggest', { q })).suggestions.map(({ kind, text }) => `${kind}: ${text}`);
  await system.search('heron river', { suggest: 0, k: 1 });
  await system.search('heron in passing', { suggest: 0, k: 1, log: false });
  await system.ask('queryLog.list', { limit: 1 }); // written by then
  const page = (title: string) => `page: ${title}`;
  for (const [typed, expected] of [
    ['h', ['query: heron river']],
    ['he', ['query: heron river', page(pages.herons.title)]],
    ['grey h', [page(pages.herons.title)]],
    ['ott', [page(pages.sinan.title), page(pages.herons.title), 'entity: Ottawa']],
    ['merk', ['entity: Angela Merkel']],
    ['моско', [page(pages.metro.title)]],
    ['東京', [page(pages.tokyo.title)]],
    ['東京の電', [page(pages.tokyo.title)]],
    ['oeuv', [page(pages.cafe.title)]],
    ['caf', [page(pages.cafe.title)]],
    ['exam', ['domain: example.com']],
    ['com', []],
    ['zzz', []],
  ] as const) {
    assert.deepEqual(await suggested(typed), expected, typed);
  }
  await system.ask('page.forget', { url: 'https://example.com/herons' });
  for (const typed of ['h', 'grey h', 'merk']) assert.deepEqual(await suggested(typed), [], typed);
});
