/** Faults of outside providers on the running system, one of each kind (all of them: fault-matrix.test.ts): what becomes of jobs, searches and calls (docs/providers.md). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type JobResponse, jobListQuery } from '../../src/domain/job.ts';
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

const faults: readonly [name: string, fault: Fault, job: End, error: RegExp][] = [
  ['400', { kind: 'status', status: 400 }, 'dead', /answered 400$/],
  ['429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }, 'later', /answered 429$/],
  ['a hang', { kind: 'hang' }, 'later', /no answer within \d+ ms$/],
  ['a reset in the body', { kind: 'reset' }, 'later', /cannot be reached/],
  ['a row too few', { kind: 'tamper', change: () => ({ data: [], results: [] }) }, 'later', /unusable/],
];

/** Seconds that a call may take, and the faults that are met so: what only time ends is ended soon, all else may take as long as it likes. */
const groups = (['0.4', '3600'] as const).map((timeoutS) => {
  const isEndless = ({ kind }: Fault) => kind === 'hang';
  return { timeoutS, faults: faults.filter(([, fault]) => isEndless(fault) === (timeoutS === '0.4')) };
});

/** The answer of a search that was not cut off: a call may be, on a machine that is held up. */
async function wholeAnswer(system: WholeSystem, changes: object = {}) {
  const ask = () => system.search(question, changes);
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
  const server = await startFakeProvider(t, { dim, apiKey });
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
    for (const [nth, [name, fault, end, error]] of faults.entries()) {
      await t.test(name, async () => {
        faultFor(server, isEmbedding, fault);
        const errors = await system.counted('embedding_errors_total', { provider: 'openai' });
        const degraded = await system.counted('dense_degraded_total');
        const path = `page-${nth}`;
        const { [path]: page_id } = await system.handIn({
          [path]: { title: `Note ${nth}`, text: `A note on ${name}.` },
        });
        const found = await system.search(question);
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
        await system.settled([page_id]);
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
    const fused = await system.search(question, { rerank: false });
    server.faultOf = (call) => (isRerank(call) ? { kind: 'status', status: 400 } : undefined);
    const local = await system.search(question);
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
        const found = await system.search(question);
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
  await system.settled(page_ids);
  assert.equal(system.breakerStates()[0].state, 'closed');
});
