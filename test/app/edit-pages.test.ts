/** Tags, notes and highlights that people add to pages and remove. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import type { MetadataEdit, PageMetadata } from '../../src/domain/metadata.ts';
import { until } from '../process/service.ts';
import { encoderOfWords } from './encoder-of-words.ts';
import { library, WholeSystem } from './whole-system.ts';

test('what is noted about pages is searched while it is there, without new vectors', async (t) => {
  const embedded: string[] = [];
  const encode = async (texts: readonly string[]) => void embedded.push(...texts);
  const system = await WholeSystem.start(t, {}, { aroundEmbedders: encoderOfWords(encode) });
  const { heron, bread } = await system.read({ heron: library.heron, bread: library.bread });
  const [bare] = await system.submit([{ url: 'http://10.1.2.3/bare', title: 'Unreachable' }]);
  await system.settled([bare], ({ status }) => status === 'dead');
  const chunks = async () => (await system.chunks(heron)).map(({ chunk_id: _, ...chunk }) => chunk);
  const before = await chunks();
  const found = async (query: string) =>
    (await system.search(query, { spelling: false })).results
      .map(({ page_id }) => page_id)
      .sort()
      .join();
  await until(async () => (await found('unreachable')) === bare, 'it is found by its title');
  await system.filled();
  const texts = embedded.length;
  const highlight = { quote: 'hunts fish', prefix: 'heron ', start: 45 };
  const steps: [ids: string[], edit: MetadataEdit, query: string, expected: string[]][] = [
    [[heron, bread, bare], { add_tags: ['Zanzibar'] }, 'zanzibar', [heron, bread, bare]],
    [[heron], { note: 'a quixotic plan', add_highlights: [highlight] }, 'quixotic', [heron]],
    [[bread, bare], { remove_tags: ['ZANZIBAR'] }, 'zanzibar', [heron]],
    [[heron], { note: null, remove_highlights: [highlight] }, 'quixotic', []],
  ];
  for (const [page_ids, edit, query, expected] of steps) {
    const { results } = await system.ask('page.edit', { ...edit, page_ids });
    assert.deepEqual(
      results,
      page_ids.map((page_id) => ({ page_id, outcome: 'changed' })),
    );
    await until(async () => (await found(query)) === [...expected].sort().join(), `${query} finds ${expected}`);
  }
  const metadataOf = async (id: string): Promise<PageMetadata | null> => (await system.page(id)).metadata;
  const edited = { tags: ['Zanzibar'], note: '', highlights: [], removed_highlights: [highlight] };
  assert.deepEqual(await metadataOf(heron), edited);
  await system.submit(
    [heron, bread].map((_, at) => ({
      url: `https://example.com/${['heron', 'bread'][at]}`,
      metadata: { tags: ['zanzibar', 'patagonia'], note: 'imported', highlights: ['hunts fish'] },
    })),
  );
  assert.deepEqual(await metadataOf(heron), { ...edited, tags: ['Zanzibar', 'patagonia'] });
  assert.deepEqual((await metadataOf(bread))?.tags, ['patagonia']);
  await until(async () => (await found('patagonia')) === [bread, heron].sort().join(), 'imported tags find both');
  for (const note of ['xylophone', 'zeppelin', '', 'imported'])
    await system.ask('page.edit', { page_ids: [bread], note });
  for (const [query, expected] of [
    ['imported', bread],
    ['xylophone', ''],
    ['zeppelin', ''],
  ])
    await until(async () => (await found(query)) === expected, `of quick edits only the last is found: ${query}`);
  assert.equal((await system.search('patagonia', { filters: { tag: 'zanzibar' } })).results.length, 1);
  assert.deepEqual(await chunks(), before);
  assert.equal((await system.page(heron)).status, 'indexed');
  await system.ask('page.forget', { url: 'https://example.com/bread' });
  assert.equal(await found('patagonia'), heron);
  const { results } = await system.ask('page.edit', { page_ids: [bread, heron], note: 'quixotic again' });
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['not_found', 'changed'],
  );
  await system.stop();
  const { store, index } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index], [[], []], 'sound, whether the note is indexed or not');
  await system.start();
  await until(async () => (await found('quixotic')) === heron, 'a stop loses no note');
  assert.equal(embedded.length, texts, 'nothing is embedded again');
});
