import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { type Service, type ServiceHooks, serviceLogic } from '../../../src/actors/system/service.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { Readiness } from '../../../src/domain/messages.ts';
import { until } from '../../process/service.ts';
import { Hosted } from '../hosted.ts';

type Names = 'system.readiness';
const index = { state: 'whole', indexed_chunks: 0, total_chunks: 0 } as const;
const ready: Readiness = { store: true, trouble: null, activeModel: null, index };

/** A promise and how to settle it. */
function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

const code = (expected: string) => (error: unknown) => error instanceof DomainError && error.code === expected;
const host = (start: (hooks: ServiceHooks) => Promise<Service<Names>>) => new Hosted(serviceLogic<Names>('x', start));
const answers = (reply: () => Readiness | Promise<Readiness>) => ({ handlers: { 'system.readiness': reply } });

test('requests that come before the service is ready wait for it', async () => {
  const starting = deferred<Service<Names>>();
  const hosted = host(() => starting.promise);
  const asked = hosted.ask('system.readiness', {});
  assert.deepEqual(hosted.events, []);
  starting.resolve(answers(() => ready));
  assert.deepEqual(await asked, ready);
  assert.deepEqual(hosted.events, [{ type: 'ready.x' }]);
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
  assert.deepEqual(hosted.events, [{ type: 'ready.x' }]);
});

test('on stop it finishes what it holds, refuses what comes later, lets go of everything, and only then has stopped', async () => {
  const holding = deferred<Readiness>();
  const stops: string[] = [];
  const hosted = host(async () => ({
    ...answers(() => holding.promise),
    stop: async () => void stops.push(hosted.events.map(({ type }) => type).join()),
  }));
  await hosted.told('ready.x');
  const held = hosted.ask('system.readiness', {});
  hosted.send({ type: 'stop' });
  await assert.rejects(hosted.ask('system.readiness', {}), code('shutting_down'));
  assert.deepEqual(stops, []);
  holding.resolve(ready);
  assert.deepEqual(await held, ready);
  await hosted.told('stopped.x');
  assert.deepEqual(stops, ['ready.x']);
});

test('a start that waits is told of a stop and of its end from outside', async () => {
  const starts: ServiceHooks[] = [];
  const hosted = host(async (hooks) => {
    starts.push(hooks);
    if (!hooks.ending.aborted) await once(hooks.ending, 'abort');
    return answers(() => ready);
  });
  await until(() => starts.length === 1, 'the first life starts');
  hosted.end();
  assert.equal(starts[0].ending.aborted, true);
  hosted.start();
  await until(() => starts.length === 2, 'the second life starts');
  assert.equal(starts[1].ending.aborted, false);
  hosted.send({ type: 'stop' });
  await hosted.told('stopped.x');
  assert.equal(starts[1].ending.aborted, true);
});

test('a service that cannot start has crashed, with the reason', async () => {
  const hosted = host(() => Promise.reject(new Error('no disk')));
  const asked = hosted.ask('system.readiness', {});
  await assert.rejects(asked);
  assert.deepEqual(await hosted.told('crashed.x'), { type: 'crashed.x', error: new Error('no disk') });
});

test('a crash refuses what is held, is told once, and lets go of what the service has', async () => {
  const stopped = deferred<string>();
  let crash: ServiceHooks['crash'] = () => {};
  const hosted = host(async (hooks) => {
    crash = hooks.crash;
    return { ...answers(() => new Promise(() => {})), stop: async () => stopped.resolve('let go') };
  });
  await hosted.told('ready.x');
  const held = hosted.ask('system.readiness', {});
  crash(new Error('first'));
  crash(new Error('second'));
  await assert.rejects(held, code('store_unavailable'));
  assert.equal(await stopped.promise, 'let go');
  assert.deepEqual(hosted.events, [{ type: 'ready.x' }, { type: 'crashed.x', error: new Error('first') }]);
  await assert.rejects(hosted.ask('system.readiness', {}), code('store_unavailable'));
});

test('a service that is ended from outside lets go of what it has before it starts again', async () => {
  const log: string[] = [];
  const closing = deferred<void>();
  const hosted = host(async () => {
    log.push('start');
    return {
      ...answers(() => ready),
      stop: async () => {
        log.push('closing');
        await closing.promise;
        log.push('closed');
      },
    };
  });
  await hosted.told('ready.x');
  hosted.end();
  hosted.start();
  const asked = hosted.ask('system.readiness', {});
  closing.resolve();
  assert.deepEqual(await asked, ready);
  assert.deepEqual(log, ['start', 'closing', 'closed', 'start']);
});

test('what is still held when the service is ended from outside is refused', async () => {
  const hosted = host(async () => answers(() => new Promise(() => {})));
  await hosted.told('ready.x');
  const held = hosted.ask('system.readiness', {});
  hosted.end();
  await assert.rejects(held, code('store_unavailable'));
});

test('a request that was refused is not carried out later', async () => {
  const starting = deferred<void>();
  let carriedOut = 0;
  const hosted = host(async () => {
    await starting.promise;
    return answers(() => {
      carriedOut++;
      return ready;
    });
  });
  const asked = hosted.ask('system.readiness', {});
  hosted.end();
  await assert.rejects(asked, code('store_unavailable'));
  starting.resolve();
  hosted.start();
  await hosted.ask('system.readiness', {});
  assert.equal(carriedOut, 1);
});

test('a service that cannot let go has crashed', async () => {
  const hosted = host(async () => ({ ...answers(() => ready), stop: () => Promise.reject(new Error('stuck')) }));
  await hosted.told('ready.x');
  hosted.send({ type: 'stop' });
  assert.deepEqual(await hosted.told('crashed.x'), { type: 'crashed.x', error: new Error('stuck') });
});
