import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  commitThrough,
  type ServiceHooks,
  type StartService,
  type SystemMessageName,
} from '../../../src/actors/system/service.ts';
import { type ServiceName, startOrder, startServices } from '../../../src/actors/system/services.ts';
import { keptLog } from '../quiet-log.ts';

const names = startOrder.flat();
const messages: Partial<Record<ServiceName, SystemMessageName[]>> = {
  writer: ['store.commit', 'store.trouble'],
  indexes: ['index.state'],
  queries: ['page.get', 'job.list'],
  retriever: ['search.query'],
};

/** Services that note what happens to them, and answer each message with their own name. */
function troupe(
  changes: Partial<Record<ServiceName, (hooks: ServiceHooks) => Promise<void>>> = {},
  stops: Partial<Record<ServiceName, () => Promise<void>>> = {},
) {
  const happened: string[] = [];
  const hooksOf = new Map<ServiceName, ServiceHooks>();
  const start =
    (name: ServiceName): StartService =>
    async (hooks) => {
      happened.push(`start ${name}`);
      hooksOf.set(name, hooks);
      await changes[name]?.(hooks);
      happened.push(`${name} is ready`);
      const handlers = Object.fromEntries(
        (messages[name] ?? []).map((message) => [message, () => `${name} answers ${message}`]),
      );
      const stop = async () => {
        happened.push(`stop ${name}`);
        await stops[name]?.();
      };
      return { handlers, stop };
    };
  const starts = Object.fromEntries(names.map((name) => [name, start(name)])) as never;
  return { happened, hooksOf, starts: () => starts };
}

const { log } = keptLog();
const never = new AbortController().signal;

test('each message is answered by the service that it belongs to', async () => {
  const services = await startServices(troupe().starts, { ending: never, log });
  for (const [name, own] of Object.entries(messages))
    for (const message of own) assert.equal(await services.ask(message, {} as never), `${name} answers ${message}`);
  assert.equal(await commitThrough(services.ask)(() => 1), 'writer answers store.commit');
});

test('services start after those that they stand on, and stop before them', async () => {
  const { happened, starts } = troupe();
  const services = await startServices(starts, { ending: never, log });
  const [first, second] = [happened.indexOf('start indexes'), happened.indexOf('start intake')];
  assert.ok(happened.indexOf('writer is ready') < first && happened.indexOf('indexes is ready') < second);
  happened.length = 0;
  await services.stop();
  assert.deepEqual(happened.slice(-2), ['stop indexes', 'stop writer']);
  assert.equal(happened.length, names.length);
});

test('after the stop every message is refused', async () => {
  const services = await startServices(troupe().starts, { ending: never, log });
  await services.stop();
  for (const name of ['store.commit', 'page.get', 'search.query'] as const)
    await assert.rejects(services.ask(name, {} as never), { code: 'store_unavailable' });
});

test('where a service cannot start, those that had started are stopped, and the reason is told', async () => {
  const { happened, starts } = troupe({ indexes: () => Promise.reject(new Error('no index')) });
  await assert.rejects(startServices(starts, { ending: never, log }), { message: 'no index' });
  assert.deepEqual(happened, ['start writer', 'writer is ready', 'start indexes', 'stop writer']);
});

test('a crash while others start ends the start', async () => {
  const { happened, hooksOf, starts } = troupe({
    indexes: async ({ ending }) => {
      hooksOf.get('writer')?.crash(new Error('a flush failed'));
      await new Promise((resolve) => ending.addEventListener('abort', resolve));
    },
  });
  await assert.rejects(startServices(starts, { ending: never, log }), { message: 'a flush failed' });
  assert.deepEqual(happened.slice(-3), ['indexes is ready', 'stop indexes', 'stop writer']);
});

test('a start that is given up stops what had started', async () => {
  const ending = new AbortController();
  const { happened, starts } = troupe({
    indexes: async (hooks) => {
      ending.abort(new Error('the service stops'));
      assert.equal(hooks.ending.aborted, true, 'the one that starts is told');
    },
  });
  await assert.rejects(startServices(starts, { ending: ending.signal, log }), { message: 'the service stops' });
  assert.ok(!happened.includes('start intake'));
  assert.deepEqual(happened.slice(-2), ['stop indexes', 'stop writer']);
});

test('the first crash is told, with its service in the log', async () => {
  const kept = keptLog();
  const { hooksOf, starts } = troupe();
  const services = await startServices(starts, { ending: never, log: kept.log });
  hooksOf.get('queries')?.crash(new Error('oh'));
  hooksOf.get('models')?.crash(new Error('another'));
  assert.deepEqual(await services.crashed, new Error('oh'));
  const told = kept.lines.map(({ msg, service }) => `${msg}: ${service}`);
  assert.deepEqual(told, ['a service crashed: queries', 'a service crashed: models']);
  await services.stop();
});

test('what cannot be let go of is told after all were stopped', async () => {
  const { happened, starts } = troupe({}, { indexes: () => Promise.reject(new Error('no room')) });
  const services = await startServices(starts, { ending: never, log });
  await assert.rejects(services.stop(), { message: 'no room' });
  assert.equal(happened.at(-1), 'stop writer');
});
