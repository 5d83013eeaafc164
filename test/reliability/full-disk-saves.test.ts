/** Reliability check C21: saves of both sides onto a full disk leave the old generation valid, and are made good later. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { VectorSpace } from '../../src/engine/vectors/vector-space.ts';
import { openSpaceThreads, range, setOf, spaceFixture, vectorOf, vectorsOf } from '../engine/vectors/space-harness.ts';
import { until } from '../process/service.ts';
import { SmallDisk } from './small-disk.ts';

const disk = SmallDisk.mount(8);
const skip = typeof disk === 'string' ? disk : false;
const threads = openSpaceThreads();
after(async () => {
  await threads.close();
  if (typeof disk !== 'string') disk.unmount();
});

test('a space on a full disk keeps its old files, goes on adding and searching, and is saved when there is space', {
  skip,
}, async () => {
  if (typeof disk === 'string') return;
  const dir = join(disk.path, 'space');
  await using made = await spaceFixture(threads, { dir, saveEvery: 500 });
  const { space } = await VectorSpace.open(made.options, setOf([]));
  await space.add(range(0, 400), vectorsOf(range(0, 400)));
  await space.save();
  const manifest = readFileSync(join(dir, 'manifest.json'));
  const files = readdirSync(dir).sort();

  disk.fill();
  await space.add(range(400, 5000), vectorsOf(range(400, 5000)));
  // Saves that come due during adds fail and are logged; so does one that is asked for.
  await assert.rejects(space.save(), /ENOSPC|not written as it is/);
  assert.equal((await space.search(vectorOf(4321), 1)).labels[0], 4321);
  assert.deepEqual(readFileSync(join(dir, 'manifest.json')), manifest);
  // One more that came due before may still be at it.
  await until(async () => isDeepStrictEqual(readdirSync(dir).sort(), files), 'nothing is left of what was not written');

  disk.clear();
  await space.save();
  assert.notDeepEqual(readFileSync(join(dir, 'manifest.json')), manifest);
  await space.close();
  const again = await VectorSpace.open(made.options, setOf(range(0, 5000)));
  assert.deepEqual([again.missing.length, again.lost], [0, false]);
  assert.equal((await again.space.search(vectorOf(4321), 1)).labels[0], 4321);
  await again.space.drop();
});
