/** Words of forgotten pages in places that are not the page's own: names of topics, merges of entities, failures of imports. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { importItems } from '../../src/actors/ingest/import-target.ts';
import { mergeEntities } from '../../src/commands/merge-entities.ts';
import { createJob } from '../../src/commands/move-job.ts';
import { storePageEntities } from '../../src/commands/page-entities.ts';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { type ImportCheckpoint, noCounts } from '../../src/domain/import.ts';
import { numberOf } from '../../src/domain/values.ts';
import { type Command, Store } from '../../src/store/store.ts';
import { until, withEntities } from '../process/service.ts';
import { filesHolding } from './byte-scan.ts';
import { library, WholeSystem } from './whole-system.ts';

/** One for each place. */
const canaries = ['zqxbody', 'zqxkeyword', 'zqxlabel', 'zqxspelling', 'zqxfailed'];

/** Write into the store of a system that does not run. */
async function written<Reply>(system: WholeSystem, command: Command<Reply>): Promise<Reply> {
  const store = await Store.open(system.dataDir, randomUUID);
  try {
    return await store.commit(command);
  } finally {
    await store.close();
  }
}

const checkpoint: ImportCheckpoint = {
  id: 'import',
  format: 'urls',
  options: { since: null, min_visits: 1 },
  next: 2,
  counts: { ...noCounts(), failed: 2 },
  newest: null,
  finished: true,
  started_at: 1,
  updated_at: 1,
};
const failedUrls = ['https://www.secret.example/zqxfailed', 'https://stays.example/failed'];

const targetOf = (url: string) => ({ canonical_url: url, domain: new URL(url).hostname });

test('what topics, merges and failed imports say of a forgotten page goes with it', async (t) => {
  const system = await WholeSystem.start(t, {
    ...withEntities,
    SERVICE_FORGET__COMPACT_AFTER_S: '0.1',
    SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '100000',
  });
  const ids = await system.read(library);
  const secret = await system.ask('page.ingest', {
    url: 'https://secret.example/heron',
    title: null,
    body_extracted: 'The brontok is a grey heron, says zqxbody.',
  });
  assert.ok('page_id' in secret);
  await until(async () => {
    const { jobs } = await system.ask('job.list', { limit: 1000 });
    return jobs.every(({ status }) => status === 'done');
  }, 'all is indexed and read');
  await system.stop();

  const [pageNo, otherNo] = [secret.page_id, ids.heron].map((id) => numberOf('page', id) ?? 0);
  await written(system, (transaction) => {
    const { clusters, counters, imports } = transaction;
    const no = counters.take('cluster');
    const run = counters.take('cluster_run');
    const times = { started_at: 1, finished_at: 2 };
    const counts = { n_pages: 2, n_clusters: 1, n_noise: 0 };
    clusters.putRun({ no: run, job_no: 0, trigger: 'manual', params: {}, ...times, ...counts, draft: null });
    clusters.note('latest', run);
    clusters.note('current', run);
    const point = { cluster_no: no, probability: 1, x: 0, y: 0, since: false };
    clusters.putPoints(
      run,
      [otherNo, pageNo].map((page_no) => ({ page_no, ...point })),
    );
    const names = { label: 'herons, zqxlabel', labelled: true, keywords: ['heron', 'zqxkeyword'] };
    clusters.put({ no, ...names, size: 2, tombstoned: false, x: 0, y: 0, stale: false });

    // New names are found some time after the files could be rewritten.
    createJob(transaction, { kind: 'label_clusters', page_no: null, max_attempts: 1, at: Date.now() + 3000 });

    const spellings = (...forms: string[]) => [
      {
        type: 'organization' as const,
        key: 'Brontok Works',
        forms: forms.map((form): [string, number[]] => [form, [0, 3]]),
      },
    ];
    storePageEntities(transaction, otherNo, spellings('Brontok Works'));
    storePageEntities(transaction, pageNo, spellings('Brontok Works', 'Zqxspelling', 'zqxspelling'));
    storePageEntities(transaction, numberOf('page', ids.bread) ?? 0, [
      { type: 'organization', key: 'Grey Works', forms: [['Grey Works', [0, 3, 5, 8, 9, 12, 13, 15, 16, 18, 19, 21]]] },
    ]);
    const [one, other] = ['Brontok Works', 'Grey Works'].map(
      (key) => transaction.entities.find('organization', key)?.no ?? 0,
    );
    assert.equal(mergeEntities(one, other, 1)(transaction)?.merged, one);

    imports.put(checkpoint);
    for (const [place, url] of failedUrls.entries()) imports.putFailure('import', { place, url, reason: 'a fault' });
  });
  const held = () => new Set(Object.values(filesHolding(system.dataDir, canaries)).flat());
  assert.deepEqual([...held()].sort(), [...canaries].sort());

  await system.start();
  const { pages_purged } = await system.ask('page.forget', { domain: 'secret.example' });
  assert.equal(pages_purged, 1);
  await until(async () => {
    const { verified } = (await system.ask('metrics.summary', {})).tombstones;
    const left = held();
    if (verified > 0) assert.ok(!left.has('zqxkeyword') && !left.has('zqxlabel'), 'what is verified is gone');
    return left.size === 0;
  }, 'no file holds a word of it');
  const topic = async () => (await system.ask('cluster.list', { include_tombstoned: false })).clusters[0];
  assert.ok(!(await topic()).keywords.includes('zqxkeyword'));
  await system.stop();

  // What fails later, too: an item that is forgotten and cannot be taken in is not noted down.
  const known = await written(system, ({ imports }) => ({
    counts: imports.get('import')?.counts,
    urls: imports.failures('import').map(({ url }) => url),
  }));
  assert.deepEqual(known, { counts: { ...noCounts(), failed: 1, blacklisted: 1 }, urls: [failedUrls[1]] });
  const items = failedUrls.map((url, place) => {
    const item = {
      url,
      title: null,
      at: null,
      visits: null,
      metadata: null,
      body_html: null,
      body_text: null,
      fault: null,
    };
    return { place, item };
  });
  const after = await written(
    system,
    importItems({
      before: { ...checkpoint, id: 'later', counts: noCounts() },
      batch: { items, skipped: {}, next: 2, last: true, retry: false },
      submissions: items.map(() => ({ rejected: 'a fault' })),
      targetOf,
      at: 1,
    }),
  );
  assert.deepEqual([after.counts.failed, after.counts.blacklisted], [1, 1]);
  assert.deepEqual(held(), new Set());
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.missing], [[], [], 0]);
});
