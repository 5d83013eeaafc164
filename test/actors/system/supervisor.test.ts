import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromCallback, SimulatedClock } from 'xstate';
import type { ServiceCommand } from '../../../src/actors/system/service.ts';
import { type ChildLogics, startSupervisor } from '../../../src/actors/system/supervisor.ts';
import { commitThrough, type SystemAsk, type SystemMessageName } from '../../../src/actors/system/system-messages.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { ChildName } from '../../../src/machines/supervisor.ts';
import { keptLog } from '../quiet-log.ts';

/** A child that answers each message with its own name, and starts and stops at once. */
const echo = (name: ChildName) =>
  fromCallback<ServiceCommand>(({ sendBack, receive }) => {
    receive((command) => {
      if (command.type === 'stop') sendBack({ type: `stopped.${name}` });
      else command.resolve(`${name} answers ${command.name}`);
    });
    sendBack({ type: `ready.${name}` });
  });

const echoes = (): ChildLogics => ({
  breakers: echo('breakers'),
  writer: echo('writer'),
  indexes: echo('indexes'),
  intake: echo('intake'),
  models: echo('models'),
  queries: echo('queries'),
  retriever: echo('retriever'),
  journal: echo('journal'),
  watches: echo('watches'),
  forgetting: echo('forgetting'),
  clusters: echo('clusters'),
  events: echo('events'),
  metrics: echo('metrics'),
  entities: echo('entities'),
  scheduler: echo('scheduler'),
});

const askAny = (ask: SystemAsk, name: SystemMessageName): Promise<unknown> => ask(name, {} as never);

test('each message is answered by the child that it belongs to', async () => {
  const { ask, ready, ended, stop } = startSupervisor(echoes, keptLog().log);
  await ready;
  const expected: [SystemMessageName, ChildName][] = [
    ['page.ingest', 'intake'],
    ['page.ingestBatch', 'intake'],
    ['page.get', 'queries'],
    ['page.text', 'queries'],
    ['page.chunks', 'queries'],
    ['page.status', 'queries'],
    ['page.statusBatch', 'queries'],
    ['job.list', 'queries'],
    ['job.retry', 'queries'],
    ['job.retryBatch', 'queries'],
    ['system.readiness', 'queries'],
    ['events.subscribe', 'events'],
    ['metrics.timeseries', 'metrics'],
    ['metrics.summary', 'metrics'],
    ['search.query', 'retriever'],
    ['search.batch', 'retriever'],
    ['search.similar', 'retriever'],
    ['search.compare', 'retriever'],
    ['search.rank', 'retriever'],
    ['page.forget', 'forgetting'],
    ['page.entities', 'entities'],
    ['entity.get', 'entities'],
    ['entity.undoMerge', 'entities'],
    ['entity.merges', 'entities'],
    ['cluster.list', 'clusters'],
    ['cluster.recompute', 'clusters'],
    ['blacklist.list', 'forgetting'],
    ['blacklist.remove', 'forgetting'],
    ['queryLog.list', 'journal'],
    ['queryLog.get', 'journal'],
    ['feedback.give', 'journal'],
    ['eval.score', 'journal'],
    ['eval.startReplay', 'journal'],
    ['eval.replay', 'journal'],
    ['watch.list', 'watches'],
    ['watch.get', 'watches'],
    ['watch.create', 'watches'],
    ['watch.update', 'watches'],
    ['watch.delete', 'watches'],
    ['watch.run', 'watches'],
    ['model.list', 'models'],
    ['model.register', 'models'],
    ['model.activate', 'models'],
    ['model.retire', 'models'],
    ['model.backfill', 'models'],
    ['model.estimateBackfill', 'models'],
    ['model.startBackfill', 'models'],
    ['store.commit', 'writer'],
    ['index.add', 'indexes'],
    ['index.addVectors', 'indexes'],
    ['index.openSpace', 'indexes'],
    ['index.dropSpace', 'indexes'],
    ['index.retrieve', 'indexes'],
    ['index.nearPages', 'indexes'],
  ];
  for (const [name, child] of expected) assert.equal(await askAny(ask, name), `${child} answers ${name}`);
  assert.equal(await commitThrough(ask)(() => 1), 'writer answers store.commit');
  stop();
  assert.deepEqual(await ended, { failure: null });
});

const unavailable = (error: unknown) => error instanceof DomainError && error.code === 'store_unavailable';

test('a message to a child that does not run is refused, not lost', async () => {
  const logics = echoes();
  const { ask, ended, stop } = startSupervisor(() => ({ ...logics, indexes: fromCallback(() => {}) }), keptLog().log);
  await assert.rejects(askAny(ask, 'search.query'), unavailable);
  assert.equal(await askAny(ask, 'store.commit'), 'writer answers store.commit');
  stop();
  await Promise.race([ended, new Promise(setImmediate)]);
});

test('after the end every message is refused', async () => {
  const { ask, ready, ended, stop } = startSupervisor(echoes, keptLog().log);
  await ready;
  stop();
  await ended;
  for (const name of ['store.commit', 'page.get', 'search.query'] as const)
    await assert.rejects(askAny(ask, name), unavailable);
});

test('a child that crashes is logged with its name and the reason, and the system goes on', async () => {
  const { log, lines } = keptLog();
  let lives = 0;
  const restless = fromCallback<ServiceCommand>(({ sendBack, receive }) => {
    lives++;
    receive((command) => {
      if (command.type === 'stop') sendBack({ type: 'stopped.queries' });
      else if (command.name === 'page.get') sendBack({ type: 'crashed.queries', error: new Error('oh') });
      else command.resolve(lives);
    });
    sendBack({ type: 'ready.queries' });
  });
  const { ask, ready, ended, stop } = startSupervisor(() => ({ ...echoes(), queries: restless }), log);
  await ready;
  void askAny(ask, 'page.get');
  assert.deepEqual(
    lines.map(({ level, msg, child, err }) => [level, msg, child, (err as { message: string }).message]),
    [[50, 'a part of the system crashed', 'queries', 'oh']],
  );
  await assert.rejects(askAny(ask, 'job.list'), unavailable);
  assert.equal(await askAny(ask, 'search.query'), 'retriever answers search.query');
  stop();
  assert.deepEqual(await ended, { failure: null });
});

test('a system that cannot start says why, after it has tried again', async () => {
  const { log, lines } = keptLog();
  const reason = new Error('no index');
  const broken = fromCallback<ServiceCommand>(({ sendBack }) => sendBack({ type: 'crashed.indexes', error: reason }));
  const clock = new SimulatedClock();
  const { ready, ended } = startSupervisor(() => ({ ...echoes(), indexes: broken }), log, clock);
  for (let s = 0; s < 10; s++) clock.increment(1000);
  await assert.rejects(ready, (error) => error instanceof Error && error.cause === reason);
  assert.deepEqual(await ended, { failure: reason });
  assert.deepEqual(
    lines.map(({ child }) => child),
    Array.from({ length: 6 }, () => 'indexes'),
  );
});
