/**
 * Killed (SIGKILL) when the store is about to flush for the first, second and third time after each kind of write was asked for: the write is
 * there whole or not at all, what was acknowledged is there, and the same call can be made again.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkFolder, isClean } from '../../src/fsck/check-folder.ts';
import { RunningService, until } from '../process/service.ts';
import { FailingDisk } from '../reliability/failing-disk.ts';
import { note } from './rare-states.ts';

const disk = FailingDisk.build();
const skip = typeof disk === 'string' ? disk : false;
after(() => {
  if (typeof disk !== 'string') disk.remove();
});

const flushes = [1, 2, 3];
/** An operation that flushes less often than that leaves the process alive, ms. */
const patienceMs = 4_000;
/** For all jobs to end, on a busy machine. */
const settleMs = 180_000;
const text = 'The lock keeper notes the level of the river every morning and every evening. ';

interface Call {
  method: string;
  path: string;
  body?: unknown;
  /** Answers when it is made again, beside 2xx: it was there already, or is gone. */
  again?: readonly number[];
}

const page = (url: string) => ({ url, title: url, body_extracted: `${text}${url} ${text.repeat(20)}` });

/** What is asked for while the process is about to be killed; `round` makes each call another one. */
const operations: Record<string, (round: number, service: RunningService) => Promise<Call> | Call> = {
  'a page is taken in, claimed, embedded and indexed': (round) => ({
    method: 'POST',
    path: '/v1/pages',
    body: page(`https://lock.example/one/${round}`),
  }),
  'a batch of pages is taken in': (round) => ({
    method: 'POST',
    path: '/v1/pages/batch',
    body: { pages: Array.from({ length: 30 }, (_, i) => page(`https://lock.example/many/${round}/${i}`)) },
  }),
  'a known page is visited again': () => ({
    method: 'POST',
    path: '/v1/pages',
    body: page('https://lock.example/kept/0'),
  }),
  'a page is forgotten': (round) => ({
    method: 'POST',
    path: '/v1/forget',
    body: { url: `https://gone.example/page/${round}` },
  }),
  'a domain is forgotten': (round) => ({
    method: 'POST',
    path: '/v1/forget',
    body: { domain: `gone${round}.example` },
  }),
  'a model is registered': (round) => ({
    method: 'POST',
    path: '/v1/models',
    body: { provider: 'ollama', model_name: 'words', dim: 32 + round, max_input_tokens: 512 },
    again: [409],
  }),
  'a watch is made': (round) => ({
    method: 'POST',
    path: '/v1/watches',
    body: { kind: 'rss', url: `https://lock.example/feed/${round}` },
    again: [409],
  }),
  'topics are found': () => ({ method: 'POST', path: '/v1/clusters/recompute', again: [409] }),
  'dead jobs are retried': () => ({ method: 'POST', path: '/v1/jobs/retry', body: {} }),
  'a search is logged and judged': () => ({ method: 'POST', path: '/v1/search', body: { query: 'lock keeper river' } }),
};

test('a kill at any flush of any write leaves all of it or nothing', { skip, timeout: 1_440_000 }, async (t) => {
  if (typeof disk === 'string') return;
  const service = await RunningService.start(t, {
    SERVICE_FORGET__COMPACT_AFTER_S: '0.5',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.1',
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: 'http://127.0.0.1:9/v1', // registered and never called
    SERVICE_CLUSTER__MIN_PAGES: '5',
    SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '10000',
  });
  const keptUrls = Array.from({ length: 20 }, (_, i) => `https://lock.example/kept/${i}`);
  const goneUrls = Object.keys(operations).flatMap((_, at) =>
    flushes.flatMap((flush) => [
      `https://gone.example/page/${at * 10 + flush}`,
      `https://gone${at * 10 + flush}.example/a`,
    ]),
  );
  const urls = [...keptUrls, ...goneUrls];
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages: urls.map(page),
  });
  const ids = body.results.map(({ page_id }) => page_id);
  const kept = ids.slice(0, keptUrls.length);
  await service.settled(ids);
  await service.stop();

  let killed = 0;
  let notReached = 0;
  for (const [at, [name, callOf]] of Object.entries(operations).entries()) {
    for (const flush of flushes) {
      const round = at * 10 + flush;
      const point = `${name}, flush ${flush}`;
      await service.start(disk.envToDieAt({ call: 'sync', path: '*/data.mdb', count: flush }));
      const { method, path, body, again = [] } = await callOf(round, service);
      disk.fail('kill');
      let acknowledged = false;
      const asking = service.call<object>(method, path, body).then(
        ({ status }) => {
          acknowledged = status < 300;
          assert.ok(status < 500, `${point}: ${status}`);
        },
        () => {}, // the process was killed before it answered
      );
      const ended = service.ended();
      const died = await Promise.race([
        ended.then(() => true),
        new Promise((resolve) => setTimeout(resolve, patienceMs, false)),
      ]);
      disk.mend('kill');
      if (died) killed++;
      else {
        notReached++;
        service.signal('SIGKILL');
        await ended;
      }
      await asking;

      await service.start();
      const repeated = await service.call<object>(method, path, body);
      assert.ok(
        repeated.status < 300 || again.includes(repeated.status),
        `${point}, again: ${repeated.status} ${JSON.stringify(repeated.body)}`,
      );
      if (acknowledged && path === '/v1/pages')
        assert.equal(repeated.status, 200, `${point}: what was acknowledged is known`);
      assert.deepEqual(new Set(await service.settled(kept)), new Set(['indexed']), point);
      let open: string[] = [];
      const noneIsOpen = async () => {
        const lists = await Promise.all(
          ['pending', 'running', 'failed'].map((status) =>
            service.call<{ jobs: { kind: string; status: string }[] }>('GET', `/v1/jobs?limit=100&status=${status}`),
          ),
        );
        open = lists.flatMap(({ body }) => body.jobs.map(({ kind, status }) => `${kind} ${status}`));
        return open.every((job) => job.startsWith('poll_watch'));
      };
      await until(noneIsOpen, `${point}: every job comes to its end`, settleMs).catch((error: Error) => {
        throw new Error(`${error.message}: ${[...new Set(open)].join(', ')}`, { cause: error });
      });
      await service.stop();
      const report = await checkFolder(service.dataDir);
      assert.ok(isClean(report) && report.missing === 0, `${point}: ${JSON.stringify(report)}`);
    }
  }
  note({ counts: { points_killed_at: killed, points_not_reached: notReached } });
  assert.ok(killed >= 15, `${killed} kills`);
});
