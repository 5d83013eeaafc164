/**
 * A process that saves a vector space or a sparse index, says so, and saves it again with more in it: to be killed meanwhile.
 * Arguments: `space`, `sparse`, or `merge` for a sparse index whose segments are merged before it is saved again; the folder; and the file whose
 * being there arms the kill.
 */
import { writeFileSync } from 'node:fs';
import { VectorSpace } from '../../src/engine/vectors/vector-space.ts';
import type { SparseIndex } from '../../src/engine/words/sparse-index.ts';
import { openSpaceThreads, setOf, spaceFixture, vectorsOf } from '../engine/vectors/space-harness.ts';
import { openThreads, SparseHarness } from '../engine/words/sparse-harness.ts';
import { documentsOf, firstLabels, laterLabels, savedModel } from './saved-index.ts';

const [kind, dir, armed] = process.argv.slice(2);

async function saveSpace(): Promise<void> {
  const { options } = await spaceFixture(openSpaceThreads(), { dir, modelId: savedModel });
  const { space } = await VectorSpace.open(options, setOf([]));
  await space.add(firstLabels, vectorsOf(firstLabels));
  await space.settled();
  await space.save();
  writeFileSync(armed, '');
  await space.add(laterLabels, vectorsOf(laterLabels));
  await space.settled();
  await space.save();
}

async function saveSparse(again: (index: SparseIndex) => Promise<void>): Promise<void> {
  const harness = await SparseHarness.open(openThreads(), dir, new Map());
  await harness.add(firstLabels[0], [...documentsOf(firstLabels).values()]);
  await harness.index.save();
  writeFileSync(armed, '');
  await harness.add(laterLabels[0], [...documentsOf(laterLabels).values()]);
  await again(harness.index);
}

const saves: Record<string, () => Promise<void>> = {
  space: saveSpace,
  sparse: () => saveSparse((index) => index.save()),
  merge: () => saveSparse((index) => index.consolidate()),
};
await saves[kind]();
process.exit(0);
