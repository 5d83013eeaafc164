/**
 * No regular expression of the service takes long over 100,000 characters, whatever they are: a page, a feed, an answer of a provider or a
 * name in a file may have been written to hold it up.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  constructedOnLoad,
  type HardText,
  hardTexts,
  readSourceExpressions,
  type SourceExpression,
} from './source-expressions.ts';

const longest = 100_000;
const boundMs = 50;
/** No disturbance explains this. */
const hopelessMs = 300;
/** Every text is tried short; those of each expression that took longest are then tried long. */
const shortLength = 2_000;
/** Before that so short that what doubles with each character is found out, and comes to an end. */
const tinyLength = 26;
const longLengths = [20_000, longest];
const worstTexts = 4;
const suspectMs = 0.1;
const tries = 3;

/** The shortest of some tries, ms of the processor's time: what the expression takes, and not what else the machine does. */
function shortestMs(pattern: RegExp, text: string, enoughMs: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let count = 0; count < tries && shortest > enoughMs; count++) {
    pattern.lastIndex = 0;
    const began = process.cpuUsage();
    if (pattern.global) text.replace(pattern, '');
    else pattern.exec(text);
    const { user, system } = process.cpuUsage(began);
    shortest = Math.min(shortest, (user + system) / 1000);
    if (shortest > hopelessMs) return shortest;
  }
  return shortest;
}

/** What is too slow, as a line, or null. */
function faultOf({ file, pattern }: SourceExpression): string | null {
  const say = (hard: HardText, length: number, ms: number) =>
    `${file}: ${pattern} takes ${ms.toFixed()} ms for ${length} of ${JSON.stringify(hard(30))}`;
  const short: { hard: HardText; ms: number }[] = [];
  for (const hard of hardTexts(pattern)) {
    const tinyMs = shortestMs(pattern, hard(tinyLength), boundMs);
    if (tinyMs > boundMs) return say(hard, tinyLength, tinyMs);
    short.push({ hard, ms: shortestMs(pattern, hard(shortLength), suspectMs) });
  }
  short.sort((a, b) => b.ms - a.ms);
  for (const { hard } of short.slice(0, worstTexts)) {
    for (const length of longLengths) {
      const ms = shortestMs(pattern, hard(length), boundMs);
      if (ms > boundMs) return say(hard, length, ms);
    }
  }
  return null;
}

const { literals, constructed } = readSourceExpressions();
const made = await constructedOnLoad([...new Set(constructed)]);

test('every expression that is put together is known once its module is loaded', () => {
  const known = new Set(made.map(({ file }) => file));
  assert.deepEqual(
    constructed.filter((file) => !known.has(file)),
    [],
  );
  assert.ok(literals.length > 200, `${literals.length} literals`);
});

test('no expression takes long over a hundred thousand characters', (t) => {
  const all = [...literals, ...made];
  const began = performance.now();
  const faults = all.map(faultOf).filter((fault) => fault !== null);
  t.diagnostic(`${all.length} expressions in ${Math.round(performance.now() - began)} ms`);
  assert.deepEqual(faults, []);
});

test('an expression that backtracks is found', () => {
  for (const pattern of [/<!--[\s\S]*?-->/g, /^(?:a+)+$/]) {
    assert.notEqual(faultOf({ file: 'here', pattern }), null, String(pattern));
  }
});
