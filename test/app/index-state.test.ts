import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CliHere } from '../cli/run-cli.ts';
import { until } from '../process/service.ts';
import { library, WholeSystem } from './whole-system.ts';

/** Holds up every page's text on its way back to the index until it is opened. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let isHeld = false;
  const aroundRecovery = (recoverPage: (no: number) => Promise<void>) => async (no: number) => {
    if (isHeld) await opened;
    await recoverPage(no);
  };
  const hold = () => {
    isHeld = true;
  };
  return { aroundRecovery, open: () => open(), hold };
}

const losses: Record<string, (system: WholeSystem) => Promise<void>> = {
  'a restore': async ({ dataDir }) => {
    const cli = new CliHere(join(dataDir, '..'));
    const env = { SERVICE_DATA_DIR: dataDir };
    await cli.json(['backup', join(dataDir, '..', 'backup')], 0, { env });
    await cli.json(['restore', join(dataDir, '..', 'backup'), '--replace'], 0, { env });
  },
  'index files that were deleted': async ({ dataDir }) => rmSync(join(dataDir, 'index'), { recursive: true }),
};

for (const [loss, lose] of Object.entries(losses)) {
  test(`after ${loss} readiness and each search say that the index is built again, until it is whole`, async (t) => {
    const { aroundRecovery, open, hold } = gate();
    t.after(open);
    const system = await WholeSystem.start(t, {}, { aroundRecovery });
    await system.read(library);
    const state = async () => (await system.ask('system.readiness', {})).index;
    const search = () => system.search('herons');
    const { length } = Object.keys(library);
    assert.deepEqual(await state(), { state: 'whole', indexed_chunks: length, total_chunks: length });
    const before = await search();
    assert.ok(!('rebuilding' in before.timing_ms));
    await system.stop();

    await lose(system);
    hold();
    await system.start();
    assert.deepEqual(await state(), { state: 'rebuilding', indexed_chunks: 0, total_chunks: length });
    const partial = await search();
    assert.equal(partial.timing_ms.rebuilding, 1);
    open();
    await until(async () => (await state()).state === 'whole', 'the index is whole');
    assert.deepEqual(await state(), { state: 'whole', indexed_chunks: length, total_chunks: length });
    const after = await search();
    assert.ok(!('rebuilding' in after.timing_ms));
    assert.deepEqual(after.results, before.results);
  });
}

test('a search that began before the index was whole says so, though it is whole when the search ends', async (t) => {
  const { aroundRecovery, open, hold } = gate();
  t.after(open);
  const system = await WholeSystem.start(t, {}, { aroundRecovery });
  await system.read(library);
  await system.stop();
  rmSync(join(system.dataDir, 'index', 'sparse'), { recursive: true });
  hold();
  await system.start();
  const searching = system.search('herons');
  open();
  assert.equal((await searching).timing_ms.rebuilding, 1);
});

test('a page that cannot be brought back is missing until it is gone, indexed anew or the service starts again', async (t) => {
  let refused = 0;
  const aroundRecovery = (recoverPage: (no: number) => Promise<void>) => async (no: number) => {
    if (no === refused) throw new Error('planted');
    await recoverPage(no);
  };
  const system = await WholeSystem.start(t, {}, { aroundRecovery });
  await system.read(library);
  await system.stop();
  rmSync(join(system.dataDir, 'index', 'sparse'), { recursive: true });
  refused = 1;
  await system.start();
  const state = async () => (await system.ask('system.readiness', {})).index;
  const { length } = Object.keys(library);
  await until(async () => (await state()).indexed_chunks === length - 1, 'all others are back');
  assert.equal((await state()).state, 'rebuilding');
  const [path] = Object.keys(library);
  await system.ask('page.forget', { url: `https://example.com/${path}` });
  await until(async () => (await state()).state === 'whole', 'nothing is missing any more');
});
