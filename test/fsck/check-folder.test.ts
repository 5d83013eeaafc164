import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { builtInModel, type EmbeddingModel } from '../../src/domain/model.ts';
import { openPageTools } from '../../src/engine/prepare-page.ts';
import { CliHere } from '../cli/run-cli.ts';
import { temporaryFolder } from '../scope.ts';
import { clusterFaults } from './cluster-faults.ts';
import { entityFaults } from './entity-faults.ts';
import { dim, makeFolder } from './made-folder.ts';
import { backfillOf, modelFaults, refusal } from './model-faults.ts';
import { lacksBeginning, pageFaults } from './page-faults.ts';
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

/** Whatever is wrong, pages can be compared. */
const comparing = {
  sample: { seed: 1, pages: Number.POSITIVE_INFINITY },
  tools: openPageTools({ target_tokens: 256, overlap_tokens: 32, hard_max_tokens: 512 }),
};

const faults = [pageFaults, modelFaults, entityFaults, clusterFaults, watchFaults].flat();

for (const [finding, plant] of faults) {
  test(`the check finds ${finding.source}`, async (t) => {
    const dir = copiedFolder(t);
    const before = await checkFolder(dir);
    const sound = { pages: 3, chunks: 6, store: [], index: [], waiting: 0, refused: 0, missing: 0, obsolete: 0 };
    assert.deepEqual({ ...before, missing: 0 }, sound);
    await tamper(dir, plant);
    const found = await checkFolder(dir, comparing);
    assert.match(found.store.join('\n'), finding);
    assert.equal(isClean(found), false);
  });
}

test('an export of a store with faults of every kind, imported into a new folder, gives a sound one', async (t) => {
  const [home, newHome] = [temporaryFolder(t), temporaryFolder(t)];
  const [dir, newDir] = [home, newHome].map((each) => join(each, 'data'));
  cpSync(template, dir, { recursive: true });
  await tamper(dir, (tables) => {
    for (const [finding, plant] of faults) if (finding !== lacksBeginning) plant(tables); // page 2 has a changed text
  });
  const file = join(home, 'export.jsonl');
  const exported = await new CliHere(home).json<Record<string, number>>(['export', file]);
  assert.deepEqual([exported.pages, exported.rules, exported.watches], [3, 1, 1]);
  const imported = await new CliHere(newHome).json<Record<string, number>>(['import', file]);
  assert.deepEqual([imported.new_pages, imported.rules, imported.watches], [3, 1, 1]);
  const report = await checkFolder(newDir);
  assert.deepEqual([report.pages, report.store, isClean(report)], [3, [], true]);
});

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
  const report = await checkFolder(dir);
  assert.deepEqual([report.store, report.refused, isClean(report)], [[], 2, true]);
});

for (const [what, failed, vectors, finding] of [
  ['that the encoder fails on is not compared', new Map([[0, 'the encoder ended']]), 0, undefined],
  ['of another vector is a fault', new Map<number, string>(), 1, /page 1: a vector of e does not match its text/],
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
    const found = store.filter((line) => / does not match its text/.test(line));
    assert.deepEqual([found.length, found.every((line) => finding?.test(line))], [vectors, true]);
  });
}
