import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleDetector } from '../../../src/actors/indexes/index-handlers.ts';

function started() {
  const clock = { at: 1000 };
  return { clock, quiet: idleDetector(() => clock.at) };
}

test('it is time five seconds after the last change, once', () => {
  const { clock, quiet } = started();
  assert.equal(quiet.take(), false);
  quiet.changed();
  clock.at += 4000;
  quiet.changed();
  clock.at += 4999;
  assert.equal(quiet.take(), false);
  clock.at += 1;
  assert.equal(quiet.take(), true);
  clock.at += 60_000;
  assert.equal(quiet.take(), false);
});

test('searches put it off, but not for ever', () => {
  const { clock, quiet } = started();
  quiet.changed();
  for (let second = 1; second < 60; second++) {
    clock.at += 1000;
    quiet.searched();
    assert.equal(quiet.take(), false, `after ${second} s`);
  }
  clock.at += 1000;
  quiet.searched();
  assert.equal(quiet.take(), true);
});

test('it is time when the searches have stopped', () => {
  const { clock, quiet } = started();
  quiet.changed();
  clock.at += 10_000;
  quiet.searched();
  clock.at += 4999;
  assert.equal(quiet.take(), false);
  clock.at += 1;
  assert.equal(quiet.take(), true);
});

test('what has failed is due again after another quiet time', () => {
  const { clock, quiet } = started();
  quiet.changed();
  clock.at += 5000;
  assert.equal(quiet.take(), true);
  quiet.again();
  clock.at += 4999;
  assert.equal(quiet.take(), false);
  clock.at += 1;
  assert.equal(quiet.take(), true);
});

test('what changes while it fails does not come earlier for that', () => {
  const { clock, quiet } = started();
  quiet.changed();
  clock.at += 5000;
  assert.equal(quiet.take(), true);
  quiet.changed();
  clock.at += 1000;
  quiet.again();
  clock.at += 4000;
  assert.equal(quiet.take(), true);
});

test('changes that trickle in beside searches do not put it off for ever', () => {
  const { clock, quiet } = started();
  let tidied = 0;
  for (let second = 0; second < 180; second++) {
    if (second % 20 === 0) quiet.changed();
    quiet.searched();
    clock.at += 1000;
    if (quiet.take()) tidied++;
  }
  assert.ok(tidied >= 2, `${tidied} times in three minutes`);
});
