import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeMemory } from '../../src/providers/read-body.ts';

test('whole buffers are given back, each once, and parts of larger ones stay', () => {
  const whole = Buffer.alloc(100_000, 'a');
  const larger = Buffer.alloc(100_000, 'b');
  const part = larger.subarray(10, 20);
  const pooled = Buffer.from('a few bytes of the pool');
  freeMemory([whole, whole, part, pooled]);
  assert.equal(whole.byteLength, 0);
  assert.deepEqual([larger.byteLength, part.toString()], [100_000, 'bbbbbbbbbb']);
  assert.equal(pooled.toString(), 'a few bytes of the pool');
  freeMemory([]);
});
