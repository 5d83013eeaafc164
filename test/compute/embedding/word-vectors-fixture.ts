/** The fixture's embeddings (50 words, 8 dimensions), compiled in memory. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEmbeddingsJson } from '../../../src/compute/embedding/read-embeddings-json.ts';
import { encodeWordVectors, openWordVectors, type WordVectors } from '../../../src/compute/embedding/word-vectors.ts';

export const fixtureJsonPath = join(import.meta.dirname, '../../fixtures/word-vectors/embeddings.json');

export function fixtureVectors(): WordVectors {
  const bytes = readFileSync(fixtureJsonPath);
  let at = 0;
  const source = readEmbeddingsJson((target) => {
    const copied = bytes.copy(target, 0, at);
    at += copied;
    return copied;
  });
  return openWordVectors(encodeWordVectors({ packageVersion: 'fixture', ...source }).buffer);
}
