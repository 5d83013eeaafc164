/**
 * Killed three times while eight clients push pages: nothing that was acknowledged is lost, doubled or half there. The moments are
 * drawn from a seed, which is printed; READBACK_TEST_SEED sets it. READBACK_TEST_KILLS: how often (200 in a soak).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder } from '../../src/composition/check-folder.ts';
import type { JobRetryBatchResponse } from '../../src/domain/job.ts';
import type { PageResponse, PageStatusResponse } from '../../src/domain/page.ts';
import { seededChance } from '../seeded-chance.ts';
import { RunningService, until } from './service.ts';

const kills = Number(process.env.READBACK_TEST_KILLS ?? 3);
const pages = 20 * kills;
/** Pages are pushed in this many waves, so that each kill but those during a start, every third, falls into one. */
const waveCount = Math.ceil((kills * 2) / 3);
const clients = 8;
const batchSize = 10;

interface Visit {
  /** Which page. */
  no: number;
  url: string;
}

/** What the clients know of one page. */
interface Pushed {
  acknowledged: number;
  /** Requests that ended without an answer. */
  unknown: number;
  ids: Set<string>;
}

test('no page that was acknowledged is lost or doubled by kills during ingest', async (t) => {
  const { random } = seededChance(t, 20201);
  const service = await RunningService.start(t);
  const pushed = Array.from({ length: pages }, (): Pushed => ({ acknowledged: 0, unknown: 0, ids: new Set() }));
  const waves = wavesOf(random);
  const queue: Visit[][] = [];
  let killed = 0;
  let open = true;

  const send = async (visits: Visit[]): Promise<boolean> => {
    try {
      const [first] = visits;
      const answered =
        visits.length === 1
          ? await service.call<{ page_id: string }>('POST', '/v1/pages', submission(first))
          : await service.call<{ results: { page_id: string; outcome: string }[] }>('POST', '/v1/pages/batch', {
              pages: visits.map(submission),
            });
      assert.ok([200, 202].includes(answered.status), JSON.stringify(answered.body));
      const results = 'results' in answered.body ? answered.body.results : [answered.body];
      visits.forEach(({ no }, place) => {
        pushed[no].acknowledged++;
        pushed[no].ids.add(results[place].page_id);
      });
      return true;
    } catch (error) {
      if (error instanceof assert.AssertionError && !error.message.includes('not running')) throw error;
      for (const { no } of visits) pushed[no].unknown++;
      return false;
    }
  };
  const client = async () => {
    while (open) {
      const visits = queue.shift();
      if (visits === undefined) await delay(20);
      else if (!(await send(visits))) {
        queue.unshift(visits); // as an importer does: again, until it is acknowledged
        await delay(5);
      }
    }
  };
  t.after(() => {
    open = false;
  });
  const working = Promise.all(Array.from({ length: clients }, client));

  for (const wave of waves) {
    queue.push(...wave);
    await delay(20 + random() * 280);
    await service.kill();
    killed++;
    if (killed % 3 === 2) {
      service.spawn();
      await delay(random() * 600); // some die before they are ready
      await service.kill();
      killed++;
    }
    await service.start();
  }
  assert.ok(killed >= kills);
  const isAcknowledged = () => pushed.every(({ acknowledged }) => acknowledged > 0) && queue.length === 0;
  await until(isAcknowledged, 'all is acknowledged');
  open = false;
  await working;

  const ids = pushed.map(({ ids }) => [...ids]);
  assert.ok(
    ids.every((each) => each.length === 1),
    'each page has one id, whoever asked and however often',
  );
  const pageIds = ids.flat();
  assert.equal(new Set(pageIds).size, pages);
  const blamed = await retryBlamed(service, pageIds, await service.settled(pageIds));
  const statuses = await service.settled(pageIds);
  assert.deepEqual(
    statuses.filter((status) => status !== 'indexed'),
    [],
  );

  for (const [no, { acknowledged, unknown }] of pushed.entries()) {
    const { body } = await service.call<PageResponse>('GET', `/v1/pages/${pageIds[no]}`);
    assert.equal(body.canonical_url, canonicalUrl(no));
    assert.ok(
      body.visit_count >= acknowledged && body.visit_count <= acknowledged + unknown,
      `page ${no}: ${body.visit_count} visits, ${acknowledged} acknowledged and ${unknown} unknown`,
    );
  }
  for (let no = 0; no < pages; no += 20) {
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/search', {
      query: ownWord(no),
    });
    assert.equal(body.results[0]?.page_id, pageIds[no], `the page with ${ownWord(no)} is found first`);
  }
  const { body } = await service.call<{ jobs: { kind: string; status: string }[] }>(
    'GET',
    '/v1/jobs?limit=1000&kind=index_page',
  );
  assert.ok(body.jobs.every(({ kind, status }) => kind === 'index_page' && status === 'done'));
  // One each time that it had been done before more pages came.
  const { body: fills } = await service.call<{ jobs: unknown[] }>('GET', '/v1/jobs?limit=1000&kind=backfill_model');
  const { body: metrics } = await service.call<string>('GET', '/metrics');
  assert.equal(
    /^jobs\{status="done"\} (\d+)$/m.exec(metrics)?.[1],
    String(pages + fills.jobs.length),
    'each page has one job, which is done',
  );

  await service.stop();
  assert.ok(!/timber|utm_source/.test(service.output), 'neither text nor addresses of pages are in the log');
  const { obsolete: _, chunks, ...report } = await checkFolder(service.dataDir);
  assert.deepEqual(report, { pages, store: [], index: [], missing: 0, waiting: 0, refused: 0 });
  assert.ok(chunks >= pages);
  const [fastest, slowest] = [Math.min(...service.startTimes), Math.max(...service.startTimes)];
  t.diagnostic(
    `starts took ${fastest} to ${slowest} ms; ${pushed.filter(({ unknown }) => unknown > 0).length} pages were sent again, ${blamed} were blamed for kills`,
  );
});

/**
 * Where starts are slow and kills many, a job may run alone at as many kills as it has attempts: then it counts as their cause, and is dead
 * until somebody has it tried again. Nothing else may be dead here. Gives how many there were.
 */
async function retryBlamed(
  service: RunningService,
  pageIds: readonly string[],
  statuses: readonly string[],
): Promise<number> {
  const dead = pageIds.filter((_, at) => statuses[at] === 'dead');
  for (const id of dead) {
    const { body } = await service.call<PageStatusResponse>('GET', `/v1/pages/${id}/status`);
    assert.equal(body.last_error, 'the process ended each time this job ran alone');
  }
  const { body } = await service.call<JobRetryBatchResponse>('POST', '/v1/jobs/retry', { kind: 'index_page' });
  assert.deepEqual([body.requested, body.retried], [dead.length, dead.length]);
  return dead.length;
}

/** One wave between two kills: single pages and batches, and some pages a second time under another URL of theirs. */
function wavesOf(random: () => number): Visit[][][] {
  return Array.from({ length: waveCount }, (_, wave) => {
    const from = Math.round((wave * pages) / waveCount);
    const to = Math.round(((wave + 1) * pages) / waveCount);
    const calls: Visit[][] = [];
    for (let no = from; no < to; ) {
      const size = random() < 0.5 ? 1 : Math.min(batchSize, to - no);
      const visits = Array.from({ length: size }, (_, place) => ({ no: no + place, url: canonicalUrl(no + place) }));
      calls.push(visits);
      if (random() < 0.3) calls.push([{ no, url: `${canonicalUrl(no)}?utm_source=again&fbclid=${no}` }]);
      no += size;
    }
    return calls;
  });
}

function submission({ no, url }: Visit) {
  return { url, title: `Page number ${no}`, body_extracted: textOf(no), source: 'crash test' };
}

const canonicalUrl = (no: number) => `https://site-${no % 7}.example/articles/${no}`;

/** Words that nothing knows but this page: consonants only, so that no stemmer touches them. */
function ownWord(no: number): string {
  const letters = 'bcdfghjklm';
  return `zq${[...String(no).padStart(4, '0')].map((digit) => letters[Number(digit)]).join('')}x`;
}

function textOf(no: number): string {
  const sentence = 'The river carried timber past the old mill while the keeper wrote down the height of the water.';
  return `${Array.from({ length: 4 }, () => sentence).join(' ')} A note says ${ownWord(no)}. ${sentence}`;
}
