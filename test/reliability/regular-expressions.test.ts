/**
 * No regular expression of the service takes long over 100,000 characters, whatever they are: a page, a feed, an answer of a provider or a
 * name in a file may have been written to hold it up. How long is long is told by another expression, on the same machine. Expressions that have
 * passed are listed in test/fixtures and not tried again, unless V8 or the hard texts change. `npm run soak -- --only hostile-input` tries all and
 * writes the list.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { leastProcessorMs, processorMs } from '../processor-time.ts';
import {
  constructedOnLoad,
  type HardText,
  hardTexts,
  readSourceExpressions,
  type SourceExpression,
} from './source-expressions.ts';

/**
 * What none may take: an expression that looks at the next thousand characters from each place. What goes by the square takes far more
 * of any long text, and what is linear far less, on a machine of any speed.
 */
const yardstick = /a{1000}b/;
/** Every text is tried short; those of each expression that took longest are then tried long. */
const shortLength = 2_000;
/** Before that so short that what doubles with each character is found out, and comes to an end. */
const tinyLength = 26;
const longLengths = [20_000, 100_000];
const worstTexts = 4;
const tries = 3;

function exhaust(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) text.replace(pattern, '');
  else pattern.exec(text);
}

const mostMs = new Map(
  [shortLength, ...longLengths].map((length) => {
    const text = 'a'.repeat(length);
    return [length, leastProcessorMs(() => exhaust(yardstick, text), tries)];
  }),
);

/** What is too slow, as a line, or null. */
function faultOf({ file, pattern }: SourceExpression): string | null {
  const [shortMs, ...longMs] = mostMs.values();
  const isOver = (text: string, ms: number) => {
    // Once, and no more of what is within the bound.
    for (let count = 0; count < tries; count++) if (processorMs(() => exhaust(pattern, text)) <= ms) return false;
    return true;
  };
  const say = (hard: HardText, length: number, ms: number) =>
    `${file}: ${pattern} takes over ${ms.toFixed(1)} ms for ${length} of ${JSON.stringify(hard(30))}`;
  const short: { hard: HardText; ms: number }[] = [];
  for (const hard of hardTexts(pattern)) {
    const text = hard(shortLength);
    if (isOver(hard(tinyLength), shortMs)) return say(hard, tinyLength, shortMs);
    short.push({
      hard,
      ms: Math.min(
        processorMs(() => exhaust(pattern, text)),
        processorMs(() => exhaust(pattern, text)),
      ),
    });
  }
  short.sort((a, b) => b.ms - a.ms);
  for (const { hard } of short.slice(0, worstTexts)) {
    for (const [at, length] of longLengths.entries()) {
      const text = hard(length);
      if (isOver(text, longMs[at])) return say(hard, length, longMs[at]);
    }
  }
  return null;
}

const listed = join(import.meta.dirname, '../fixtures/linear-expressions.txt');
const triesAll = process.env.READBACK_TEST_ALL_EXPRESSIONS === '1';
const digestOf = ({ pattern }: SourceExpression) => {
  const texts = [...hardTexts(pattern)].map((hard) => hard(tinyLength));
  return createHash('sha256')
    .update([process.versions.v8, yardstick, shortLength, longLengths, tries, pattern, ...texts].join('\n'))
    .digest('hex')
    .slice(0, 16);
};

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
  const passed = new Set(triesAll ? [] : readFileSync(listed, 'utf8').split('\n'));
  const tried = all.filter((expression) => !passed.has(digestOf(expression)));
  assert.deepEqual(
    tried.map(faultOf).filter((fault) => fault !== null),
    [],
  );
  if (triesAll) writeFileSync(listed, `${[...new Set(all.map(digestOf))].sort().join('\n')}\n`);
  t.diagnostic(`${tried.length} of ${all.length} expressions`);
});

test('an expression that backtracks is found', () => {
  for (const pattern of [/<!--[\s\S]*?-->/g, /^(?:a+)+$/]) {
    // One measurement may meet a moment in which the yardstick was slow.
    const isFound = Array.from({ length: 3 }).some(() => faultOf({ file: 'here', pattern }) !== null);
    assert.ok(isFound, String(pattern));
  }
});
