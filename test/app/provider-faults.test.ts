/** Every fault of outside providers on the running system: what becomes of jobs, searches and calls (docs/providers.md). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type JobResponse, jobListQuery } from '../../src/domain/job.ts';
import { searchRequest } from '../../src/domain/search.ts';
import { until } from '../process/service.ts';
import {
  type FakeProvider,
  type Fault,
  type ReceivedCall,
  startFakeProvider,
} from '../providers/fake-provider-server.ts';
import { library, WholeSystem } from './whole-system.ts';

const dim = 32;
const question = 'birds that hunt fish';
const apiKey = 'sk-canary-of-the-test';

type End = 'dead' | 'later';

const faults: readonly [name: string, fault: Fault, job: End, code: string, error: RegExp][] = [
  ['400', { kind: 'status', status: 400 }, 'dead', 'refused', /answered 400$/],
  ['401', { kind: 'status', status: 401 }, 'dead', 'unauthorized', /answered 401$/],
  ['429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }, 'later', 'busy', /answered 429$/],
  ['500', { kind: 'status', status: 500 }, 'later', 'failing', /answered 500$/],
  ['a hang', { kind: 'hang' }, 'later', 'timeout', /no answer within \d+ ms$/],
  ['a reset in the body', { kind: 'reset' }, 'later', 'unreachable', /cannot be reached/],
  ['a drip', { kind: 'drip', everyMs: 20 }, 'later', 'timeout', /no answer within \d+ ms$/],
  ['HTML', { kind: 'html' }, 'later', 'not_json', /not JSON$/],
  ['broken JSON', { kind: 'badJson' }, 'later', 'not_json', /not JSON$/],
  ['100 MB', { kind: 'huge', bytes: 100_000_000 }, 'later', 'too_large', /larger than/],
  ['a gzip bomb', { kind: 'gzipBomb', bytes: 100_000_000 }, 'later', 'not_json', /packed/],
  ['a row too few', { kind: 'tamper', change: () => ({ data: [], results: [] }) }, 'later', 'bad_answer', /unusable/],
];

/** Seconds that a call may take, and the faults that are met so: what only time ends is ended soon, all else may take as long as it likes. */
const groups = (['0.4', '3600'] as const).map((timeoutS) => {
  const isEndless = ({ kind }: Fault) => kind === 'hang' || kind === 'drip';
  return { timeoutS, faults: faults.filter(([, fault]) => isEndless(fault) === (timeoutS === '0.4')) };
});

const request = (query: string, changes: object = {}) => searchRequest.parse({ query, ...changes });

/** The answer of a search that was not cut off: a call may be, on a machine that is held up. */
async function wholeAnswer(system: WholeSystem, changes: object = {}) {
  const ask = () => system.ask('search.query', request(question, changes));
  let answer = await ask();
  const isWhole = async () => {
    const { degraded_dense, degraded_rerank } = answer.timing_ms;
    if (degraded_dense === undefined && degraded_rerank === undefined) return true;
    answer = await ask();
    return false;
  };
  await until(isWhole, 'a search has its vector and its order');
  return answer;
}

/** Embeddings and rerank at one server, retried never, so that each fault shows at once. */
async function start(t: TestContext, env: NodeJS.ProcessEnv = {}) {
  const server = await startFakeProvider({ dim, apiKey });
  t.after(() => server.close());
  const system = await WholeSystem.start(t, {
    SERVICE_EMBEDDER__PROVIDER: 'openai',
    SERVICE_EMBEDDER__MODEL: 'words-32',
    SERVICE_EMBEDDER__DIM: `${dim}`,
    SERVICE_RERANKER__KIND: 'api',
    SERVICE_RERANKER__PROVIDER: 'openai',
    SERVICE_RERANKER__MODEL: 'cross-encoder',
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__API_KEY: apiKey,
    SERVICE_LLM__BASE_URL: `${server.url}/v1`,
    SERVICE_LLM__API_KEY: apiKey,
    SERVICE_LLM__TIMEOUT_S: '3600',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__EMBED_TIMEOUT_S: '3600',
    SERVICE_RESILIENCE__RERANK_TIMEOUT_S: '3600',
    SERVICE_RESILIENCE__BREAKER_FAILURE_THRESHOLD: '100000',
    SERVICE_JOBS__MAX_ATTEMPTS: '30',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.3',
    ...env,
  });
  return { server, system };
}

const faultFor = (server: FakeProvider, concerns: (call: ReceivedCall) => boolean, fault: Fault) => {
  server.faultOf = (call) => (concerns(call) ? fault : undefined);
};

const isRerank = ({ path }: ReceivedCall) => path.endsWith('/rerank');
const isEmbedding = ({ path }: ReceivedCall) => path.endsWith('/embeddings');

test('whatever an embedder does, searches are answered by words and jobs end as the table says', async (t) => {
  for (const { timeoutS, faults } of groups) {
    const { server, system } = await start(t, {
      SERVICE_RERANKER__KIND: 'none',
      SERVICE_RESILIENCE__EMBED_TIMEOUT_S: timeoutS,
    });
    await system.read(library);
    for (const [nth, [name, fault, end, , error]] of faults.entries()) {
      await t.test(name, async () => {
        faultFor(server, isEmbedding, fault);
        const errors = await system.counted('embedding_errors_total', { provider: 'openai' });
        const degraded = await system.counted('dense_degraded_total');
        const path = `page-${nth}`;
        const { [path]: page_id } = await system.handIn({
          [path]: { title: `Note ${nth}`, text: `A note on ${name}.` },
        });
        const found = await system.ask('search.query', request(question));
        assert.ok(found.results.length >= 2, 'the sparse side answers');
        assert.equal(found.timing_ms.degraded_dense, 1);
        assert.equal(await system.counted('dense_degraded_total'), degraded + 1);

        const expected = end === 'dead' ? 'dead' : 'failed';
        let jobs: JobResponse[] = [];
        await until(async () => {
          ({ jobs } = await system.ask('job.list', jobListQuery.parse({ status: expected })));
          return jobs.length > 0 && (await system.ask('page.status', { page_id })).status === expected;
        }, `it is ${expected}`);
        assert.match(jobs[0].last_error ?? '', /^provider openai: /);
        assert.match(jobs[0].last_error ?? '', error);
        assert.ok(!JSON.stringify(jobs).includes(apiKey));
        if (end === 'dead') assert.equal(jobs[0].attempts, 1, 'it was not tried again');
        assert.ok((await system.counted('embedding_errors_total', { provider: 'openai' })) >= errors + 2);

        server.faultOf = () => undefined;
        if (end === 'dead') await system.ask('job.retry', { job_id: jobs[0].job_id });
        await until(async () => (await system.ask('page.status', { page_id })).status === 'indexed', 'it is indexed');
        await wholeAnswer(system);
      });
    }
    await system.stop();
  }
});

test('whatever a reranker does, the order before it is answered and counted', async (t) => {
  for (const { timeoutS, faults } of groups) {
    const { server, system } = await start(t, { SERVICE_RESILIENCE__RERANK_TIMEOUT_S: timeoutS });
    await system.read(library);
    const reranked = await wholeAnswer(system);
    const fused = await system.ask('search.query', request(question, { rerank: false }));
    server.faultOf = (call) => (isRerank(call) ? { kind: 'status', status: 400 } : undefined);
    const local = await system.ask('search.query', request(question));
    assert.ok(local.results.every(({ why }) => why.reranked));
    assert.notDeepEqual(local.results, reranked.results);
    assert.ok(reranked.timing_ms.rerank > 0);
    assert.notDeepEqual(
      reranked.results.map(({ score }) => score),
      fused.results.map(({ score }) => score),
    );
    assert.equal(fused.timing_ms.rerank, undefined);
    for (const [name, fault] of faults) {
      await t.test(name, async () => {
        const degraded = await system.counted('rerank_degraded_total');
        faultFor(server, isRerank, fault);
        const found = await system.ask('search.query', request(question));
        assert.deepEqual(found.results, local.results);
        assert.equal(found.timing_ms.degraded_rerank, 1);
        assert.equal(await system.counted('rerank_degraded_total'), degraded + 1);
        await server.idle();
      });
    }
    server.faultOf = () => undefined;
    assert.deepEqual((await wholeAnswer(system)).results, reranked.results);
    await system.stop();
  }
});

test('whatever a language model does is a typed error, in time', async (t) => {
  const messages = [{ role: 'user', content: 'Name these pages.' }] as const;
  for (const { timeoutS, faults } of groups) {
    const { server, system } = await start(t, { SERVICE_LLM__TIMEOUT_S: timeoutS });
    if (timeoutS === '3600') assert.equal(await system.chat?.complete(messages), 'About Name these pages.');
    for (const [name, fault, , code] of faults) {
      await t.test(name, async () => {
        server.faultOf = () => (fault.kind === 'huge' ? { ...fault, bytes: 2_000_000_000 } : fault);
        await assert.rejects(async () => system.chat?.complete(messages), {
          name: 'ProviderError',
          provider: 'llm',
          code,
        });
        await server.idle();
      });
    }
    await system.stop();
  }
});

test('a provider that is down gets no more calls than requests, and none while its breaker is open', async (t) => {
  const { server, system } = await start(t, {
    SERVICE_RERANKER__KIND: 'none',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '3',
    SERVICE_RESILIENCE__RETRY_BASE_DELAY_S: '0.01',
    SERVICE_RESILIENCE__BREAKER_FAILURE_THRESHOLD: '5',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '36000',
  });
  await system.read(library);
  const before = server.calls.length;
  server.faultOf = () => ({ kind: 'status', status: 503 });
  const notes = Array.from({ length: 200 }, (_, n) => [`n${n}`, { title: `Note ${n}`, text: `Note ${n} on fish.` }]);
  const page_ids = Object.values(await system.handIn(Object.fromEntries(notes)));
  const searches = Array.from({ length: 10 }, async () => {
    for (let n = 0; n < 50; n++) {
      const { results, timing_ms } = await system.ask('search.query', request(question));
      assert.ok(results.length >= 2);
      assert.equal(timing_ms.degraded_dense, 1);
    }
  });
  await Promise.all(searches);
  assert.deepEqual(system.breakerStates(), [{ name: 'openai', state: 'open' }]);
  const untilOpen = server.calls.length - before;
  // What was under way together when it opened may still have gone through: ten searches, and a few batches of pages.
  assert.ok(untilOpen >= 5 && untilOpen <= 30, `${untilOpen} calls`);
  const waiting = async () => {
    const { jobs } = await system.ask('job.list', jobListQuery.parse({ limit: 1000 }));
    return jobs.filter(({ status }) => status === 'pending').length >= page_ids.length - 40;
  };
  await until(waiting, 'the jobs are given back');
  const later = await system.ask('search.query', request(question));
  assert.equal(later.timing_ms.degraded_dense, 1);
  assert.equal(server.calls.length - before, untilOpen, 'no call after it opened');
  const { jobs } = await system.ask('job.list', jobListQuery.parse({ limit: 1000 }));
  assert.ok(jobs.filter(({ status }) => status === 'pending').every(({ attempts }) => attempts <= 1));
  assert.ok(jobs.every(({ status }) => status !== 'dead'));
});

test('after its cooldown one probe goes out, and its success brings the waiting pages in', async (t) => {
  const { server, system } = await start(t, {
    SERVICE_RERANKER__KIND: 'none',
    SERVICE_RESILIENCE__BREAKER_FAILURE_THRESHOLD: '2',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '0.7',
  });
  server.faultOf = () => ({ kind: 'status', status: 503 });
  const page_ids = Object.values(await system.handIn(library));
  await until(() => system.breakerStates()[0]?.state === 'open', 'it opens');
  server.faultOf = () => undefined;
  const indexed = async () =>
    (await system.ask('page.statusBatch', { page_ids })).results.every(
      (page) => page.found && page.status === 'indexed',
    );
  await until(indexed, 'every page is indexed');
  assert.equal(system.breakerStates()[0].state, 'closed');
});

test('a client that leaves takes its calls with it', async (t) => {
  const { server, system } = await start(t, {
    SERVICE_RESILIENCE__EMBED_TIMEOUT_S: '3600',
    SERVICE_RESILIENCE__RERANK_TIMEOUT_S: '3600',
    SERVICE_SEARCH__EMBED_DEADLINE_S: '3600',
    SERVICE_SEARCH__RERANK_DEADLINE_S: '3600',
  });
  await system.read(library);
  for (const concerns of [isEmbedding, isRerank]) {
    faultFor(server, concerns, { kind: 'hang' });
    for (let round = 0; round < 10; round++) {
      const clients = Array.from({ length: 10 }, () => new AbortController());
      const earlier = server.calls.filter(concerns).length;
      const searches = clients.map(({ signal }) => system.ask('search.query', request(question), { signal }));
      await until(() => server.calls.filter(concerns).length === earlier + 10, 'all are waiting');
      for (const client of clients) client.abort(new Error('left'));
      for (const search of searches) await assert.rejects(search, /left/);
      await server.idle(); // long before a call's time is over
    }
    server.faultOf = () => undefined;
    const { timing_ms } = await system.ask('search.query', request(question));
    assert.deepEqual([timing_ms.degraded_dense, timing_ms.degraded_rerank], [undefined, undefined]);
  }
  assert.ok(system.breakerStates().every(({ state }) => state === 'closed'));
});

test('a reranker of any wire format gives the final order', async (t) => {
  const { server, system } = await start(t);
  await system.read(library);
  let expected: unknown;
  for (const [provider, path] of [
    ['cohere', '/v2'],
    ['voyage', '/v1'],
    ['jina', '/v1'],
    ['tei', '/'],
  ]) {
    await system.stop();
    Object.assign(system.env, {
      SERVICE_RERANKER__PROVIDER: provider,
      SERVICE_RERANKER__BASE_URL: server.url + path,
      SERVICE_RERANKER__API_KEY: apiKey,
    });
    await system.start();
    const earlier = server.calls.length;
    const { results, timing_ms } = await system.ask('search.query', request(question));
    const found = results.map(({ title, score }) => [title, Math.round(score * 1e6)]);
    expected ??= found;
    assert.deepEqual([provider, found], [provider, expected]);
    assert.equal(timing_ms.degraded_rerank, undefined);
    const [call] = server.calls.slice(earlier).filter(isRerank);
    assert.equal(call.body.query, question);
    const texts = (call.body.documents ?? call.body.texts) as string[];
    assert.ok(texts.includes(`${library.heron.title}\n${library.heron.text}`));
    assert.deepEqual(
      system
        .breakerStates()
        .map(({ name }) => name)
        .sort(),
      ['openai', `${provider}-rerank`].sort(),
    );
  }
});
