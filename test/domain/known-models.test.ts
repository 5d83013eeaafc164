import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownModels, knownModelsResponse, nativeDimOf, vectorMemoryMb } from '../../src/domain/known-models.ts';

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
    assert.ok(max_input_tokens >= 256, name);
    if (score !== null) assert.match(score.source, /^https:\/\//, name);
  }
});

test('a model that was trained for shorter vectors gives its own, of which the first numbers are taken', () => {
  assert.equal(nativeDimOf('embeddinggemma', 256), 768);
  assert.equal(nativeDimOf('embeddinggemma', 200), 200);
  assert.equal(nativeDimOf('bge-m3', 256), 256, 'it was not trained for that');
  assert.equal(nativeDimOf('nobody-knows', 256), 256);
  assert.equal(vectorMemoryMb(1024), 116);
});
