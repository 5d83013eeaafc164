import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import { repairStore } from '../../src/commands/repair-store.ts';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { builtInModel, type EmbeddingModel } from '../../src/domain/model.ts';
import { lacksBareChunk } from '../../src/domain/page.ts';
import { openPageTools } from '../../src/engine/prepare-page.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../scope.ts';
import { clusterFaults } from './cluster-faults.ts';
import { entityFaults } from './entity-faults.ts';
import { dim, makeFolder } from './made-folder.ts';
import { backfillOf, modelFaults, refusal } from './model-faults.ts';
import { pageFaults } from './page-faults.ts';
import { tamper } from './tampered-store.ts';
import { watchFaults } from './watch-faults.ts';

/** Made once: the commits of one folder are many waits for the disk. */
const template = temporaryFolder({ after });
before(() => makeFolder(template));

function copiedFolder(t: TestContext): string {
  const dir = temporaryFolder(t);
  cpSync(template, dir, { recursive: true });
  return dir;
}

async function repaired(dir: string) {
  const store = await Store.open(dir, () => 'never');
  const repairs = await store.commit(repairStore({ at: 9, max_attempts: 5 }));
  await store.close();
  return repairs;
}

/** Whatever is wrong, pages can be compared. */
const comparing = {
  sample: { seed: 1, pages: Number.POSITIVE_INFINITY },
  tools: openPageTools({ target_tokens: 256, overlap_tokens: 32, hard_max_tokens: 512 }),
};

const faults = { ...pageFaults, ...modelFaults, ...entityFaults, ...clusterFaults, ...watchFaults };

for (const [name, { plant, finding }] of Object.entries(faults)) {
  test(`the check finds ${name}, and the repair mends it`, async (t) => {
    const dir = copiedFolder(t);
    const before = await checkFolder(dir);
    assert.deepEqual(
      { ...before, missing: 0 },
      { pages: 3, chunks: 6, store: [], index: [], waiting: 0, refused: 0, missing: 0, obsolete: 0 },
    );
    await tamper(dir, plant);
    const found = await checkFolder(dir, comparing);
    assert.ok(
      found.store.some((line) => finding.test(line)),
      `found: ${JSON.stringify(found.store)}`,
    );
    assert.equal(isClean(found), false);
    await repaired(dir);
    assert.deepEqual((await checkFolder(dir)).store, []);
  });
}

test('a gap that a backfill is to fill waits, and what is left of a deleted model is no fault', async (t) => {
  const dir = copiedFolder(t);
  await tamper(dir, ({ models, vectors, gaps, backfills, backfillByJob, dropped }) => {
    models.put('n', { ...(models.get('m') as EmbeddingModel), id: 'n', space: 2 });
    for (const no of [1, 3]) vectors.put([2, no], Buffer.alloc(2 * dim * 4, 1));
    gaps.put([2, 2], 0);
    backfills.put(2, backfillOf(2, 'n', { status: 'failed', job_no: 3 }));
    backfillByJob.put(3, 2);
    dropped.put(9, 0);
    gaps.put([9, 1], 0);
    vectors.put([9, 1], Buffer.alloc(16, 1));
  });
  const report = await checkFolder(dir);
  assert.deepEqual([report.store, report.waiting, isClean(report)], [[], 1, true]);
  const repairs = await repaired(dir);
  assert.deepEqual([repairs.pages_requeued, repairs.orphans_dropped], [0, 0]);
  assert.equal((await checkFolder(dir)).waiting, 1);
});

test('a refused text is counted and is no fault, nor is one of a deleted model', async (t) => {
  const dir = copiedFolder(t);
  await tamper(dir, ({ vectors, refused, dropped }) => {
    const rows = new Float32Array(2 * dim).fill(0.5).fill(0, dim);
    vectors.put([1, 2], Buffer.from(rows.buffer));
    refused.put([1, 2], refusal(1));
    dropped.put(9, 0);
    refused.put([9, 1], refusal(0));
  });
  const repairs = await repaired(dir);
  assert.deepEqual([repairs.pages_requeued, repairs.orphans_dropped], [0, 0]);
  const report = await checkFolder(dir);
  assert.deepEqual([report.store, report.refused, isClean(report)], [[], 2, true]);
});

test('a page whose text is lost is as one that is still to be fetched: found by its title meanwhile', async (t) => {
  const dir = copiedFolder(t);
  await tamper(dir, ({ bodies, sections }) => [bodies.remove(2), sections.put(2, [{ char_start: 0, title: 'One' }])]);
  const store = await Store.open(dir, () => 'never');
  await store.commit(repairStore({ at: 9, max_attempts: 5 }));
  const page = store.reader.pages.get(2);
  const sections = store.reader.pages.sections(2);
  await store.close();
  assert.ok(page !== undefined && lacksBareChunk(page));
  assert.deepEqual(sections, []);
});

for (const [what, failed, vectors, finding] of [
  ['that the encoder fails on is not compared', new Map([[0, 'the encoder ended']]), 0, undefined],
  ['of another vector is a fault', new Map<number, string>(), 1, /page 1: a vector of e is not of its text/],
] as const) {
  test(`a text ${what}`, async (t) => {
    const dir = copiedFolder(t);
    await tamper(dir, ({ models, vectors }) => {
      models.put('e', { ...(models.get('m') as EmbeddingModel), ...builtInModel, id: 'e', space: 2 });
      vectors.put([2, 1], Buffer.from(new Float32Array(2 * builtInModel.dim).fill(0.05).buffer));
    });
    const encode = async (texts: readonly string[]) => {
      return { rows: new Float32Array(texts.length * builtInModel.dim), failed };
    };
    const { store, compared } = await checkFolder(dir, { ...comparing, texts: { encode, isOver: () => false } });
    assert.equal(compared?.vectors, vectors);
    assert.equal(compared.changed.has(1), finding !== undefined);
    const found = store.filter((line) => / is not of its text/.test(line));
    assert.deepEqual([found.length, found.every((line) => finding?.test(line))], [vectors, true]);
  });
}

test('repairing a sound store changes nothing', async (t) => {
  const dir = copiedFolder(t);
  const repairs = await repaired(dir);
  assert.deepEqual(repairs, {
    ...{ orphans_dropped: 0, pages_requeued: 0, queries_dropped: 0 },
    ...{ entities_repaired: 0, clusters_repaired: 0 },
  });
  assert.equal(isClean(await checkFolder(dir)), true);
});
