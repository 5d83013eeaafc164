/** Times as people are told them, and addresses in their sentences. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, dateOf } from '../../console/ui/format.ts';
import { addressesIn } from '../../console/ui/text.tsx';

const said = (unit: Intl.RelativeTimeFormatUnit, n: number) =>
  new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' }).format(n, unit);

test('within a day hours and minutes have passed in full; beyond it days are those of the calendar', () => {
  const now = new Date(2026, 10, 29, 8, 30).getTime();
  const at = (day: number, hour: number, minute = 0) => ago(new Date(2026, 10, day, hour, minute), now);
  assert.equal(at(29, 8, 30), said('second', 0));
  assert.equal(at(29, 7, 31), said('minute', -59));
  assert.equal(at(28, 8, 45), said('hour', -23));
  assert.equal(at(28, 8, 15), said('day', -1));
  assert.equal(at(28, 0, 5), said('day', -1));
  assert.equal(at(27, 23, 50), said('day', -2));
  assert.equal(at(27, 9, 0), said('day', -2));
  assert.equal(at(30, 9, 0), said('day', 1));
  assert.equal(at(29, 11, 0), said('hour', 2));
  assert.equal(at(20, 9, 0), dateOf(new Date(2026, 10, 20, 9)));
});

test('addresses are found in a sentence, without its punctuation', () => {
  for (const [text, address] of [
    ['Read (https://example.org/a).', 'https://example.org/a'],
    ['(see https://example.org/A_(b)), and', 'https://example.org/A_(b)'],
    ['“https://example.org/a?b=1.5”!', 'https://example.org/a?b=1.5'],
    ['<https://example.org/>', 'https://example.org/'],
    [`https://example.org/${'.)'.repeat(100_000)}`, 'https://example.org/'],
    ['见https://example.org/a。还有http://example.org/b', 'https://example.org/a http://example.org/b'],
    ['https://... ftp://example.org javascript:alert(1) data:text/html,https', ''],
  ] as const) {
    const found = addressesIn(text).map(({ start, end }) => text.slice(start, end));
    assert.equal(found.join(' '), address, text.slice(0, 100));
  }
});
