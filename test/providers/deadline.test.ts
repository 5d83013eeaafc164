import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../src/providers/clock.ts';
import { HandClock } from './hand-clock.ts';

const late = new Error('late');
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    (error: Error) => error.message,
  );

test('steps share the time, which stands still between them and in pauses', async () => {
  const clock = new HandClock();
  const deadline = new Deadline(clock, 100, new AbortController().signal, late);
  assert.equal(await deadline.run(async () => clock.advance(60).then(() => 'first')), 'first');
  await clock.advance(1000);
  const waited = deadline.run(async () => {
    await deadline.pause(clock.advance(1000));
    await clock.advance(30);
    return 'second';
  });
  assert.equal(await waited, 'second');
  const stuck = outcome(deadline.run(() => new Promise(() => {})));
  await clock.advance(9);
  assert.equal(await Promise.race([stuck, 'still running']), 'still running');
  await clock.advance(1);
  assert.equal(await stuck, 'late');
});

test('the signal ends a step with its reason, in a pause, too, and the step is told', async () => {
  const clock = new HandClock();
  const leave = new AbortController();
  const deadline = new Deadline(clock, 100, leave.signal, late);
  let told: unknown;
  const running = outcome(
    deadline.run((signal) => {
      signal.addEventListener('abort', () => {
        told = signal.reason;
      });
      return deadline.pause(new Promise(() => {}));
    }),
  );
  leave.abort(new Error('left'));
  assert.equal(await running, 'left');
  assert.equal((told as Error).message, 'left');
  assert.equal(await outcome(deadline.run(async () => 'never')), 'left');
});
