import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from 'xstate';
import { type OpenedLibrary, superviseLibrary } from '../../../src/actors/system/library.ts';
import { FatalError, LeaseEndedError, OperatorError, ServedElsewhereError } from '../../../src/domain/errors.ts';
import { keptLog } from '../quiet-log.ts';

/** A library whose openings the test ends, and what happened to it. */
function library() {
  const clock = new SimulatedClock();
  const { log, lines } = keptLog();
  const openings: { again: boolean; ending: AbortSignal; resolve(): void; reject(error: unknown): void }[] = [];
  const closings: { break: (reason: unknown) => void; closed: boolean }[] = [];
  const supervised = superviseLibrary({
    isAlone: true,
    clock,
    log,
    open: (again, ending) =>
      new Promise<OpenedLibrary>((resolve, reject) => {
        const opened = () => {
          const life = { break: (_: unknown) => {}, closed: false };
          closings.push(life);
          const broken = new Promise<unknown>((tell) => {
            life.break = tell;
          });
          const close = async () => {
            life.closed = true;
          };
          resolve({ ask: (async (name: string) => `${closings.length} answers ${name}`) as never, broken, close });
        };
        openings.push({ again, ending, resolve: opened, reject });
      }),
  });
  const ask = () => supervised.ask('page.get', { page_id: 'x' });
  return { supervised, ask, clock, lines, openings, closings };
}

const settled = () => new Promise(setImmediate);

test('who asks before it is open, and while it broke, is told to come back; then the new one answers', async () => {
  const { supervised, ask, clock, lines, openings, closings } = library();
  await assert.rejects(ask(), { code: 'store_unavailable', retryAfterS: 1 });
  openings[0].resolve();
  await supervised.opened;
  assert.equal(await ask(), '1 answers page.get');
  closings[0].break(new Error('a flush failed'));
  await settled();
  assert.equal(closings[0].closed, true);
  await assert.rejects(ask(), { code: 'store_unavailable' });
  clock.increment(100);
  openings[1].resolve();
  await settled();
  assert.equal(await ask(), '2 answers page.get');
  assert.deepEqual(
    openings.map(({ again }) => again),
    [false, true],
  );
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['the library cannot continue and is closed', 'the library is not open', 'the library is open again'],
  );
  await supervised.close();
  assert.deepEqual([supervised.state(), closings[1].closed], ['closed', true]);
  await assert.rejects(ask(), { code: 'shutting_down' });
});

test('that another host took it is told in one line, without a stack', async () => {
  const { supervised, clock, lines, openings, closings } = library();
  openings[0].resolve();
  await supervised.opened;
  closings[0].break(new LeaseEndedError('another host has it'));
  await settled();
  clock.increment(100);
  openings[1].reject(new ServedElsewhereError());
  assert.ok((await supervised.over) instanceof ServedElsewhereError);
  const [{ level, ...line }, ...others] = lines;
  assert.deepEqual(
    [level < 50, line, others],
    [true, { reason: 'another host has it', msg: 'the library is not served here any more' }, []],
  );
});

test('why the first opening failed is told to who waits for it, and not in the log', async () => {
  const { supervised, lines, openings } = library();
  openings[0].reject(new Error('no disk'));
  await assert.rejects(supervised.opened, { message: 'no disk' });
  assert.deepEqual(lines, []);
  await supervised.close();
  assert.equal(supervised.state(), 'closed');
});

test('an opening is given up when it is closed meanwhile', async () => {
  const { supervised, openings } = library();
  const closed = supervised.close();
  assert.equal(openings[0].ending.aborted, true);
  openings[0].reject(openings[0].ending.reason);
  await closed;
  await assert.rejects(supervised.opened);
  assert.equal(supervised.state(), 'closed');
});

test('where it cannot be opened again at all, that is told once, and closing it goes on', async () => {
  const { supervised, openings, closings } = library();
  openings[0].resolve();
  await supervised.opened;
  const reason = new FatalError('another process has taken the data folder', { isFinal: true });
  closings[0].break(reason);
  assert.equal(await supervised.over, reason);
  await supervised.close();
  assert.equal(supervised.state(), 'over');
});

const maxBackoffMs = 1000;

/** A library whose openings and closings end when the test says so, under a clock that the test moves. */
class Life {
  readonly clock = new SimulatedClock();
  readonly log: string[] = [];
  readonly #kept = keptLog();
  #open: { resolve: (opened: OpenedLibrary) => void; reject: (error: unknown) => void } | undefined;
  #closed: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  #break: (reason: unknown) => void = () => {};
  readonly supervised = superviseLibrary({
    ...{ isAlone: true, maxBackoffMs, clock: this.clock, log: this.#kept.log },
    open: () => {
      this.log.push('open');
      return new Promise((resolve, reject) => {
        this.#open = { resolve, reject };
      });
    },
  });

  get state() {
    return this.supervised.state();
  }

  /** As logged with each wait for another opening. */
  failures(): unknown[] {
    return this.#kept.lines.flatMap(({ failures }) => failures ?? []);
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
    this.#open?.resolve({ ask: (async () => null) as never, broken, close });
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
    void this.supervised.close();
  }
}

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
  life.clock.increment(59_999);
  await life.breaks();
  await life.closes();
  assert.deepEqual(life.failures(), [7]);
  life.clock.increment(maxBackoffMs);
  await life.opens();
  life.clock.increment(60_000);
  await life.breaks();
  await life.closes();
  assert.deepEqual(life.failures(), [7, 1]);
});

test('a library that breaks as soon as it is open counts its failures on', async () => {
  const life = new Life();
  for (let failures = 1; failures <= 3; failures++) {
    await life.opens();
    await life.breaks();
    await life.closes();
    assert.equal(life.failures().at(-1), failures);
    life.clock.increment(maxBackoffMs);
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
  life.clock.increment(30_000);
  assert.equal(life.state, 'over');
  assert.equal(((await life.supervised.over) as Error).message, 'a flush failed');
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
    life.clock.increment(maxBackoffMs);
    assert.equal(life.state, 'opening');
  }
  await life.cannotOpen(unwritable);
  assert.equal(life.state, 'over');
});
