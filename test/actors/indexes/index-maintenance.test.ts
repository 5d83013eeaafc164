import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleDetector } from '../../../src/actors/indexes/index-handlers.ts';

function started() {
  const clock = { at: 1000 };
  return { clock, quiet: idleDetector(() => clock.at) };
}

/** Steps: what happens, so many ms that pass, and whether it is time by then. */
const sequences: Record<string, (number | boolean | 'changed' | 'searched' | 'again')[]> = {
  'it is time five seconds after the last change': ['changed', 4000, 'changed', 4999, false, 1, true],
  'it is time once, and not before a change': [false, 'changed', 5000, true, 60_000, false],
  'it is time when the searches have stopped': ['changed', 10_000, 'searched', 4999, false, 1, true],
  'what has failed is due again after another quiet time': ['changed', 5000, true, 'again', 4999, false, 1, true],
  'what changes while it fails is due by the change': ['changed', 5000, true, 'changed', 1000, 'again', 4000, true],
};
for (const [name, steps] of Object.entries(sequences)) {
  test(name, () => {
    const { clock, quiet } = started();
    for (const [at, step] of steps.entries()) {
      if (typeof step === 'number') clock.at += step;
      else if (typeof step === 'boolean') assert.equal(quiet.take(), step, `step ${at}`);
      else quiet[step]();
    }
  });
}

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
