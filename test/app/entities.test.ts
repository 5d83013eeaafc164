import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchRequest } from '../../src/domain/search.ts';
import { until } from '../process/service.ts';
import { WholeSystem, withEntities } from './whole-system.ts';

const news = {
  summit: {
    title: 'Summit',
    text: 'Angela Merkel met Canadian officials in Ottawa. They heard Merkel praise Zorblaxium Corporation for its work in Oslo.',
  },
  factory: {
    title: 'Factory',
    text: 'The company Zorblaxium Corporation opened a factory in Bergen. Nobody asked Solzhenitsyn Corp about it.',
  },
  books: {
    title: 'Books',
    text: 'He read the novels of Solzhenitsyn Corporation in Bergen, and bread was baked in Ottawa.',
  },
  bread: { title: 'Bread', text: 'The bread needs flour, water and salt. Knead the dough and let it rise.' },
};

const ask = (system: WholeSystem, request: object) =>
  system.ask(
    'search.query',
    searchRequest.parse({ query: 'factory bread officials novels', min_relevance: 0, ...request }),
  );

async function readAll(system: WholeSystem): Promise<Record<string, string>> {
  const ids = await system.read(news);
  await until(async () => {
    const { results } = await system.ask('page.statusBatch', { page_ids: Object.values(ids) });
    return results.every((page) => page.found && page.features?.entities?.status === 'done');
  }, 'every page was read for entities');
  return ids;
}

test('pages are read for entities after indexing, and entities are found by id, name and alias, in any case', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  const ids = await readAll(system);
  const ofPage = await system.ask('page.entities', { page_id: ids.summit });
  assert.deepEqual(
    ofPage.entities.map(({ canonical_form, type, mention_count, page_count }) => [
      canonical_form,
      type,
      mention_count,
      page_count,
    ]),
    [
      ['Summit', 'person', 1, 1],
      ['Angela Merkel', 'person', 2, 1],
      ['Canadian', 'person', 1, 1],
      ['Ottawa', 'person', 2, 2],
      ['Zorblaxium Corporation', 'person', 2, 2],
      ['Oslo', 'person', 1, 1],
    ],
  );
  assert.deepEqual(await system.ask('page.entities', { page_id: ids.bread }), { page_id: ids.bread, entities: [] });
  const { facets } = await ask(system, { query: 'ottawa', facets: true });
  const ofName = facets?.name.find(({ label }) => label === 'Ottawa');
  assert.deepEqual([ofName?.count, ofName?.value], [2, ofPage.entities[3].id]);

  const [, merkel, , ottawa] = ofPage.entities;
  for (const ref of [merkel.id, 'angela MERKEL', 'merkel']) {
    assert.deepEqual(await system.ask('entity.get', { ref }), {
      entity: merkel,
      aliases: ['Merkel'],
      page_ids: [ids.summit],
    });
  }
  assert.equal(ottawa.idf, Math.log(1 + 4 / 2));
  await assert.rejects(system.ask('entity.get', { ref: 'Trondheim' }), { code: 'not_found' });
  await assert.rejects(system.ask('page.entities', { page_id: 'pg_zzzzzzzz' }), { code: 'not_found' });
});

test('names in the title of a page are mentions, too', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  const { visit } = await system.read({
    visit: {
      title: 'A week in Ottawa - The Daily Planet',
      text: 'The chancellor came by train, and left by boat.',
    },
  });
  await until(async () => {
    const { results } = await system.ask('page.statusBatch', { page_ids: [visit] });
    return results.every((page) => page.found && page.features?.entities?.status === 'done');
  }, 'the page was read for entities');
  const { entities } = await system.ask('page.entities', { page_id: visit });
  assert.deepEqual(
    entities.map(({ canonical_form, type, mention_count }) => [canonical_form, type, mention_count]),
    [['Ottawa', 'person', 1]],
  );
});

test('a search is filtered by an entity; one that nothing is known of is 404, in a batch an item that says so', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  const ids = await readAll(system);
  const found = async (entity: string) => {
    const { results } = await ask(system, { filters: { entity } });
    return results.map(({ page_id }) => page_id).sort();
  };
  assert.deepEqual(await found('bergen'), [ids.factory, ids.books].sort());
  assert.deepEqual(await found('Merkel'), [ids.summit]);
  await assert.rejects(ask(system, { filters: { entity: 'Trondheim' } }), { code: 'not_found' });
  const { query: _query, ...shared } = searchRequest.parse({ query: 'x', filters: { entity: 'Trondheim' } });
  const { results } = await system.ask('search.batch', { ...shared, queries: ['bread'] });
  assert.deepEqual(results, [
    {
      index: 0,
      query: 'bread',
      outcome: 'error',
      error: 'feature_unavailable',
      detail: 'no entity is known as "Trondheim"',
    },
  ]);
});

test('pages that mention the same are similar, and suggested, by what is rare, with the reason in words', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  const ids = await readAll(system);
  const similar = await system.ask('search.similar', { page_id: ids.factory, mediation: 'entity', k: 5 });
  assert.deepEqual(
    similar.results.map(({ page_id, reason }) => [page_id, reason]),
    [
      [ids.summit, 'both mention Zorblaxium Corporation'],
      [ids.books, 'both mention Bergen'],
    ],
  );
  assert.ok(similar.results.every(({ score }) => score > 0 && score < 1));
  const { results, suggestions } = await ask(system, { query: 'company factory opened', k: 1, mediation: 'entity' });
  assert.equal(results[0].page_id, ids.factory);
  assert.deepEqual(suggestions[0], {
    page_id: ids.summit,
    title: 'Summit',
    reason: 'mentions Zorblaxium Corporation, as the first results do',
  });
  assert.deepEqual((await system.ask('search.similar', { page_id: ids.bread, mediation: 'entity', k: 5 })).results, []);
});

test('names of one entity are merged, references survive, and an undo brings everything back, across a restart', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  await readAll(system);
  const look = async () => {
    const forms = ['Solzhenitsyn Corp', 'Solzhenitsyn Corporation'];
    return Promise.all(forms.map((ref) => system.ask('entity.get', { ref })));
  };
  const before = await look();
  assert.notEqual(before[0].entity.id, before[1].entity.id);
  // Fifty new entities have names compared.
  const places = Array.from(
    { length: 60 },
    (_, i) => `Quagmire${'abcdefghijklmnopqrstuvwxyz'[i % 26].repeat(5 + (i % 7))}${i} Lake`,
  );
  await system.read({ lakes: { title: 'Lakes', text: places.map((name) => `We swam in ${name}.`).join(' ') } });
  await until(async () => (await system.ask('entity.merges', {})).merges.length > 0, 'names were merged');
  await until(
    async () =>
      (await system.ask('job.list', { kind: 'canonicalize_entities', limit: 5 })).jobs.every(
        ({ status }) => status === 'done',
      ),
    'the job is done',
  );
  const merged = await look();
  assert.deepEqual(merged[0], merged[1]);
  assert.deepEqual([merged[0].entity.page_count, merged[0].entity.mention_count], [2, 2]);
  for (const { entity } of before) {
    assert.deepEqual(await system.ask('entity.get', { ref: entity.id }), merged[0]);
  }
  const { merges } = await system.ask('entity.merges', {});
  assert.equal(merges.length, 1);
  const [{ merge_id }] = merges;

  await system.stop();
  await system.start();
  assert.deepEqual(await look(), merged);
  const undone = await system.ask('entity.undoMerge', { merge_id });
  assert.equal(undone.restored_entity_id, merges[0].merged_entity_id);
  const counted = (details: typeof before) =>
    details.map(({ entity: { idf: _idf, ...entity }, ...rest }) => ({ ...rest, entity }));
  assert.deepEqual(counted(await look()), counted(before));
  await assert.rejects(system.ask('entity.undoMerge', { merge_id }), { code: 'conflict' });
  await assert.rejects(system.ask('entity.undoMerge', { merge_id: 'em_00000099' }), { code: 'not_found' });
});

test('names that are nearly alike are suggested until a user accepts or rejects', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  await system.read({
    near: {
      title: 'names',
      text: 'We saw Lake Mendotta, then Lake Mendota, then Mount Kosciuszko and Mount Kosciusko.',
    },
  });
  const suggested = async () => {
    const { suggestions } = await system.ask('entity.suggestions', { limit: 10 });
    return suggestions.map(({ form, other_form }) => [form, other_form]);
  };
  await until(async () => (await suggested()).length === 2, 'names are suggested');
  await system.ask('entity.reject', { ref: 'Lake Mendota', with: 'Lake Mendotta' });
  assert.deepEqual(await suggested(), [['Mount Kosciuszko', 'Mount Kosciusko']]);
  await assert.rejects(system.ask('entity.merge', { ref: 'Lake Mendota', with: 'Lake Mendotta' }), {
    code: 'conflict',
  });
  await system.ask('entity.merge', { ref: 'Mount Kosciusko', with: 'Mount Kosciuszko' });
  assert.deepEqual(await suggested(), []);
});

test('forgetting a page takes its mentions, and entities that nothing mentions any more', async (t) => {
  const system = await WholeSystem.start(t, withEntities);
  const ids = await readAll(system);
  await system.ask('page.forget', { url: 'https://example.com/summit' });
  await assert.rejects(system.ask('entity.get', { ref: 'Angela Merkel' }), { code: 'not_found' });
  await assert.rejects(system.ask('page.entities', { page_id: ids.summit }), { code: 'not_found' });
  const ottawa = await system.ask('entity.get', { ref: 'Ottawa' });
  assert.deepEqual([ottawa.page_ids, ottawa.entity.mention_count], [[ids.books], 1]);
});

test('pages are read for entities where the setting says so; turned on again, what is missing is read', async (t) => {
  const system = await WholeSystem.start(t);
  const ids = await system.read(news);
  const status = async (page_id: string) => (await system.ask('page.status', { page_id })).features?.entities?.status;
  assert.equal(await status(ids.summit), 'not_queued');
  assert.deepEqual((await system.ask('job.list', { kind: 'extract_entities', limit: 5 })).jobs, []);
  await assert.rejects(system.ask('entity.get', { ref: 'Ottawa' }), { code: 'not_found' });

  await system.stop();
  system.env.SERVICE_ENTITY__ENABLED = 'true';
  await system.start();
  await readAll(system);
  assert.equal((await system.ask('entity.get', { ref: 'Ottawa' })).entity.page_count, 2);

  await system.stop();
  system.env.SERVICE_ENTITY__ENABLED = 'false';
  await system.start();
  assert.equal((await system.ask('entity.get', { ref: 'Ottawa' })).entity.page_count, 2);
  const { lakes } = await system.read({ lakes: { title: 'Lakes', text: 'We swam in Lake Mendota, near Ottawa.' } });
  assert.equal(await status(lakes), 'not_queued');

  await system.stop();
  system.env.SERVICE_ENTITY__ENABLED = 'true';
  await system.start();
  await until(async () => (await status(lakes)) === 'done', 'the page that came meanwhile is read');
  assert.equal((await system.ask('entity.get', { ref: 'Ottawa' })).entity.page_count, 3);
});
