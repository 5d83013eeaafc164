import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dimProblem,
  knownModels,
  knownModelsResponse,
  nativeDimOf,
  vectorMemoryMb,
} from '../../src/domain/known-models.ts';

test('every known model can be set up, has what is said of it from somewhere, and a name of its own', () => {
  knownModelsResponse.parse({ models: knownModels });
  assert.equal(new Set(knownModels.map(({ name }) => name)).size, knownModels.length);
  for (const { name, does, names, dim, dims, score, max_input_tokens } of knownModels) {
    assert.ok(Object.keys(names).length > 0, name);
    assert.equal(does === 'embedding', dim !== null, name);
    const all = dim === null ? dims : [dim, ...dims];
    assert.deepEqual(
      all,
      [...new Set(all)].sort((a, b) => b - a),
      name,
    );
    assert.ok(max_input_tokens >= 512, `${name} reads the longest chunk that there is by default`);
    if (score !== null) assert.match(score.source, /^https:\/\//, name);
  }
});

test('a model that was trained for shorter vectors gives its own, of which the first numbers are taken', () => {
  assert.equal(nativeDimOf('embeddinggemma', 256), 768);
  assert.equal(nativeDimOf('embeddinggemma:latest', 256), 768);
  assert.equal(nativeDimOf('embeddinggemma', 200), 200);
  assert.equal(nativeDimOf('bge-m3', 256), 256, 'it was not trained for that');
  assert.equal(nativeDimOf('nobody-knows', 256), 256);
  assert.equal(vectorMemoryMb(1024), 103);
});

test('a known model has no vectors of a length that it does not give; of others nobody knows', () => {
  assert.equal(dimProblem('bge-m3', 512), 'bge-m3 gives 1024 numbers, not 512');
  assert.equal(dimProblem('bge-m3:latest', 1024), null);
  assert.equal(dimProblem('voyage-3.5', 300), 'voyage-3.5 gives 2048 or 1024 or 512 or 256 numbers, not 300');
  assert.equal(dimProblem('text-embedding-3-small', 700), null);
  assert.match(dimProblem('text-embedding-3-small', 3072) ?? '', /^openai-small has 1536 dimensions, .* not 3072$/);
  assert.equal(dimProblem('nobody-knows', 5), null);
  for (const { names, dim, dims } of knownModels)
    for (const each of dim === null ? [] : [dim, ...dims])
      for (const called of Object.values(names)) assert.equal(dimProblem(called, each), null, called);
});
