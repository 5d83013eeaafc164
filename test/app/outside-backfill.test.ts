/** Backfills to a model of an outside provider beside the built-in one: its breaker, its gaps, its refusals, and what is forgotten meanwhile. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { compareRequest } from '../../src/domain/compare.ts';
import { jobListQuery } from '../../src/domain/job.ts';
import type { ModelBackfillResponse } from '../../src/domain/model.ts';
import { idOf } from '../../src/domain/values.ts';
import { until } from '../process/service.ts';
import { type Fault, type ReceivedCall, startFakeProvider } from '../providers/fake-provider-server.ts';
import { library, WholeSystem } from './whole-system.ts';

const dim = 32;
const id = 'openai-words-32';
const down: Fault = { kind: 'status', status: 503 };

async function start(t: TestContext, env: NodeJS.ProcessEnv = {}) {
  const server = await startFakeProvider(t, { dim });
  const system = await WholeSystem.start(t, {
    SERVICE_RERANKER__KIND: 'none',
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_FAILURE_THRESHOLD: '3',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '0.3',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
    ...env,
  });
  const register = () =>
    system.ask('model.register', { provider: 'openai', model_name: 'words-32', dim, max_input_tokens: 8192, id });
  const progress = () => system.ask('model.backfill', { model_id: id });
  const untilIs = async (status: ModelBackfillResponse['status']) => {
    await until(async () => (await progress()).status === status, `the backfill is ${status}`);
    return progress();
  };
  const fill = async () => {
    await register();
    await system.ask('model.startBackfill', { model_id: id });
    return untilIs('complete');
  };
  return { server, system, register, progress, untilIs, fill };
}

const notes = (count: number, prefix = 'note') =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `${prefix}-${n}`,
      { title: `Note ${n}`, text: `The ${prefix} number ${n}.` },
    ]),
  );

/** Texts of the pages that were sent, without the sample that the floor is measured with. */
const sentTexts = (calls: readonly ReceivedCall[]) =>
  calls.flatMap(({ body }) => (body.input as string[]).filter((text) => text.startsWith('Note ')));

const jobsOf = async (system: WholeSystem) =>
  (await system.ask('job.list', jobListQuery.parse({ kind: 'backfill_model' }))).jobs;

const statusOf = async (system: WholeSystem) =>
  (await system.ask('model.list', {})).models.find((model) => model.id === id)?.status;

async function assertSound(system: WholeSystem): Promise<void> {
  await system.stop();
  const { store, index } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index], [[], []]);
}

test('a breaker that opens in the middle of a backfill pauses it: it goes on where it was, and no attempt is counted', async (t) => {
  const { server, system, register, progress, untilIs } = await start(t);
  // What is stored at once, 128, and several calls more.
  const count = 224;
  await system.read(notes(count));
  await register();
  const isLater = (text: string) => Number(/^Note (\d+)/.exec(text)?.[1]) >= 128;
  let isDown = true;
  server.faultOf = (call) => (isDown && sentTexts([call]).some(isLater) ? down : undefined);
  await system.ask('model.startBackfill', { model_id: id });
  const paused = async () => {
    const [job] = await jobsOf(system);
    return job.status === 'pending' && system.breakerStates()[0]?.state === 'open';
  };
  await until(paused, 'the breaker is open and the job waits');
  const [waiting] = await jobsOf(system);
  assert.ok(waiting.attempts <= 1, `${waiting.attempts} attempts`);
  const probes = server.calls.length + 6; // more than the attempts that a job has
  await until(() => server.calls.length >= probes, 'it is probed again and again');
  const half = await progress();
  assert.equal(half.status, 'running');
  assert.match(half.last_error ?? '', /^provider openai/, 'it says what it waits for');
  assert.equal(await statusOf(system), 'backfilling');
  assert.ok(half.embedded_chunks > 0 && half.embedded_chunks < count, `${half.embedded_chunks} chunks`);
  assert.ok(half.cursor_page_id !== null);
  const { results } = await system.search('note number', { k: 3 });
  assert.equal(results.length, 3, 'searches go on');

  const before = server.calls.length;
  isDown = false;
  const done = await untilIs('complete');
  assert.deepEqual([done.embedded_chunks, done.total_chunks, done.last_error], [count, count, null]);
  const [job] = await jobsOf(system);
  assert.equal(job.attempts, 1, 'no refused attempt and no failed probe counts');
  const later = sentTexts(server.calls.slice(before));
  assert.ok(later.length <= count - half.embedded_chunks + 1, 'what was stored is not sent again');
  assert.equal(new Set(sentTexts(server.calls)).size, count, 'every page was sent');
  await assertSound(system);
});

test('a page that comes while the provider is down is indexed, and its gap is filled when the provider is back', async (t) => {
  const { server, system, untilIs, fill } = await start(t);
  await system.read(library);
  await fill();
  server.faultOf = () => down;
  const late = { toad: { title: 'Toads', text: 'Toads are amphibians that hide by day and hunt beetles at night.' } };
  const { toad } = await system.read(late);
  assert.equal(await statusOf(system), 'ready');
  await untilIs('running');
  const request = (models: string[]) => compareRequest.parse({ query: 'amphibians hunting beetles', models, k: 1 });
  server.faultOf = () => undefined;
  await untilIs('complete');
  const { runs } = await system.ask('search.compare', request(['local-multilingual-e5-small-384', id]));
  assert.deepEqual(
    runs.map(({ results }) => results[0].page_id),
    [toad, toad],
  );
  const jobs = () => jobsOf(system);
  await until(async () => (await jobs()).every(({ status }) => status === 'done'), 'its jobs are done');
  await assertSound(system);
});

test('a model whose provider refuses its key harms no page: all are indexed, and their gaps filled once the key is right', async (t) => {
  const { server, system, untilIs, fill } = await start(t);
  await system.read(library);
  await fill();
  server.faultOf = () => ({ kind: 'status', status: 401 });
  const ids = Object.values(await system.read(notes(40)));
  const failed = await untilIs('failed');
  assert.match(failed.last_error ?? '', /^provider openai: .*answered 401$/);
  const { jobs: pageJobs } = await system.ask('job.list', jobListQuery.parse({ kind: 'index_page', limit: 1000 }));
  assert.ok(pageJobs.every(({ status, attempts }) => status === 'done' && attempts === 1));
  assert.equal(await statusOf(system), 'ready', 'what it has may be searched');
  // Pages that come later are indexed, too, and nobody calls again until somebody says so.
  await system.read(notes(3, 'later'));

  server.faultOf = () => undefined;
  const dead = (await jobsOf(system)).find(({ status }) => status === 'dead');
  assert.ok(dead !== undefined);
  await system.ask('job.retry', { job_id: dead.job_id });
  await untilIs('complete');
  await system.ask('model.activate', { model_id: id });
  const found = await system.search('The note number 7.', { k: 40 });
  assert.ok(found.results.some(({ page_id }) => page_id === ids[7]));
  await assertSound(system);
});

test('a provider that hangs holds no page of another model', async (t) => {
  const { server, system, untilIs, fill } = await start(t, { SERVICE_RESILIENCE__EMBED_TIMEOUT_S: '36000' });
  await system.read(library);
  await fill();
  server.faultOf = () => ({ kind: 'hang' });
  await system.read(notes(10)); // which waits in vain for less than such a call may take
  const before = server.calls.length;
  await system.read(notes(10, 'later'));
  const later = sentTexts(server.calls.slice(before)).filter((text) => text.includes('later'));
  assert.deepEqual(later, [], 'it is not waited for again before it has caught up');
  server.faultOf = () => undefined;
  await system.stop();
  await system.start();
  await untilIs('complete');
  await assertSound(system);
});

test('what is forgotten during a backfill has no vector and no gap of it', async (t) => {
  const { server, system, register, untilIs } = await start(t);
  const count = 120;
  await system.read(notes(count));
  await register();
  let held = 0;
  let released = false;
  server.faultOf = (call) => {
    if (released || sentTexts([call]).length === 0 || ++held <= 2) return undefined;
    return { kind: 'status', status: 429, headers: { 'retry-after': '0' } };
  };
  await system.ask('model.startBackfill', { model_id: id });
  await until(() => held > 2, 'the backfill is under way');
  for (const n of [0, 1, 60, 118, 119]) {
    const { pages_purged } = await system.ask('page.forget', { url: `https://example.com/note-${n}` });
    assert.equal(pages_purged, 1);
  }
  released = true;
  const done = await untilIs('complete');
  const tokens: number[] = [];
  for (let no = 1; no <= count; no++) {
    const chunks = await system.chunks(idOf('page', no)).catch(() => []); // none: forgotten
    for (const { token_count } of chunks) tokens.push(token_count);
  }
  assert.deepEqual(
    [done.embedded_chunks, done.total_chunks, done.total_tokens],
    [tokens.length, tokens.length, tokens.reduce((sum, each) => sum + each, 0)],
  );
  const purged = async () =>
    (await system.ask('job.list', jobListQuery.parse({ kind: 'purge_vectors' }))).jobs.every(
      ({ status }) => status === 'done',
    );
  await until(purged, 'the forgotten pages are purged');
  await system.ask('model.activate', { model_id: id });
  const found = await system.search('The note number 60.', { k: 100 });
  assert.ok(found.results.length > 0);
  assert.ok(found.results.every(({ title }) => title !== 'Note 60'));
  await assertSound(system);
});

/** Refuses requests that hold a text with this word, as a provider does whose filter or whose limit one text meets. */
const refusing = (word: string) => (call: ReceivedCall) =>
  (call.body.input as string[]).some((text) => text.includes(word))
    ? ({ kind: 'status', status: 400 } as const)
    : undefined;

test('a text that the provider refuses holds up no other: it is counted, told, and tried again by the next backfill', async (t) => {
  const { server, system, register, untilIs } = await start(t);
  await system.read({ ...library, ...notes(20), bad: { title: 'Note x', text: 'The unspeakable note.' } });
  server.faultOf = refusing('unspeakable');
  await register();
  await system.ask('model.startBackfill', { model_id: id });
  const chunks = Object.keys(library).length + 21;
  const done = await untilIs('complete');
  assert.deepEqual([done.total_chunks, done.embedded_chunks], [chunks, chunks - 1]);
  assert.match(done.last_error ?? '', /^1 chunk has no vector: provider openai: .*answered 400$/);
  assert.equal(await statusOf(system), 'ready');
  await system.ask('model.activate', { model_id: id });
  const found = async (query: string) => (await system.search(query, { k: 3 })).results.map(({ title }) => title);
  assert.ok((await found('birds that hunt fish')).includes('The grey heron'));
  assert.ok((await found('unspeakable')).includes('Note x'), 'its words are found');

  // A page that comes later and is refused: left a gap by the indexing, since another model is active, and closed as refused.
  await system.ask('model.activate', { model_id: 'local-multilingual-e5-small-384' });
  await system.read({ late: { title: 'Note y', text: 'Another unspeakable note.' } });
  const both = async () =>
    /^2 chunks have no vector/.test((await system.ask('model.backfill', { model_id: id })).last_error ?? '');
  await until(both, 'the late page is known as refused');
  await untilIs('complete');
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.waiting, report.refused], [[], [], 0, 2]);

  await system.start();
  const estimate = await system.ask('model.estimateBackfill', { model_id: id });
  assert.equal(estimate.n_chunks, 2, 'what was refused would be tried again');
  server.faultOf = () => undefined;
  const before = server.calls.length;
  await system.ask('model.startBackfill', { model_id: id });
  const again = await untilIs('complete');
  assert.deepEqual([again.total_chunks, again.embedded_chunks, again.last_error], [chunks + 1, chunks + 1, null]);
  assert.deepEqual(sentTexts(server.calls.slice(before)).length, 2, 'and nothing else');
  await system.ask('model.activate', { model_id: id });
  assert.equal((await found('The unspeakable note.'))[0], 'Note x');
  await system.stop();
  const whole = await checkFolder(system.dataDir);
  assert.deepEqual([whole.store, whole.index, whole.waiting, whole.refused], [[], [], 0, 0]);
});

test('of a page of several chunks only the refused one has no vector, and it comes in later beside the others', async (t) => {
  const { server, system, register, untilIs } = await start(t);
  const part = (word: string) => `${`A ${word} sentence about rivers and mills. `.repeat(60)}`;
  const text = `${part('plain')}\n\n${part('unspeakable')}\n\n${part('quiet')}`;
  const { long } = await system.read({ long: { title: 'Note long', text } });
  const chunks = await system.chunks(long);
  const isRefused = (text: string) => text.includes('unspeakable');
  const refused = chunks.filter((chunk) => isRefused(chunk.text)).length;
  assert.ok(refused > 0 && refused < chunks.length, `${refused} of ${chunks.length} chunks`);
  server.faultOf = refusing('unspeakable');
  await register();
  await system.ask('model.startBackfill', { model_id: id });
  const done = await untilIs('complete');
  assert.deepEqual([done.total_chunks, done.embedded_chunks], [chunks.length, chunks.length - refused]);
  const scores = async () => {
    const fields = { rerank: false, rrf_k: 60, chunks_per_page: 10 };
    const [{ chunks }] = (await system.search(part('unspeakable'), fields)).results;
    return new Map(chunks.map(({ ordinal, score }) => [ordinal, score]));
  };
  await system.ask('model.activate', { model_id: id });
  const before = await scores();
  server.faultOf = () => undefined;
  await system.ask('model.startBackfill', { model_id: id });
  const whole = await untilIs('complete');
  assert.deepEqual([whole.total_chunks, whole.embedded_chunks, whole.last_error], [chunks.length, chunks.length, null]);
  assert.notDeepEqual(await scores(), before, 'it is among the vectors now');
  await assertSound(system);
});

test('a refused text that is replaced or forgotten is counted no more', async (t) => {
  const { server, system, register, untilIs, progress } = await start(t);
  const bad = (n: number) => ({ title: `Note ${n}`, text: `The unspeakable note ${n}.` });
  await system.read({ ...notes(20), one: bad(1), two: bad(2) });
  server.faultOf = refusing('unspeakable');
  await register();
  await system.ask('model.startBackfill', { model_id: id });
  assert.match((await untilIs('complete')).last_error ?? '', /^2 chunks have no vector/);
  await system.ask('page.forget', { url: 'https://example.com/one' });
  const purged = async () =>
    (await system.ask('job.list', jobListQuery.parse({ kind: 'purge_vectors' }))).jobs.every(
      ({ status }) => status === 'done',
    );
  await until(purged, 'the forgotten page is purged');
  assert.match((await progress()).last_error ?? '', /^1 chunk has no vector/);
  await system.ask('model.retire', { model_id: id });
  await system.stop();
  const { store, index, refused } = await checkFolder(system.dataDir);
  assert.deepEqual([store, index, refused], [[], [], 0]);
});

test('a provider that refuses nearly every text of the collection is at fault itself: the backfill fails and goes on later', async (t) => {
  const { server, system, register, untilIs } = await start(t);
  await system.read(notes(30));
  server.faultOf = refusing('The note number');
  await register();
  await system.ask('model.startBackfill', { model_id: id });
  const failed = await untilIs('failed');
  assert.match(failed.last_error ?? '', /^provider openai: .*answered 400$/);
  assert.equal(await statusOf(system), 'failed');
  server.faultOf = () => undefined;
  await system.ask('model.startBackfill', { model_id: id });
  const done = await untilIs('complete');
  assert.deepEqual([done.total_chunks, done.embedded_chunks, done.last_error], [30, 30, null]);
  await assertSound(system);
});
