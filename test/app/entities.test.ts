import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until, withEntities } from '../process/service.ts';
import { WholeSystem } from './whole-system.ts';

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

async function readAll(system: WholeSystem): Promise<Record<string, string>> {
  const ids = await system.read(news);
  await system.settled(Object.values(ids), ({ features }) => features?.entities?.status === 'done');
  return ids;
}

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
  assert.equal((await system.ask('entity.get', { ref: 'Oslo' })).entity.page_count, 1);
  const title = 'A week in Oslo - The Daily Planet';
  const { lakes } = await system.read({ lakes: { title, text: 'We swam in Lake Mendota, near Ottawa.' } });
  assert.equal(await status(lakes), 'not_queued');

  await system.stop();
  system.env.SERVICE_ENTITY__ENABLED = 'true';
  await system.start();
  await until(async () => (await status(lakes)) === 'done', 'the page that came meanwhile is read');
  assert.equal((await system.ask('entity.get', { ref: 'Ottawa' })).entity.page_count, 3);
  assert.equal((await system.ask('entity.get', { ref: 'Oslo' })).entity.page_count, 2, 'of its title');
});
