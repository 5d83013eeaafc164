/**
 * Killed again and again while topics are found: in the end there is one run for each that was asked for, with every page counted
 * once, and the folder is whole. The moments are drawn from a seed, which is printed; READBACK_TEST_SEED sets it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type {
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunResponse,
  ClusterRunsResponse,
} from '../../src/domain/cluster.ts';
import type { JobListResponse } from '../../src/domain/job.ts';
import { seededChance } from '../seeded-chance.ts';
import { RunningService, until } from './service.ts';

/** Kills of the first run, and of the second. */
const killsOfRuns = [2, 1];
/** Runs at most: more than those where no kill has found one that had only begun. */
const maxRuns = 8;
const topics = [
  'heron egret stork river marsh nest feather wing fish pond',
  'bread flour oven dough yeast salt crust bake knead loaf',
  'chess king bishop knight pawn castle opening board rook check',
  'engine steam piston boiler cylinder valve pressure pump coal wheel',
].map((words) => words.split(' '));
const perTopic = process.env.READBACK_TEST_ALL_POINTS === '1' ? 25 : 10;

const phaseOf = ({ finished_at, params }: ClusterRunResponse) =>
  finished_at !== null ? 'over' : 'model' in params ? 'drafted' : 'begun';

test('a run that is killed in any phase goes on, and counts once', async (t) => {
  const { random } = seededChance(t, 77);
  const service = await RunningService.start(t, {
    SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '10000',
    SERVICE_CLUSTER__MIN_PAGES: '20',
    SERVICE_JOBS__MAX_ATTEMPTS: '20', // a job that was alone in so many crashes would be given up
  });
  const pages = topics.flatMap((words, topic) =>
    Array.from({ length: perTopic }, (_, i) => ({
      url: `https://topic${topic}.example/${i}`,
      body_extracted: Array.from({ length: 30 }, () => words[Math.floor(random() * words.length)]).join(' '),
    })),
  );
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  await service.settled(body.results.map(({ page_id }) => page_id));
  const list = async () => (await service.call<ClusterRunsResponse>('GET', '/v1/clusters/runs')).body.runs;

  /** Phases in which a kill found the run. */
  const phases = new Set<string>();
  let ids: string[] = [];
  let accepted = 0;
  for (let i = 0; i < killsOfRuns.length || (!phases.has('begun') && i < maxRuns); i++) {
    const kills = killsOfRuns[i] ?? 1;
    const latestMs = i === 1 ? 400 : 0;
    const asked = await service.call('POST', '/v1/clusters/recompute');
    assert.deepEqual([asked.status, asked.body], [202, { accepted: true, detail: null }]);
    accepted++;
    for (let kill = 0; kill < kills; kill++) {
      if (kill === 1) await until(async () => phaseOf((await list())[0]) !== 'begun', 'it is drafted');
      else await delay(random() * latestMs);
      const [run] = await list();
      phases.add(phaseOf(run));
      await service.kill();
      await service.start();
      const again = await list();
      assert.equal(again.length, accepted, 'no run is lost or doubled');
      if (again[0].finished_at === null && (await service.call('POST', '/v1/clusters/recompute')).status !== 409) {
        accepted++; // the run was over by then
        assert.notEqual((await list())[1].finished_at, null, 'one run at a time');
      }
    }
    await until(async () => {
      const { body } = await service.call<JobListResponse>('GET', '/v1/jobs?kind=cluster&limit=1');
      assert.notEqual(body.jobs[0].status, 'dead', body.jobs[0].last_error ?? '');
      return (await list())[0].finished_at !== null;
    }, 'the run is over');
    const [run] = await list();
    assert.deepEqual([run.n_pages, run.n_clusters], [pages.length, topics.length]);
    const { body: found } = await service.call<ClusterListResponse>('GET', '/v1/clusters?include_tombstoned=true');
    assert.deepEqual(
      found.clusters.map(({ tombstoned }) => tombstoned),
      topics.map(() => false),
      'no cluster of a broken attempt is left',
    );
    assert.equal(
      found.clusters.reduce((sum, { size }) => sum + size, 0),
      pages.length - (run.n_noise ?? 0),
    );
    const isOfOne = (keyword: string) =>
      topics.some((words) => keyword.split(' ').every((word) => words.includes(word)));
    assert.ok(found.clusters.every(({ keywords }) => isOfOne(keywords[0])));
    const { body: map } = await service.call<ClusterProjectionResponse>(
      'GET',
      `/v1/clusters/projection?run_id=${run.id}`,
    );
    assert.equal(new Set(map.points.map(({ page_id }) => page_id)).size, pages.length);
    if (ids.length > 0) assert.deepEqual(found.clusters.map(({ id }) => id).sort(), ids, 'ids stay');
    ids = found.clusters.map(({ id }) => id).sort();
  }
  t.diagnostic(`killed when it was ${[...phases].join(', ')}`);
  assert.ok(phases.has('begun'));
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
});
