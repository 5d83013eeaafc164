import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostBehind } from '../../../src/engine/vectors/space-policy.ts';

test('few rows wait for their graph as long as they like', () => {
  assert.ok(mostBehind(100_000, 1000) >= 100_000);
});

test('a flood of additions is held at the bound', () => {
  let behind = 0;
  for (let batch = 0; batch < 1000; batch++) behind = Math.min(behind + 1000, mostBehind(behind + 1000, 1000));
  assert.equal(behind, 150_000);
});

test('of very many rows each addition waits for twice as many as it brought, until they are at the bound', () => {
  assert.equal(mostBehind(500_100, 100), 499_900);
  let behind = 500_000;
  let batches = 0;
  for (; behind > 150_000; batches++) behind = Math.min(behind + 100, mostBehind(behind + 100, 100));
  assert.equal(batches, 3500);
});
