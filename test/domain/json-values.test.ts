import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { holdsMoreThan } from '../../src/http/json-body.ts';

/** Elements and members of a parsed value, at all depths. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce((sum: number, each) => sum + countOf(each), inner.length);
}

function told(json: string): number {
  let most = 0;
  while (holdsMoreThan(most, json)) most++;
  return most;
}

test('values are counted at all depths; brackets, commas and quotation marks within strings are not', () => {
  for (const [json, count] of [
    ['1', 0],
    ['[]', 0],
    ['[ ]', 0],
    ['{}', 0],
    ['[[],{ },[[]]]', 4],
    ['{"a":1,"b":[1,2]}', 4],
    ['["a,b[c{","\\"","\\\\",",\\\\\\",[",""]', 5],
    [' {\n"k" :\t[ { } , "x" ] } ', 3],
  ] as const)
    assert.deepEqual([json, told(json)], [json, count]);
});

test('the count is that of the parsed text, however it is indented', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 0, max: 3 }), (value, indent) => {
      const json = JSON.stringify(value, null, indent);
      assert.equal(told(json), countOf(JSON.parse(json)));
    }),
    { numRuns: 500 },
  );
});

test('a text that is cut off is read to its end', () => {
  assert.equal(holdsMoreThan(2, '["a","b","c\\"'), true);
  assert.equal(holdsMoreThan(3, '["a","b","c\\"'), false);
  assert.equal(holdsMoreThan(0, '"\\\\\\'), false);
});
