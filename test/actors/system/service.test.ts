import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Service, ServiceHooks } from '../../../src/actors/system/service.ts';
import type { Readiness } from '../../../src/domain/messages.ts';
import { deferred } from '../../deferred.ts';
import { until } from '../../process/service.ts';
import { Hosted } from '../hosted.ts';

type Names = 'system.readiness';
const index = { state: 'whole', indexed_chunks: 0, total_chunks: 0 } as const;
const ready: Readiness = { store: true, trouble: null, activeModel: null, index };

const code = (expected: string) => ({ code: expected });
const host = (start: (hooks: ServiceHooks) => Promise<Service<Names>>) => new Hosted(start);
const answers = (reply: () => Readiness | Promise<Readiness>) => ({ handlers: { 'system.readiness': reply } });

test('requests that come before the service is ready wait for it', async () => {
  const starting = deferred<Service<Names>>();
  const hosted = host(() => starting.promise);
  const asked = hosted.ask('system.readiness', {});
  assert.deepEqual(hosted.events, []);
  starting.resolve(answers(() => ready));
  assert.deepEqual(await asked, ready);
  assert.deepEqual(hosted.events, [{ type: 'ready' }]);
});

test('an error of a handler, thrown or rejected, goes to the one who asked, and the service goes on', async () => {
  const replies = [
    () => {
      throw new Error('thrown');
    },
    () => Promise.reject(new Error('rejected')),
    () => ready,
  ];
  const hosted = host(async () => answers(() => (replies.shift() ?? (() => ready))()));
  await assert.rejects(hosted.ask('system.readiness', {}), { message: 'thrown' });
  await assert.rejects(hosted.ask('system.readiness', {}), { message: 'rejected' });
  assert.deepEqual(await hosted.ask('system.readiness', {}), ready);
  assert.deepEqual(hosted.events, [{ type: 'ready' }]);
});

test('on stop it finishes what it holds, refuses what comes later, lets go of everything, and only then has stopped', async () => {
  const holding = deferred<Readiness>();
  const stops: string[] = [];
  const hosted = host(async () => ({
    ...answers(() => holding.promise),
    stop: async () => void stops.push(hosted.events.map(({ type }) => type).join()),
  }));
  await hosted.told('ready');
  const held = hosted.ask('system.readiness', {});
  void hosted.stop();
  await assert.rejects(hosted.ask('system.readiness', {}), code('shutting_down'));
  assert.deepEqual(stops, []);
  holding.resolve(ready);
  assert.deepEqual(await held, ready);
  await hosted.told('stopped');
  assert.deepEqual(stops, ['ready']);
});

test('a start that waits is told of a stop', async () => {
  const starts: ServiceHooks[] = [];
  const hosted = host(async (hooks) => {
    starts.push(hooks);
    if (!hooks.ending.aborted) await once(hooks.ending, 'abort');
    return answers(() => ready);
  });
  await until(() => starts.length === 1, 'it starts');
  await hosted.stop();
  assert.equal(starts[0].ending.aborted, true);
});

test('a service that cannot start has crashed, with the reason', async () => {
  const hosted = host(() => Promise.reject(new Error('no disk')));
  const asked = hosted.ask('system.readiness', {});
  await assert.rejects(asked);
  assert.deepEqual(await hosted.told('crashed'), { type: 'crashed', error: new Error('no disk') });
});

test('a crash refuses what is held and what comes, is told once, and leaves what the service has to its stop', async () => {
  let crash: ServiceHooks['crash'] = () => {};
  let letGo = 0;
  const hosted = host(async (hooks) => {
    crash = hooks.crash;
    return { ...answers(() => new Promise(() => {})), stop: async () => void letGo++ };
  });
  await hosted.told('ready');
  const held = hosted.ask('system.readiness', {});
  crash(new Error('first'));
  crash(new Error('second'));
  await assert.rejects(held, code('store_unavailable'));
  assert.deepEqual(hosted.events, [{ type: 'ready' }, { type: 'crashed', error: new Error('first') }]);
  await assert.rejects(hosted.ask('system.readiness', {}), code('store_unavailable'));
  assert.equal(letGo, 0);
  await hosted.stop();
  assert.equal(letGo, 1);
});

test('a request that was refused is not carried out later', async () => {
  const starting = deferred<void>();
  let carriedOut = 0;
  let crash: ServiceHooks['crash'] = () => {};
  const hosted = host(async (hooks) => {
    crash = hooks.crash;
    await starting.promise;
    return answers(() => {
      carriedOut++;
      return ready;
    });
  });
  const asked = hosted.ask('system.readiness', {});
  await Promise.resolve();
  crash(new Error('no more'));
  await assert.rejects(asked, code('store_unavailable'));
  starting.resolve();
  await hosted.told('ready');
  assert.equal(carriedOut, 0);
});

test('however often it is stopped, it lets go once', async () => {
  let letGo = 0;
  const hosted = host(async () => ({ ...answers(() => ready), stop: async () => void letGo++ }));
  await Promise.all([hosted.stop(), hosted.stop()]);
  assert.equal(letGo, 1);
});

test('a service that cannot let go has crashed', async () => {
  const hosted = host(async () => ({ ...answers(() => ready), stop: () => Promise.reject(new Error('stuck')) }));
  await hosted.told('ready');
  void hosted.stop();
  assert.deepEqual(await hosted.told('crashed'), { type: 'crashed', error: new Error('stuck') });
});
