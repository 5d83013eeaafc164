/**
 * Killed (SIGKILL) when the store is about to flush for the first, second and third time after each kind of write was asked for: the write is
 * there whole or not at all, what was acknowledged is there, and the same call can be made again.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { EntityDetailResponse, EntityMergeListResponse } from '../../src/domain/entity.ts';
import type { ModelBackfillResponse, ModelListResponse } from '../../src/domain/model.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { FeedServer, rss } from '../../test/app/feed-server.ts';
import { note } from '../../test/process/rare-states.ts';
import { RunningService, until, withEntities } from '../../test/process/service.ts';
import { FailingDisk } from '../../test/reliability/failing-disk.ts';

const disk = FailingDisk.build();
const skip = typeof disk === 'string' ? disk : false;
after(() => {
  if (typeof disk !== 'string') disk.remove();
});

const usualFlushes = 3;
/** Taken in, claimed, its chunks committed, its job settled, claimed for its names. */
const flushesOfAPage = 5;
/** An operation that flushes less often than that leaves the process alive, ms. */
const patienceMs = 4_000;
/** For all jobs to end, on a busy machine. */
const settleMs = 240_000;
const limitMs = 44 * 60_000;
const text = 'The lock keeper notes the level of the river every morning and every evening. ';
const models = ['local-multilingual-e5-small-384', 'second'];
/** No lexicon knows them: each, with and without a hyphen, becomes one entity. */
const lakes = ['Dorvelamir', 'Tassoruben', 'Kilmeravon', 'Pundarosil', 'Zemirtolan'];

interface Call {
  method: string;
  path: string;
  body?: unknown;
  /** Answers when it is made again, beside 2xx: it was there already, or is gone. */
  again?: readonly number[];
  /** What is so once it was made again. */
  afterwards?: () => Promise<void>;
}

interface Scene {
  service: RunningService;
  web: FeedServer;
  watchId: string;
}

interface Operation {
  flushes?: number;
  /** `round` makes each call another one. */
  call: (round: number, scene: Scene) => Promise<Call> | Call;
}

const page = (url: string) => ({ url, title: url, body_extracted: `${text}${url} ${text.repeat(20)}` });

/** What is asked for while the process is about to be killed. */
const operations: Record<string, Operation> = {
  'a page is taken in, claimed, embedded and indexed': {
    flushes: flushesOfAPage,
    call: (round) => ({ method: 'POST', path: '/v1/pages', body: page(`https://lock.example/one/${round}`) }),
  },
  'a batch of pages is taken in': {
    call: (round) => ({
      method: 'POST',
      path: '/v1/pages/batch',
      body: { pages: Array.from({ length: 30 }, (_, i) => page(`https://lock.example/many/${round}/${i}`)) },
    }),
  },
  'a known page is visited again': {
    call: () => ({ method: 'POST', path: '/v1/pages', body: page('https://lock.example/kept/0') }),
  },
  'a page is forgotten': {
    call: (round) => ({ method: 'POST', path: '/v1/forget', body: { url: `https://gone.example/page/${round}` } }),
  },
  'a domain is forgotten': {
    call: (round) => ({ method: 'POST', path: '/v1/forget', body: { domain: `gone${round}.example` } }),
  },
  'a model is registered': {
    call: (round) => ({
      method: 'POST',
      path: '/v1/models',
      body: { provider: 'ollama', model_name: 'words', dim: 32 + round, max_input_tokens: 512 },
      again: [409],
    }),
  },
  'another model is activated': {
    call: async (_, { service }) => {
      const active = await activeModel(service);
      const id = models.find((each) => each !== active);
      return {
        method: 'POST',
        path: `/v1/models/${id}/activate`,
        afterwards: async () => assert.equal(await activeModel(service), id),
      };
    },
  },
  'a merge of entities is undone': {
    call: async (_, { service }) => {
      const merges = async () =>
        (await service.call<EntityMergeListResponse>('GET', '/v1/admin/entity-merges')).body.merges;
      const latest = (await merges()).find(({ undone_at }) => undone_at === null);
      assert.ok(latest !== undefined, 'a merge is left to undo');
      const { merge_id, merged_entity_id, merged_form } = latest;
      return {
        method: 'POST',
        path: `/v1/entities/merges/${merge_id}/undo`,
        again: [409],
        afterwards: async () => {
          const found = await service.call<EntityDetailResponse>('GET', `/v1/entities/${merged_entity_id}`);
          assert.deepEqual([found.body.entity.id, found.body.entity.canonical_form], [merged_entity_id, merged_form]);
          const undone = (await merges()).filter((merge) => merge.merge_id === merge_id && merge.undone_at !== null);
          assert.equal(undone.length, 1);
        },
      };
    },
  },
  'a watch is made': {
    call: (round) => ({
      method: 'POST',
      path: '/v1/watches',
      body: { kind: 'rss', url: `https://lock.example/feed/${round}` },
      again: [409],
    }),
  },
  'a watch is polled': {
    call: (round, { web, watchId }) => {
      const link = `/item/${round}`;
      web.serve('/feed', rss([{ link }]));
      web.serve(link, { headers: { 'content-type': 'text/plain' }, body: text.repeat(20) });
      return {
        method: 'POST',
        path: `/v1/watches/${watchId}/run`,
        afterwards: () => until(() => web.countOf(link) > 0, 'what is new in the feed is fetched', settleMs),
      };
    },
  },
  'topics are found': { call: () => ({ method: 'POST', path: '/v1/clusters/recompute', again: [409] }) },
  'dead jobs are retried': { call: () => ({ method: 'POST', path: '/v1/jobs/retry', body: {} }) },
  'a search is logged': {
    call: () => ({ method: 'POST', path: '/v1/search', body: { query: 'lock keeper river' } }),
  },
  'a result is judged': {
    call: async (_, { service }) => {
      const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query: 'lock keeper river' });
      const feedback = { query_id: body.query_id, page_id: body.results[0].page_id, relevant: true };
      return { method: 'POST', path: '/v1/feedback', body: feedback };
    },
  },
};

/** Some operations for a shorter run: those in whose name this is found. */
const only = process.env.READBACK_SOAK_OPERATIONS ?? '';
/** Each place of an operation where it is killed, and a number of its own. */
const points = Object.entries(operations)
  .filter(([name]) => new RegExp(only).test(name))
  .flatMap(([name, { flushes = usualFlushes, call }], at) =>
    Array.from({ length: flushes }, (_, i) => ({ name, call, flush: i + 1, round: at * 10 + i + 1 })),
  );

async function activeModel(service: RunningService): Promise<string | undefined> {
  const { body } = await service.call<ModelListResponse>('GET', '/v1/models');
  return body.models.find(({ is_active }) => is_active)?.id;
}

/** What the operations need: pages to keep and to forget, dead jobs, a second model, merged names, a watch. */
async function setScene(service: RunningService, web: FeedServer): Promise<{ kept: string[]; scene: Scene }> {
  const keptUrls = Array.from({ length: 20 }, (_, i) => `https://lock.example/kept/${i}`);
  const goneUrls = points.flatMap(({ name, round }) => {
    if (name === 'a page is forgotten') return [`https://gone.example/page/${round}`];
    return name === 'a domain is forgotten' ? [`https://gone${round}.example/a`] : [];
  });
  const urls = [...keptUrls, ...goneUrls];
  const pages = [
    ...urls.map(page),
    ...lakes.map((lake, i) => ({
      url: `https://lakes.example/${i}`,
      body_extracted: `We swam in ${lake} Torven Lake and then in ${lake}-Torven Lake.`,
    })),
  ];
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  const ids = body.results.map(({ page_id }) => page_id);
  assert.deepEqual(new Set(await service.settled(ids, settleMs)), new Set(['indexed']));

  for (let i = 0; i < 3; i++) await service.call('POST', '/v1/pages', { url: `http://10.0.0.1/refused/${i}` });
  await until(async () => (await jobs(service, 'dead')).length === 3, 'what may not be fetched is dead', settleMs);

  const small = {
    provider: 'local',
    model_name: 'multilingual-e5-small',
    dim: 384,
    max_input_tokens: 32_000,
    id: 'second',
  };
  assert.equal((await service.call('POST', '/v1/models', small)).status, 201);
  await service.call('POST', `/v1/models/${models[1]}/backfill`, { confirm: true });
  const backfill = `/v1/models/${models[1]}/backfill`;
  const isFilled = async () => (await service.call<ModelBackfillResponse>('GET', backfill)).body.status === 'complete';
  await until(isFilled, 'the second model is filled', settleMs);

  const merges = async () =>
    (await service.call<EntityMergeListResponse>('GET', '/v1/admin/entity-merges')).body.merges;
  await until(async () => (await merges()).length >= lakes.length, 'spellings are merged', settleMs);

  web.serve('/feed', rss([]));
  const watch = await service.call<{ id: string }>('POST', '/v1/watches', { kind: 'rss', url: `${web.url}/feed` });
  await until(() => web.countOf('/feed') > 0, 'the feed is polled', settleMs);
  return { kept: ids.slice(0, keptUrls.length), scene: { service, web, watchId: watch.body.id } };
}

/** Kind and status of jobs of a status, polls of the feeds that nobody serves aside. */
async function jobs(service: RunningService, status: string): Promise<string[]> {
  const { body } = await service.call<{ jobs: { kind: string; status: string }[] }>(
    'GET',
    `/v1/jobs?limit=100&status=${status}`,
  );
  return body.jobs.filter(({ kind }) => kind !== 'poll_watch').map(({ kind, status }) => `${kind} ${status}`);
}

/** Ask for this and be killed there; whether the process came there, and had acknowledged it before. */
async function askAndDie(faults: FailingDisk, service: RunningService, { method, path, body }: Call) {
  faults.fail('kill');
  let status = 0;
  const asking = service.call<object>(method, path, body).then(
    (answer) => {
      status = answer.status;
    },
    () => {}, // the process was killed before it answered
  );
  const ended = service.ended();
  const died = await Promise.race([ended.then(() => true), delay(patienceMs, false, { ref: false })]);
  faults.mend('kill');
  if (!died) {
    service.signal('SIGKILL');
    await ended;
  }
  await asking;
  return { died, status };
}

test('a kill at any flush of any write leaves all of it or nothing', { skip, timeout: limitMs }, async (t) => {
  if (typeof disk === 'string') return;
  const web = await FeedServer.start(t);
  const service = await RunningService.start(t, {
    ...withEntities,
    SERVICE_FORGET__COMPACT_AFTER_S: '0.5',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.1',
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: 'http://127.0.0.1:9/v1', // registered and never called
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_CLUSTER__MIN_PAGES: '5',
    SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '10000',
  });
  const { kept, scene } = await setScene(service, web);
  await service.stop();

  const killedAt = new Set<string>();
  const notReached: string[] = [];
  for (const { name, call, flush, round } of points) {
    const point = `${name}, flush ${flush}`;
    await service.start(disk.envToDieAt({ call: 'sync', path: '*/data.mdb', count: flush }));
    const asked = await call(round, scene);
    const { died, status } = await askAndDie(disk, service, asked);
    assert.ok(status < 500, `${point}: ${status}`);
    if (died) killedAt.add(name);
    else notReached.push(point);

    await service.start();
    const { method, path, body, again = [], afterwards } = asked;
    const repeated = await service.call<object>(method, path, body);
    assert.ok(
      repeated.status < 300 || again.includes(repeated.status),
      `${point}, again: ${repeated.status} ${JSON.stringify(repeated.body)}`,
    );
    const wasAcknowledged = status >= 200 && status < 300;
    if (wasAcknowledged && path === '/v1/pages') {
      assert.equal(repeated.status, 200, `${point}: what was acknowledged is known`);
    }
    await afterwards?.();
    assert.deepEqual(new Set(await service.settled(kept, settleMs)), new Set(['indexed']), point);
    let open: string[] = [];
    const noneIsOpen = async () => {
      const lists = await Promise.all(['pending', 'running', 'failed'].map((each) => jobs(service, each)));
      open = lists.flat();
      return open.length === 0;
    };
    await until(noneIsOpen, `${point}: every job comes to its end`, settleMs).catch((error: Error) => {
      throw new Error(`${error.message}: ${[...new Set(open)].join(', ')}`, { cause: error });
    });
    // Which brings the model that nobody uses up to the store: it is not told of what is indexed.
    const compared = await service.call('POST', '/v1/compare', { query: 'lock keeper river', models });
    assert.equal(compared.status, 200, `${point}: ${JSON.stringify(compared.body)}`);
    await service.stop();
    const report = await checkFolder(service.dataDir);
    assert.ok(isClean(report) && report.missing === 0, `${point}: ${JSON.stringify(report)}`);
  }
  note({ counts: { points: points.length, points_not_reached: notReached.join('; ') || 'none' } });
  const names = new Set(points.map(({ name }) => name));
  assert.deepEqual(
    [...names].filter((name) => !killedAt.has(name)),
    [],
    'each kind of write was killed',
  );
});
