import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from 'xstate';
import { type OpenedLibrary, superviseLibrary } from '../../../src/actors/system/library.ts';
import { FatalError, LeaseEndedError, ServedElsewhereError } from '../../../src/domain/errors.ts';
import { pluck } from '../../rows.ts';
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
  assert.equal(openings.map(({ again }) => again).join(), 'false,true');
  const told = ['the library cannot continue and is closed', 'the library cannot open', 'the library is open again'];
  assert.deepEqual(pluck(lines, 'msg'), told);
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
  const logged = [level < 50, line, others];
  assert.deepEqual(logged, [
    true,
    { reason: 'another host has it', msg: 'this host no longer serves the library' },
    [],
  ]);
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
