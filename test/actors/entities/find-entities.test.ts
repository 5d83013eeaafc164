import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listEntities } from '../../../src/actors/entities/find-entities.ts';
import { canonicalForm, pageCountOf } from '../../../src/commands/entity-trees.ts';
import { erasePages } from '../../../src/commands/forget.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { mergeEntities } from '../../../src/commands/merge-entities.ts';
import { entityListQuery } from '../../../src/domain/entity.ts';
import { mentioning } from '../../commands/mentioning.ts';
import { submission } from '../../commands/submissions.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';

async function shelf(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  for (let no = 1; no <= 4; no++) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${no}`, at: 100 })));
  }
  await temporary.commit(mentioning(1, 'organization: Acme', 'place: Ósló', 'person: Ada Lovelace'));
  await temporary.commit(mentioning(2, 'organization: Acme Corporation', 'place: Ósló'));
  await temporary.commit(mentioning(3, 'organization: Acme Corporation', 'place: Ósló', 'place: Bergen'));
  await temporary.commit(mentioning(4, 'place: Bergen'));
  return temporary;
}

async function listed(temporary: TemporaryStore, query: object) {
  const { entities } = temporary.reader;
  const { roots, next_cursor } = await listEntities(entities, entityListQuery.parse(query));
  return { names: roots.map((root) => `${canonicalForm(root)} ${pageCountOf(root)}`), next_cursor };
}

test('names are listed by the number of their pages, then by age, part by part without gap or repetition', async () => {
  await using temporary = await shelf();
  const all = ['Ósló 3', 'Acme Corporation 2', 'Bergen 2', 'Acme 1', 'Ada Lovelace 1'];
  assert.deepEqual(await listed(temporary, {}), { names: all, next_cursor: null });
  for (const limit of ['1', '2', '4', '5']) {
    const names: unknown[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const part = await listed(temporary, cursor === undefined ? { limit } : { limit, cursor });
      names.push(...part.names);
      cursor = part.next_cursor;
    }
    assert.deepEqual(names, all);
  }
});

test('a name is found by a part of any of its spellings, in any case, and by its type', async () => {
  await using temporary = await shelf();
  const names = async (query: object) => (await listed(temporary, query)).names;
  assert.deepEqual(await names({ q: 'OSL' }), ['Ósló 3']);
  assert.deepEqual(await names({ q: 'acme' }), ['Acme Corporation 2', 'Acme 1']);
  assert.deepEqual(await names({ type: 'place' }), ['Ósló 3', 'Bergen 2']);
  assert.deepEqual(await names({ type: 'place', q: 'ada' }), []);
  assert.deepEqual(await names({ q: 'trondheim' }), []);
});

test('what was merged is one, found by the spellings of both; what no page mentions any more is none', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const no = (key: string) => entities.find('organization', key)?.no ?? -1;
  await temporary.commit(mergeEntities(no('acme'), no('acme corporation'), 1000));
  const merged = (await listed(temporary, { q: 'corporation' })).names;
  assert.deepEqual(merged, (await listed(temporary, { type: 'organization' })).names);
  assert.deepEqual([merged.length, merged[0].at(-1)], [1, '3']);
  await temporary.commit(erasePages([3, 4], 500));
  assert.deepEqual((await listed(temporary, { q: 'bergen' })).names, []);
});

test('a cursor that none was given is refused', async () => {
  await using temporary = await shelf();
  const others = '1.pg_00000001 -1.en_00000001 1.en_0000000';
  for (const cursor of ['', 'x', '1', ...others.split(' '), `${'9'.repeat(30)}.en_00000001`])
    await assert.rejects(listed(temporary, { cursor }), { code: 'invalid' }, cursor);
});
