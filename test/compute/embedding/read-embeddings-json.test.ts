import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readEmbeddingsJson } from '../../../src/compute/embedding/read-embeddings-json.ts';

const fixture = readFileSync(join(import.meta.dirname, '../../fixtures/word-vectors/embeddings.json'), 'utf8');

function readFrom(text: string) {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return readEmbeddingsJson((target) => {
    const piece = bytes.subarray(at, at + Math.min(target.length, 97));
    target.set(piece);
    at += piece.length;
    return piece.length;
  });
}

test('words come in the order of their ranks with their rows, and as JSON.parse reads them', () => {
  const parsed = JSON.parse(fixture);
  const source = readFrom(fixture);
  assert.deepEqual(source.words, parsed.words);
  assert.equal(source.dim, 8);
  source.words.forEach((word, id) => {
    const row: number[] = Object.getOwnPropertyDescriptor(parsed.vectors, word)?.value;
    for (let k = 0; k < 8; k++) {
      // Int8 with the row's own scale: off by half a step at most.
      assert.ok(Math.abs(source.rows[id * 8 + k] * source.scales[id] - row[k]) <= source.scales[id] * 0.501, word);
    }
  });
});

test('another layout is refused with what is wrong', () => {
  const faults: [RegExp, string][] = [
    [/no vectors/, '{"size":1,"dimensions":1,"wordIndex":2}'],
    [/size must be/, '{"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,0]}}'],
    [/1 vectors where 2/, '{"size":2,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,0]}}'],
    [/rank 5/, '{"size":1,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,5]}}'],
    [/given twice/, '{"size":2,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1,0],"b":[1,1,0]}}'],
    [/only 2 numbers/, '{"size":1,"dimensions":1,"wordIndex":2,"vectors":{"a":[1,1]}}'],
    [/expected/, '{"size":1,"dimensions":1,"wordIndex":2,"vectors":[1]}'],
  ];
  for (const [message, text] of faults) assert.throws(() => readFrom(text), message);
});
