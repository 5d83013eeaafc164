/** The fixture's embeddings (50 words, 8 dimensions; the first 20 of 8 bits a component) in memory. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeWordVectors } from '../../../scripts/word-vectors/encode.ts';
import { readEmbeddings } from '../../../scripts/word-vectors/read-embeddings.ts';
import { openWordVectors, shareWordVectors, type WordVectors } from '../../../src/compute/embedding/word-vectors.ts';

const fixtureJsonPath = join(import.meta.dirname, '../../fixtures/word-vectors/embeddings.json');
const fine = 20;

export function fixtureVectors(): WordVectors {
  const file = encodeWordVectors(readEmbeddings(readFileSync(fixtureJsonPath, 'utf8')), fine);
  return openWordVectors(share(file));
}

/** A file that was never written, in memory as a start has it. */
export function share(file: Uint8Array): SharedArrayBuffer {
  return shareWordVectors(file.length, (target) => target.set(file.subarray(0, target.length)));
}
