/** The clean-up of tests itself: its order, and what it does with what fails. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pluck } from './rows.ts';
import { CleanUps, newestFirst } from './scope.ts';

test('all that was set up is undone, newest first, also what comes meanwhile and what follows a failure', async () => {
  const outer = new CleanUps();
  const scope = newestFirst(outer);
  const done: string[] = [];
  scope.after(() => void done.push('oldest'));
  scope.after(() => {
    throw new Error('one');
  });
  scope.after(async () => {
    done.push('newest');
    scope.after(() => void done.push('meanwhile'));
    throw new Error('another');
  });
  await assert.rejects(outer.run(), ({ errors }: AggregateError) => {
    assert.deepEqual(pluck(errors, 'message'), ['another', 'one']);
    return true;
  });
  assert.deepEqual(done, ['newest', 'meanwhile', 'oldest']);
});

test('a single failure is told as it is', async () => {
  const scope = new CleanUps();
  const failure = new Error('one');
  scope.after(() => Promise.reject(failure));
  await assert.rejects(scope.run(), failure);
});
