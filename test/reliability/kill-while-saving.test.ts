/**
 * Killed (SIGKILL) at each step of a save of index files: begun, half written, before and after each flush and renaming. The generation
 * before stays valid until the manifest has its name, what was being written counts for nothing, and the next save succeeds.
 * Each step costs the start of a process, so some of them are enough for every day: READBACK_TEST_ALL_POINTS=1
 * (`npm run soak -- --only damage`) takes them all.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { VectorSpace } from '../../src/engine/vectors/vector-space.ts';
import {
  nearest,
  openSpaceThreads,
  recall,
  setOf,
  spaceFixture,
  vectorOf,
  vectorsOf,
} from '../engine/vectors/space-harness.ts';
import { closeThreads, openThreads, SparseHarness } from '../engine/words/sparse-harness.ts';
import { RunningService } from '../process/service.ts';
import { FailingDisk, type KillPoint } from './failing-disk.ts';
import { allLabels, documentsOf, laterLabels, savedModel, words } from './saved-index.ts';

const disk = FailingDisk.build();
const skip = typeof disk === 'string' ? disk : false;
const spaceThreads = openSpaceThreads();
const threads = openThreads();
after(async () => {
  await Promise.all([spaceThreads.close(), closeThreads(threads)]);
  if (typeof disk !== 'string') disk.remove();
});

const allPoints = process.env.READBACK_TEST_ALL_POINTS === '1';

type Valid = 'the old generation' | 'the new generation';
type Steps = Record<string, [KillPoint, Valid]>;

const manifestSteps: Steps = {
  'the manifest is begun': [{ call: 'write', path: '*/manifest.json.new' }, 'the old generation'],
  'the manifest is to be flushed': [{ call: 'sync', path: '*/manifest.json.new' }, 'the old generation'],
  'the manifest is to get its name': [{ call: 'rename', path: '*/manifest.json.new' }, 'the old generation'],
  'the manifest has its name': [{ call: 'renamed', path: '*/manifest.json.new' }, 'the new generation'],
};
const spaceSteps: Steps = {
  'rows are begun': [{ call: 'write', path: '*/2.rows.new' }, 'the old generation'],
  'rows are half written': [{ call: 'write', path: '*/2.rows.new', count: 2 }, 'the old generation'],
  'rows are to be flushed': [{ call: 'sync', path: '*/2.rows.new' }, 'the old generation'],
  'rows are to get their name': [{ call: 'rename', path: '*/2.rows.new' }, 'the old generation'],
  ...manifestSteps,
  'old files are deleted': [{ call: 'unlink', path: '*/1.rows' }, 'the new generation'],
};
const sparseSteps: Steps = {
  'a segment is begun': [{ call: 'write', path: '*.segment.new' }, 'the old generation'],
  'a segment is to be flushed': [{ call: 'sync', path: '*.segment.new' }, 'the old generation'],
  'a segment is to get its name': [{ call: 'rename', path: '*.segment.new' }, 'the old generation'],
  ...manifestSteps,
};

/** Merging is done in memory: what is on the disk changes with the save after it. */
const mergeSteps: Steps = {
  'the merged segment is to be flushed': [{ call: 'sync', path: '*/3.segment.new' }, 'the old generation'],
  'the merged segment is to get its name': [{ call: 'rename', path: '*/3.segment.new' }, 'the old generation'],
  'the merged segment has its name': [{ call: 'renamed', path: '*/3.segment.new' }, 'the old generation'],
  ...manifestSteps,
  'what was merged is deleted': [{ call: 'unlink', path: '*/1.segment' }, 'the new generation'],
};

/** What is tried every day. */
const dailySteps = new Set([
  'rows are half written',
  'rows are to get their name',
  'a segment is to get its name',
  'the manifest is to get its name',
  'the manifest has its name',
  'the merged segment has its name',
]);
/** One function writes every manifest: its steps are tried daily with those of vectors alone. */
const stepsOf = (steps: Steps) =>
  Object.entries(steps).filter(
    ([step]) => allPoints || (dailySteps.has(step) && (steps === spaceSteps || !(step in manifestSteps))),
  );

/** Save in a process that is killed there; gives the folder. */
async function savedUntil(faults: FailingDisk, kind: 'space' | 'sparse' | 'merge', point: KillPoint): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'readback-killed-'));
  const script = join(import.meta.dirname, 'saving-process.ts');
  const loader = join(import.meta.dirname, '../../scripts/tsx-in-threads.mjs');
  const child = spawn(process.execPath, ['--import', loader, script, kind, dir, faults.pathOf('kill')], {
    env: { ...process.env, ...faults.envToDieAt(point) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'close');
  faults.mend('kill');
  assert.equal(child.signalCode, 'SIGKILL', 'the process came to the point and died there');
  return dir;
}

const missingOf: Record<Valid, Uint32Array> = {
  'the old generation': laterLabels,
  'the new generation': new Uint32Array(0),
};
const generationOf = (dir: string): number =>
  JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')).generation as number;

for (const [step, [point, valid]] of stepsOf(spaceSteps)) {
  test(`vectors: a kill when ${step} leaves ${valid}`, { skip }, async () => {
    if (typeof disk === 'string') return;
    const dir = await savedUntil(disk, 'space', point);
    try {
      assert.equal(generationOf(dir), valid === 'the old generation' ? 1 : 2);
      const made = await spaceFixture(spaceThreads, { dir, modelId: savedModel });
      const { space, missing, lost } = await VectorSpace.open(made.options, setOf(allLabels));
      assert.deepEqual([missing, lost, made.warnings], [missingOf[valid], false, []]);
      assert.deepEqual(
        readdirSync(dir).filter((name) => name.endsWith('.new') || name.endsWith('.bad')),
        [],
      );
      await space.add(missing, vectorsOf(missing));
      await space.save();
      await space.close();
      const again = await VectorSpace.open(made.options, setOf(allLabels));
      assert.equal(again.missing.length, 0);
      const query = vectorOf(70_000);
      const { labels } = await again.space.search(query, 20);
      assert.ok(recall(labels, nearest(query, allLabels, 20)) >= 0.95);
      await again.space.drop();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

const segmentSteps = [
  ...stepsOf(sparseSteps).map(([step, how]) => ({ kind: 'sparse' as const, what: 'segments', step, how })),
  ...stepsOf(mergeSteps).map(([step, how]) => ({ kind: 'merge' as const, what: 'merged segments', step, how })),
];
for (const {
  kind,
  what,
  step,
  how: [point, valid],
} of segmentSteps) {
  test(`${what}: a kill when ${step} leaves ${valid}`, { skip }, async () => {
    if (typeof disk === 'string') return;
    const dir = await savedUntil(disk, kind, point);
    try {
      // Opening an empty folder makes its first.
      assert.equal(generationOf(dir), valid === 'the old generation' ? 2 : 3);
      const harness = await SparseHarness.open(threads, dir, documentsOf(allLabels));
      assert.deepEqual([harness.missing, harness.lost, harness.lines], [missingOf[valid], false, []]);
      await harness.addMissing();
      await harness.assertExact(['hen', ...words]);
      await harness.index.save();
      await harness.index.close();
      const again = await SparseHarness.open(threads, dir, documentsOf(allLabels));
      assert.deepEqual([again.missing.length, again.lines], [0, []]);
      await again.index.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

test('a service that is killed while it saves a side answers the same after a start', {
  skip,
}, async (t) => {
  if (typeof disk === 'string') return;
  const points: KillPoint[] = [
    { call: 'sync', path: '*/sparse/*.segment.new' },
    { call: 'rename', path: '*/dense/*/manifest.json.new' },
    { call: 'rename', path: '*/dense/*/*.rows.new' },
    { call: 'write', path: '*/pages/*/*.rows.new' },
    { call: 'rename', path: '*/sparse/manifest.json.new' },
  ];
  const service = RunningService.prepare(t);
  const birds = ['heron', 'egret', 'stork', 'ibis', 'crane', 'plover', 'avocet'];
  const textOf = (no: number) =>
    Array.from({ length: 40 }, (_, i) => `${birds[(no + i * (no % 5)) % birds.length]} ${i % (no + 2)}`).join(' ');
  const answers = async () => {
    const found: unknown[] = [];
    for (const query of ['heron', 'a stork and an ibis', 'avocet 7']) {
      const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query, k: 20 });
      found.push(body.results.map(({ page_id, score }) => [page_id, score]));
    }
    return found;
  };
  for (const [round, point] of (allPoints ? points : points.slice(0, 1)).entries()) {
    await service.start(disk.envToDieAt(point));
    const pages = Array.from({ length: 12 }, (_, i) => round * 12 + i).map((no) => ({
      url: `https://birds.example/${no}`,
      title: `Sighting ${no}`,
      body_extracted: textOf(no),
    }));
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
    const ids = body.results.map(({ page_id }) => page_id);
    const isOfWords = point.path.includes('/sparse/');
    assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
    const before = isOfWords ? await answers() : null;
    disk.fail('kill');
    const ended = await service.kill('SIGTERM');
    // In quiet seconds it saves by itself: where this process was held up so long, nothing is left to save.
    if (ended.code !== 0) assert.deepEqual(ended, { code: null, signal: 'SIGKILL' }, point.path);
    disk.mend('kill');
    await service.start();
    // Again, where that was not on the disk yet.
    assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
    if (before !== null) assert.deepEqual(await answers(), before, point.path);
    await service.stop();
    const report = await checkFolder(service.dataDir);
    assert.ok(isClean(report) && (report.missing === 0 || !isOfWords), `${point.path}: ${JSON.stringify(report)}`);
  }
});
