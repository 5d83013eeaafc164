/** Words of English in the order of their frequency, out of the embedded model's vocabulary: texts of them cost what English texts cost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWordVectors, type WordVectors } from '../src/compute/embedding/word-vectors.ts';
import { termOf } from '../src/compute/structures/term-table.ts';
import { loadWordVectors } from '../src/providers/word-vectors-cache.ts';

/** The word vectors, from the cache that SERVICE_CACHE_DIR names, or compiled for this run. */
export async function loadBenchVectors(): Promise<WordVectors> {
  const named = process.env.SERVICE_CACHE_DIR;
  const cacheDir = named ?? mkdtempSync(join(tmpdir(), 'word-vectors-'));
  const vectors = openWordVectors(await loadWordVectors({ cacheDir }));
  if (named === undefined) rmSync(cacheDir, { recursive: true });
  return vectors;
}

/** The first `count` words of at least three letters a to z. */
export function englishWords({ vocabulary }: WordVectors, count: number): string[] {
  const words: string[] = [];
  for (let rank = 0; words.length < count && rank < vocabulary.offsets.length - 1; rank++) {
    const word = termOf(vocabulary, rank);
    if (/^[a-z]{3,}$/.test(word)) words.push(word);
  }
  return words;
}
