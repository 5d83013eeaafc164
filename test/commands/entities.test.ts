import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveEntity } from '../../src/actors/entities/find-entities.ts';
import {
  canonicalForm,
  mentionsOf,
  pageCountOf,
  pagesOfTree,
  rootOf,
  treeOf,
} from '../../src/commands/entity-trees.ts';
import { erasePages } from '../../src/commands/forget.ts';
import { newEntitiesPerMatching, noteNewEntities, queueMatching } from '../../src/commands/match-entities.ts';
import { mergeEntities, mergeVariants, splitMerge } from '../../src/commands/merge-entities.ts';
import { completeJob } from '../../src/commands/move-job.ts';
import {
  queueExtraction,
  removePageEntities,
  storePageEntities,
  sweepPages,
} from '../../src/commands/page-entities.ts';
import { tallyEntities } from '../../src/domain/entity-tallies.ts';
import type { EntityReader } from '../../src/store/entities.ts';
import { pluck } from '../rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { mentioning } from './mentioning.ts';

/** Everything that the rows say of entities, without merges. */
function rowsOf(entities: EntityReader, pages: number): string {
  const rows = entities.listAfter(0, 10_000);
  const links = rows.map(({ no }) => [no, entities.pagesOf(no)]);
  const mentioned = Array.from({ length: pages }, (_, at) => entities.ofPage(at + 1));
  return JSON.stringify([rows, links, mentioned]);
}

/** What people see of everything. */
function seen(entities: EntityReader): string {
  const roots = entities.listAfter(0, 10_000).map((entity) => rootOf(entities, entity));
  return JSON.stringify(
    roots.map((root) => [
      canonicalForm(root),
      mentionsOf(entities, root),
      pageCountOf(root),
      pagesOfTree(entities, root),
      treeOf(entities, root).map(({ forms }) => forms),
    ]),
  );
}

async function shelf(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  await temporary.ingest('abcd', { at: 100 });
  await temporary.commit(
    mentioning(1, 'organization: Acme', 'organization: ACME', 'organization: acme', 'place: Oslo'),
  );
  await temporary.commit(mentioning(2, 'organization: Acme Corporation', 'organization: Acme', 'place: Oslo'));
  await temporary.commit(mentioning(3, 'organization: Acme Corp', 'place: Bergen'));
  await temporary.commit(mentioning(4, 'organization: The Acme Company', 'person: Oslo'));
  return temporary;
}

/** Rows say what the mentions and the merges say. */
function assertCounted(entities: EntityReader): void {
  const { tallies } = tallyEntities(entities.readPages(), entities.allMerges(), (no) => entities.get(no)?.type);
  const rows = entities.listAfter(0, 10_000).map(({ type: _type, key: _key, no, ...tally }) => [no, tally]);
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(tallies));
}

const undoMerge = (no: number, at: number) => splitMerge(no, at, { latestOnly: true });
const numberOf = (entities: EntityReader, type: string, key: string): number => entities.find(type, key)?.no ?? -1;

test('mentions are counted by spelling, and a name resolves in any case, to the most mentioned', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const acme = resolveEntity(entities, 'aCmE');
  const forms = acme?.forms.map(([form, count]) => `${form} ${count}`);
  assert.deepEqual([forms, acme?.page_count], [['Acme 2', 'ACME 1', 'acme 1'], 2]);
  assert.equal(resolveEntity(entities, 'oslo')?.type, 'place');
  assert.equal(resolveEntity(entities, 'Trondheim'), undefined);
});

test('storing what a page mentions again changes nothing; forgetting it takes everything that only it mentioned', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const before = rowsOf(entities, 4);
  assert.equal(await temporary.commit(mentioning(3, 'organization: Acme Corp', 'place: Bergen')), 0);
  assert.equal(rowsOf(entities, 4), before);
  await temporary.commit(erasePages([3], 500));
  assert.equal(resolveEntity(entities, 'Bergen'), undefined);
  assert.equal(resolveEntity(entities, 'Acme Corp'), undefined);
  assert.equal(entities.ofPage(3), undefined);
  await temporary.commit(erasePages([1, 2, 4], 500));
  assert.deepEqual(entities.listAfter(0, 100), []);
});

test('a name of two entities is that of the more mentioned one, be it its canonical form or an alias', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const forms: [string, number[]][] = [
    ['Ada Lovelace', [0, 12]],
    ['Lovelace', [13, 21, 22, 30]],
  ];
  await temporary.commit((transaction) =>
    storePageEntities(transaction, 1, [{ type: 'person', key: 'ada lovelace', forms }]),
  );
  await temporary.commit(mentioning(2, 'work: Lovelace'));
  assert.equal(resolveEntity(entities, 'lovelace')?.key, 'ada lovelace');
  await temporary.commit(mentioning(2, ...Array<string>(5).fill('work: Lovelace')));
  assert.equal(resolveEntity(entities, 'lovelace')?.type, 'work');
});

test('three merges undone in order restore every row byte for byte, across restarts, too', async () => {
  await using temporary = await shelf();
  const entities = () => temporary.reader.entities;
  const no = (key: string) => numberOf(entities(), 'organization', key);
  const states = [rowsOf(entities(), 4)];
  const views = [seen(entities())];
  const merges: number[] = [];
  for (const [a, b] of [
    ['acme', 'acme corporation'],
    ['acme corp', 'the acme company'],
    ['acme corp', 'acme corporation'],
  ]) {
    const merge = await temporary.commit(mergeEntities(no(a), no(b), 1000));
    assert.ok(merge !== null);
    merges.push(merge.no);
    states.push(rowsOf(entities(), 4));
    views.push(seen(entities()));
  }
  const root = resolveEntity(entities(), 'The Acme Company');
  assert.deepEqual([root?.key, root && pageCountOf(root), root && mentionsOf(entities(), root)], ['acme', 4, 7]);

  assert.deepEqual(await temporary.commit(undoMerge(merges[0], 2000)), { outcome: 'not_latest', latest: merges[2] });
  assert.deepEqual(await temporary.commit(undoMerge(99, 2000)), { outcome: 'unknown' });
  for (const at of [2, 1, 0]) {
    await temporary.reopen();
    assert.equal((await temporary.commit(undoMerge(merges[at], 2000 + at))).outcome, 'split');
    assert.equal(rowsOf(entities(), 4), states[at]);
    assert.equal(seen(entities()), views[at]);
  }
  assert.deepEqual(await temporary.commit(undoMerge(merges[2], 3000)), { outcome: 'undone_before' });
});

test('pages that come and go while entities are merged are right after the undo', async () => {
  await using temporary = await shelf();
  await using never = await shelf();
  const of = ({ store }: TemporaryStore) => store.reader.entities;
  const [a, b] = ['acme', 'acme corp'].map((key) => numberOf(of(temporary), 'organization', key));
  const merge = await temporary.commit(mergeEntities(a, b, 1000));
  for (const each of [temporary, never]) {
    await each.commit(erasePages([1], 500));
    await each.commit(mentioning(2, 'organization: Acme Corp', 'organization: Acme'));
  }
  const root = resolveEntity(of(temporary), 'Acme');
  assert.deepEqual(root && [pageCountOf(root), pagesOfTree(of(temporary), root)], [2, [2, 3]]);
  await temporary.commit(undoMerge(merge?.no ?? 0, 2000));
  assert.equal(rowsOf(of(temporary), 4), rowsOf(of(never), 4));
});

test('a merge that was undone is not made again, nor by way of a third entity', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const [a, b, c] = ['acme', 'acme corp', 'acme corporation'].map((key) => numberOf(entities, 'organization', key));
  const merge = await temporary.commit(mergeEntities(a, b, 1000));
  await temporary.commit(undoMerge(merge?.no ?? 0, 2000));
  assert.equal(await temporary.commit(mergeEntities(b, a, 3000)), null);
  assert.notEqual(await temporary.commit(mergeEntities(a, c, 3000)), null);
  assert.equal(await temporary.commit(mergeEntities(c, b, 3000)), null);
});

test('any merge is split at any time, and what was merged below it stays there', async () => {
  const keys = ['acme', 'acme corporation', 'acme corp', 'the acme company'];
  const groups = {
    0: [['acme', 'acme corp', 'the acme company'], ['acme corporation']],
    1: [['acme', 'acme corporation', 'acme corp'], ['the acme company']],
    2: ['acme,acme corporation', 'acme corp,the acme company'].map((group) => group.split(',')),
  };
  for (const [which, expected] of Object.entries(groups)) {
    await using temporary = await shelf();
    const { entities } = temporary.reader;
    const no = (at: number) => numberOf(entities, 'organization', keys[at]);
    const merges: number[] = [];
    for (const [a, b] of ['01', '23', '20'].map((pair) => [...pair].map(Number))) {
      merges.push((await temporary.commit(mergeEntities(no(a), no(b), 1000)))?.no ?? 0);
    }
    const split = splitMerge(merges[Number(which)], 2000, { latestOnly: false });
    assert.equal((await temporary.commit(split)).outcome, 'split');
    const roots = [...new Set(keys.map((_, at) => rootOf(entities, entities.get(no(at)) ?? assert.fail()).no))];
    const trees = roots.map((root) => treeOf(entities, entities.get(root) ?? assert.fail()).map(({ key }) => key));
    assert.deepEqual(trees, expected);
    assertCounted(entities);
    assert.equal((await temporary.commit(split)).outcome, 'undone_before');
    const rest = merges.filter((_, at) => at !== Number(which)).reverse();
    for (const each of rest) assert.equal((await temporary.commit(undoMerge(each, 3000))).outcome, 'split');
    assertCounted(entities);
  }
});

test('variants are merged where they are: below a name that a user merged, and beside each other below the top', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  await temporary.commit(mentioning(3, 'organization: Ac-me', 'organization: Ac me', 'organization: Acme Corp'));
  const named = (key: string) => numberOf(entities, 'organization', key);
  const [acme, dashed, spaced, corp] = ['acme', 'ac-me', 'ac me', 'acme corp'].map(named);
  const merged = async (a: number, b: number) => temporary.commit(mergeVariants(a, b, 1000));
  const byUser = await temporary.commit(mergeEntities(corp, acme, 500));
  assert.deepEqual([byUser?.kept, byUser?.merged, byUser?.made_by], [acme, corp, 'user']);
  const [below, automatic] = [await merged(dashed, spaced), await merged(dashed, acme)];
  assert.deepEqual([below?.kept, automatic?.made_by], [dashed, 'automatic']);
  assert.equal(await merged(spaced, acme), null, 'they are one');
  const tree = treeOf(entities, rootOf(entities, entities.get(spaced) ?? assert.fail()));
  assert.deepEqual(pluck(tree, 'no'), [acme, corp, dashed, spaced]);
  assertCounted(entities);
});

test('a variant of a name that a user merged into another follows it, and leaves with it', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  await temporary.commit(mentioning(4, 'organization: Ac-me', 'organization: The Acme Company'));
  await temporary.commit(mentioning(3, ...Array<string>(9).fill('organization: Acme Corp')));
  const of = (key: string) => entities.find('organization', key) ?? assert.fail();
  const byUser = await temporary.commit(mergeEntities(of('acme corp').no, of('acme').no, 1));
  const variant = await temporary.commit(mergeVariants(of('ac-me').no, of('acme').no, 2));
  assert.deepEqual([byUser?.merged, variant?.kept, variant?.merged], [of('acme').no, of('acme').no, of('ac-me').no]);
  assert.equal(rootOf(entities, of('ac-me')).key, 'acme corp');
  assertCounted(entities);
  await temporary.commit(splitMerge(byUser?.no ?? 0, 3, { latestOnly: false }));
  assert.equal(rootOf(entities, of('ac-me')).key, 'acme');
  assertCounted(entities);
});

test('what stands alone again, as what stood for it is gone, counts as new', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const [a, b] = ['acme', 'acme corp'].map((key) => numberOf(entities, 'organization', key));
  await temporary.commit(mergeEntities(a, b, 1));
  const before = entities.state('unmatched');
  await temporary.commit(erasePages([1, 2], 500));
  assert.equal(entities.get(b)?.parent, 0);
  assert.equal(entities.state('unmatched'), before + 1);
});

test('entities of two types are not merged, and none with itself', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const oslo = numberOf(entities, 'place', 'oslo');
  assert.equal(await temporary.commit(mergeEntities(oslo, numberOf(entities, 'person', 'oslo'), 1)), null);
  assert.equal(await temporary.commit(mergeEntities(oslo, oslo, 1)), null);
});

test('an entity that stands for others and is mentioned no more leaves them standing alone, and its merges go', async () => {
  await using temporary = await shelf();
  const { entities } = temporary.reader;
  const [a, b, c] = ['acme', 'acme corp', 'the acme company'].map((key) => numberOf(entities, 'organization', key));
  await temporary.commit(mergeEntities(a, b, 1));
  await temporary.commit(mergeEntities(b, c, 2));
  await temporary.commit((transaction) => {
    removePageEntities(transaction, 1);
    removePageEntities(transaction, 2);
  });
  assert.deepEqual(entities.merges(10), []);
  for (const each of [b, c].map((no) => entities.get(no)))
    assert.deepEqual([each?.parent, each?.children, each && pageCountOf(each)], [0, [], 1]);
  assert.equal(resolveEntity(entities, 'Acme'), undefined);
});

test('names are compared after fifty new entities, once at a time', async () => {
  await using temporary = await TemporaryStore.open();
  const { jobs } = temporary.reader;
  const policy = { at: 1, max_attempts: 3 };
  const note = (count: number) => temporary.commit((transaction) => noteNewEntities(transaction, count, policy));
  const queued = () => jobs.list({ kind: 'canonicalize_entities', limit: 10 }).length;
  await note(newEntitiesPerMatching - 1);
  assert.equal(queued(), 0);
  await note(1);
  assert.equal(queued(), 1);
  await note(newEntitiesPerMatching);
  assert.equal(queued(), 1, 'one is in flight');
  assert.equal(await temporary.commit(queueMatching(policy)), false);
});

test('pages indexed earlier are queued once, in steps that a restart goes on from', async () => {
  await using temporary = await TemporaryStore.open();
  const policy = { at: 500, max_attempts: 3 };
  await temporary.ingest([0, 1, 2, 3, 4], { at: 100 });
  for (const { job, attempt } of (await temporary.claim(200)).slice(0, 3)) {
    await temporary.commit(completeJob(attempt, 300));
    if (job.page_no === 3) await temporary.commit((transaction) => queueExtraction(transaction, 3));
  }
  const queued = () => pluck(temporary.reader.jobs.list({ kind: 'extract_entities', limit: 10 }), 'page_no').sort();
  assert.deepEqual(queued(), [3]);
  assert.equal(await temporary.commit(sweepPages(1, policy)), true);
  assert.deepEqual(queued(), [1, 3]);
  await temporary.reopen();
  assert.equal(await temporary.commit(sweepPages(2, policy)), true);
  assert.equal(await temporary.commit(sweepPages(10, policy)), false);
  assert.equal(await temporary.commit(sweepPages(10, policy)), false);
  assert.deepEqual(queued(), [1, 2, 3]);
});
