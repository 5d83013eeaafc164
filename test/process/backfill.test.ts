/**
 * A backfill killed at some moments from its start to its end, each with a model of its own: every chunk has its vector once, the same as
 * without a kill, pages that came meanwhile included. One moment by default; READBACK_BACKFILL_ROUNDS makes it fifteen, so many times over (3 for a soak).
 * A moment is a share of the chunks that are done. Where a kill came too late, others come sooner.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import type { ModelBackfillResponse } from '../../src/domain/model.ts';
import { StoreView } from '../../src/store/store-view.ts';
import { RunningService, until } from './service.ts';

const soakRounds = process.env.READBACK_BACKFILL_ROUNDS;
const pages = soakRounds === undefined ? 30 : 150;
const linesOfLongPages = soakRounds === undefined ? 200 : 600;
const points = soakRounds === undefined ? 1 : 15;
/** Models whose vectors are compared at the end. */
const kept = Math.min(points, 3);
const rounds = Number(soakRounds ?? 1);
const sentence = 'The river carried timber past the old mill while the keeper wrote down the height of the water.';

test('a backfill that is killed anywhere embeds every chunk once', async (t) => {
  const service = await RunningService.start(t);
  let pushed = 0;
  const push = async (count: number) => {
    const batch = Array.from({ length: count }, (_, i) => {
      const no = pushed + i;
      const text = Array.from(
        { length: no % 10 === 0 ? linesOfLongPages : 20 },
        (_, line) => `${sentence} Note ${no} of line ${line}.`,
      ).join(' ');
      return { url: `https://site-${no % 7}.example/${no}`, title: `Page ${no}`, body_extracted: text };
    });
    pushed += count;
    for (let at = 0; at < count; at += 100) {
      const { status } = await service.call('POST', '/v1/pages/batch', { pages: batch.slice(at, at + 100) });
      assert.equal(status, 200);
    }
  };
  const noJobs = async () => {
    for (const status of ['pending', 'running', 'failed']) {
      const { body } = await service.call<{ jobs: unknown[] }>('GET', `/v1/jobs?limit=1&status=${status}`);
      if (body.jobs.length > 0) return false;
    }
    return true;
  };
  const register = async (id: string) => {
    const model = { provider: 'local', model_name: 'multilingual-e5-small', dim: 384, max_input_tokens: 32_000, id };
    assert.equal((await service.call('POST', '/v1/models', model)).status, 201);
    assert.equal((await service.call('POST', `/v1/models/${id}/backfill`, { confirm: true })).status, 202);
  };
  const progress = async (id: string) =>
    (await service.call<ModelBackfillResponse>('GET', `/v1/models/${id}/backfill`)).body;

  await push(pages);
  await until(noJobs, 'everything is indexed');
  await register('whole');
  await until(async () => (await progress('whole')).status === 'complete', 'a backfill is complete');
  const { total_chunks: chunks } = await progress('whole');

  const interrupted: number[] = [];
  const enough = (rounds * points) / 2;
  let hurry = 1;
  for (let kill = 0; kill < rounds * points || (interrupted.length < enough && kill < 4 * rounds * points); kill++) {
    const id = `killed-${kill}`;
    await register(id);
    await push(1);
    const moment = (((kill % points) + 0.5) / points) * chunks * hurry;
    await until(async () => (await progress(id)).embedded_chunks >= moment, `${moment} chunks are done`);
    await service.kill();
    await service.start();
    const { embedded_chunks, status } = await progress(id);
    if (status === 'running') interrupted.push(embedded_chunks);
    else hurry /= 2;
    await until(async () => (await progress(id)).status === 'complete', `${id} is complete`);
    await until(noJobs, 'everything is indexed');
    const done = await progress(id);
    assert.equal(done.embedded_chunks, done.total_chunks);
    if (kill >= kept) assert.equal((await service.call('DELETE', `/v1/models/${id}`)).status, 204);
  }
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.deepEqual([report.pages, report.store, report.index], [pushed, [], []]);
  const view = StoreView.open(service.dataDir);
  t.after(() => view.close());
  const { models, vectors, pages: stored } = view.reader;
  const rowsOf = (model: string, no: number) => vectors.get(models.get(model)?.space ?? 0, no);
  for (const { no } of stored.all()) {
    const whole = rowsOf('whole', no);
    for (let kill = 0; kill < kept; kill++) assert.deepEqual(rowsOf(`killed-${kill}`, no), whole, `page ${no}`);
  }
  assert.ok(interrupted.length >= enough, 'most kills came while the backfill ran');
  t.diagnostic(`of ${chunks} chunks were done at the kills: ${interrupted.join(', ')}`);
});
