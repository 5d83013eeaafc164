/** How many texts a provider may refuse is a share of the collection as it is now, and each refused text is counted once. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import type { ModelBackfillResponse } from '../../src/domain/model.ts';
import { until } from '../process/service.ts';
import { type ReceivedCall, startFakeProvider } from '../providers/fake-provider-server.ts';
import { WholeSystem } from './whole-system.ts';

const dim = 8;
const id = 'openai-words-8';

async function start(t: TestContext) {
  const server = await startFakeProvider(t, { dim });
  const system = await WholeSystem.start(t, {
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${server.url}/v1`,
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '0.2',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
  });
  await system.ask('model.register', { provider: 'openai', model_name: 'words', dim, max_input_tokens: 8192 });
  const progress = () => system.ask('model.backfill', { model_id: id });
  const fill = () => system.ask('model.startBackfill', { model_id: id });
  const complete = async (holds: (progress: ModelBackfillResponse) => boolean = () => true) => {
    const reached = async () => {
      const now = await progress();
      assert.notEqual(now.status, 'failed', now.last_error ?? '');
      return now.status === 'complete' && holds(now);
    };
    await until(reached, 'the backfill is complete');
    return progress();
  };
  return { server, system, progress, fill, complete };
}

const textsOf = ({ body }: ReceivedCall) => body.input as string[];
const refused = { kind: 'status', status: 400 } as const;
const isUnspeakable = (call: ReceivedCall) => textsOf(call).some((text) => text.includes('unspeakable'));

async function refusedIn(system: WholeSystem): Promise<number> {
  await system.stop();
  const report = await checkFolder(system.dataDir);
  assert.deepEqual([report.store, report.index, report.waiting], [[], [], 0]);
  return report.refused;
}

test('a collection that grew since the backfill may have more refused texts', async (t) => {
  const { server, system, fill, complete } = await start(t);
  server.faultOf = (call) => (isUnspeakable(call) ? refused : undefined);
  await system.read({ first: { title: 'First', text: 'The only page there was.' } });
  await fill();
  await complete();
  const notes = (count: number, text: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${text}-${n}`, { title: `${n}`, text }]));
  await system.read(notes(240, 'plain'));
  await system.read(notes(12, 'unspeakable'));
  const { last_error } = await complete((now) => /^12 chunks/.test(now.last_error ?? ''));
  assert.match(last_error ?? '', /^12 chunks have no vector: provider openai: .*answered 400$/);
  assert.equal(await refusedIn(system), 12);
});

test('a backfill that goes on after a pause counts what is still to be asked again once', async (t) => {
  const { server, system, progress, fill, complete } = await start(t);
  server.faultOf = (call) => (isUnspeakable(call) ? refused : undefined);
  // Each page is a slice of its own: its text is longer than a slice may be.
  const part = (text: string) => `${text} `.repeat(Math.ceil(1500 / text.length));
  const pageOf = (name: string, count: number) =>
    Array.from({ length: 190 }, (_, n) =>
      part(n % 25 === 0 && n < count * 25 ? `${name} unspeakable.` : `${name} ${n}.`),
    );
  const longPage = (name: string) => ({ title: name, text: pageOf(name, 5).join('\n\n') });
  const ids = await system.read({ one: longPage('first'), two: longPage('second') });
  await fill();
  const { total_chunks, embedded_chunks, last_error } = await complete();
  const refusedThere = total_chunks - embedded_chunks;
  const tolerated = Math.max(10, Math.floor(0.05 * total_chunks));
  assert.ok(refusedThere <= tolerated && 1.5 * refusedThere > tolerated, `${last_error}; of ${total_chunks}`);

  server.faultOf = (call) => {
    if (textsOf(call).some((text) => text.includes('second'))) return { kind: 'status', status: 503 };
    return isUnspeakable(call) ? refused : undefined;
  };
  await fill();
  const half = async () => {
    const now = await progress();
    return now.cursor_page_id === ids.one && now.last_error !== null && now.status === 'running';
  };
  await until(half, 'the first page is done, and the second one waits for its provider');
  server.faultOf = (call) => (isUnspeakable(call) ? refused : undefined);
  const again = await complete();
  assert.deepEqual([again.total_chunks, again.embedded_chunks], [total_chunks, embedded_chunks]);
  assert.equal(await refusedIn(system), refusedThere);
});
