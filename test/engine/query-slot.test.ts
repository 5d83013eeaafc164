import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotFor, vectorIn } from '../../src/engine/query-slot.ts';

const made = Float32Array.of(1, -2, 3);
const soon = (vector: () => Float32Array | null | Promise<never>) => new Promise(setImmediate).then(vector);

const cases: [name: string, vector: () => Promise<Float32Array | null>, found: Float32Array | null][] = [
  ['a vector that is there before it is read', async () => made, made],
  ['a vector that comes afterwards', () => soon(() => made), made],
  ['no vector', async () => null, null],
  ['no vector, as turns out afterwards', () => soon(() => null), null],
  ['a vector whose making fails', () => Promise.reject(new Error('no')), null],
  ['a vector whose making fails afterwards', () => soon(() => Promise.reject(new Error('no'))), null],
];
for (const [name, vector, found] of cases) {
  test(`a slot for ${name} gives ${found === null ? 'nothing' : 'it'}, as often as it is read`, async () => {
    const slot = slotFor(vector(), 3);
    const reading = vectorIn(slot);
    assert.deepEqual(await reading, found);
    assert.deepEqual(await vectorIn(slot), found);
  });
}
