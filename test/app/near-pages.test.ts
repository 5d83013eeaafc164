import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { searchResponse, similarResponse } from '../../src/domain/search.ts';
import { realEncoder, until } from '../process/service.ts';
import { isDomainError, library, WholeSystem } from './whole-system.ts';

test('similar pages and suggestions come from page vectors, also after they were lost', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const ids = await system.read(library);
  const pathOf = new Map(Object.entries(ids).map(([path, id]) => [id, path]));
  const similar = async (path: string, k: number, mediation: 'vector' | 'cluster' | 'entity' = 'vector') => {
    const reply = await system.ask('search.similar', { page_id: ids[path], k, mediation });
    assert.deepEqual(similarResponse.parse(reply), reply);
    return reply.results;
  };
  const names = (results: readonly { page_id: string }[]) => results.map(({ page_id }) => pathOf.get(page_id));

  const near = await similar('heron', 50);
  assert.deepEqual(names(near).slice(0, 2).sort(), ['egret', 'stork']);
  assert.deepEqual(
    near.map(({ score }) => score),
    near.map(({ score }) => score).sort((a, b) => b - a),
  );
  assert.ok(near.every(({ score, reason }) => score > 0 && score <= 1.001 && /in content$/.test(reason)));
  assert.deepEqual(names(await similar('bread', 1)), ['rolls']);
  assert.deepEqual(await similar('heron', 5, 'cluster'), []);
  assert.deepEqual(await similar('heron', 5, 'entity'), []);
  await assert.rejects(system.ask('search.similar', { page_id: 'pg_zzzzzzzz', k: 5, mediation: 'vector' }), (error) =>
    isDomainError(error, 'not_found'),
  );

  const search = (changes: object) => system.search('egrets', changes);
  const found = await search({ k: 1, suggest: 2 });
  assert.deepEqual(searchResponse.parse(found), found);
  assert.deepEqual(names(found.results), ['egret']);
  assert.ok(found.suggestions.length > 0);
  assert.ok(names(found.suggestions).every((path) => path === 'heron' || path === 'stork'));
  assert.equal(found.suggestions[0].reason, 'close to “Egrets”');
  assert.deepEqual((await search({ suggest: 0 })).suggestions, []);
  assert.deepEqual((await search({ mediation: 'cluster' })).suggestions, []);
  assert.deepEqual((await search({ filters: { domain: 'other.example' } })).suggestions, []);
  const all = await search({ query: 'water', suggest: 10 });
  const answered = new Set(all.results.map(({ page_id }) => page_id));
  assert.ok(all.suggestions.every(({ page_id }) => !answered.has(page_id)));

  await system.stop();
  rmSync(join(system.dataDir, 'index', 'pages'), { recursive: true });
  await system.start();
  await until(async () => (await similar('heron', 50)).length === near.length, 'the vectors of pages are back');
  assert.deepEqual(await similar('heron', 50), near);
});

test('a page that is not indexed is similar to none', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const accepted = await system.ask('page.ingest', { url: 'https://example.com/to-be-fetched' });
  assert.ok('page_id' in accepted);
  const { page_id } = accepted;
  const reply = await system.ask('search.similar', { page_id, k: 10, mediation: 'vector' });
  assert.deepEqual(reply, { page_id, mediation: 'vector', results: [] });
});
