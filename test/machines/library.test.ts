/** The library's chart with openings and closings that end when the test says so, under a clock that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import { FatalError, OperatorError } from '../../src/domain/errors.ts';
import { libraryMachine, type Opened } from '../../src/machines/library.ts';

const policy = { backoffMs: 100, maxBackoffMs: 1000, steadyMs: 60_000, closeWithinMs: 5000, waitsForFolder: false };

class Life {
  readonly clock = new SimulatedClock();
  readonly log: string[] = [];
  #open: { resolve: (opened: Opened) => void; reject: (error: unknown) => void } | undefined;
  #closed: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  #break: (reason: unknown) => void = () => {};
  readonly actor = createActor(
    libraryMachine.provide({
      actors: {
        open: fromPromise<Opened>(() => {
          this.log.push('open');
          return new Promise((resolve, reject) => {
            this.#open = { resolve, reject };
          });
        }),
      },
    }),
    { input: { policy }, clock: this.clock },
  );

  constructor() {
    this.actor.start();
    this.actor.send({ type: 'open' });
  }

  get state() {
    return this.actor.getSnapshot().value;
  }

  async opens(): Promise<void> {
    const broken = new Promise<unknown>((resolve) => {
      this.#break = resolve;
    });
    const close = () => {
      this.log.push('close');
      return new Promise<void>((resolve, reject) => {
        this.#closed = { resolve, reject };
      });
    };
    this.#open?.resolve({ broken, close });
    await settled();
  }

  async cannotOpen(reason: Error = new Error('no disk')): Promise<void> {
    this.#open?.reject(reason);
    await settled();
  }

  async breaks(reason: Error = new Error('a flush failed')): Promise<void> {
    this.#break(reason);
    await settled();
  }

  async closes(error?: Error): Promise<void> {
    if (error === undefined) this.#closed?.resolve();
    else this.#closed?.reject(error);
    await settled();
  }

  stop(): void {
    this.actor.send({ type: 'stop' });
  }
}

/** Promises that are settled are heard of. */
const settled = () => new Promise(setImmediate);

test('it is opened, serves, and is closed when it is asked to stop', async () => {
  const life = new Life();
  assert.equal(life.state, 'opening');
  await life.opens();
  assert.equal(life.state, 'serving');
  life.stop();
  assert.equal(life.state, 'closing');
  await life.closes();
  assert.deepEqual([life.state, life.log], ['closed', ['open', 'close']]);
});

test('what breaks is closed, and opened again after a wait', async () => {
  const life = new Life();
  await life.opens();
  await life.breaks();
  assert.equal(life.state, 'breaking');
  await life.closes();
  assert.equal(life.state, 'failed');
  life.clock.increment(99);
  assert.equal(life.state, 'failed');
  life.clock.increment(1);
  assert.equal(life.state, 'opening');
  await life.opens();
  assert.deepEqual([life.state, life.log], ['serving', ['open', 'close', 'open']]);
});

test('what broke is opened again also where something of it could not be let go of', async () => {
  const life = new Life();
  await life.opens();
  await life.breaks();
  await life.closes(new Error('a file could not be written'));
  assert.equal(life.state, 'failed');
});

test('each failure in a row doubles the wait, up to its bound; serving for long enough begins anew', async () => {
  const life = new Life();
  const waits: number[] = [];
  for (let failures = 0; failures < 6; failures++) {
    await life.cannotOpen();
    let wait = 0;
    for (; life.state === 'failed'; wait += 100) life.clock.increment(100);
    waits.push(wait);
  }
  assert.deepEqual(waits, [100, 200, 400, 800, 1000, 1000]);
  await life.opens();
  life.clock.increment(policy.steadyMs - 1);
  assert.equal(life.actor.getSnapshot().context.failures, 6);
  life.clock.increment(1);
  assert.equal(life.actor.getSnapshot().context.failures, 0);
});

test('a library that breaks as soon as it is open counts its failures on', async () => {
  const life = new Life();
  for (let failures = 1; failures <= 3; failures++) {
    await life.opens();
    await life.breaks();
    await life.closes();
    assert.equal(life.actor.getSnapshot().context.failures, failures);
    life.clock.increment(policy.maxBackoffMs);
  }
});

test('a stop while it opens, or breaks, is carried out when that has ended', async () => {
  const early = new Life();
  early.stop();
  assert.equal(early.state, 'opening');
  await early.opens();
  assert.equal(early.state, 'closing');
  await early.closes();
  assert.equal(early.state, 'closed');

  const failing = new Life();
  failing.stop();
  await failing.cannotOpen();
  assert.equal(failing.state, 'closed');

  const breaking = new Life();
  await breaking.opens();
  await breaking.breaks();
  breaking.stop();
  await breaking.closes();
  assert.deepEqual([breaking.state, breaking.log], ['closed', ['open', 'close']]);
});

test('a stop while it waits to be opened again is immediate', async () => {
  const life = new Life();
  await life.cannotOpen();
  life.stop();
  assert.equal(life.state, 'closed');
  life.clock.increment(10_000);
  assert.deepEqual([life.state, life.log], ['closed', ['open']]);
});

test('what broke and cannot be closed in time is over: only the end of the process lets go of it', async () => {
  const life = new Life();
  await life.opens();
  await life.breaks();
  life.clock.increment(policy.closeWithinMs);
  const { value, status, context } = life.actor.getSnapshot();
  assert.deepEqual([value, status, (context.reason as Error).message], ['over', 'done', 'a flush failed']);
});

test('a library whose folder another process has taken is over when it is closed: it is not taken back', async () => {
  const life = new Life();
  await life.opens();
  await life.breaks(new FatalError('another process has taken the data folder', { isFinal: true }));
  assert.equal(life.state, 'breaking');
  await life.closes();
  assert.equal(life.state, 'over');
});

test('where opening it again does not help it is over', async () => {
  const life = new Life();
  await life.cannotOpen(new OperatorError('store_damaged', 'the file is cut off'));
  assert.equal(life.state, 'over');
  const waiting = new Life();
  await waiting.cannotOpen(new OperatorError('disk_full', 'no room'));
  assert.equal(waiting.state, 'failed');
});

test('a sound store that this process cannot write for long is over: another process may be able to', async () => {
  const life = new Life();
  const unwritable = new OperatorError('store_unwritable', 'no transaction to renew');
  for (let opening = 0; opening < 8; opening++) {
    await life.cannotOpen(unwritable);
    assert.equal(life.state, 'failed', `${opening}`);
    life.clock.increment(policy.maxBackoffMs);
    assert.equal(life.state, 'opening');
  }
  await life.cannotOpen(unwritable);
  assert.equal(life.state, 'over');
});
