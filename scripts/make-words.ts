// Makes models/words.txt from the embeddings that models/README.md names: node --import ./scripts/tsx-in-threads.mjs scripts/make-words.ts PATH_TO_JSON
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The rank, at `wordIndex` of a row, is the word's place by frequency, from 0. */
interface Embeddings {
  size: number;
  wordIndex: number;
  vectors: Record<string, number[]>;
}

const { size, wordIndex, vectors }: Embeddings = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const words = new Array<string>(size);
for (const [word, row] of Object.entries(vectors)) {
  const rank = row[wordIndex];
  if (!(rank >= 0 && rank < size) || rank in words) throw new Error(`${word} has rank ${rank}`);
  words[rank] = word;
}
if (words.includes('')) throw new Error('a word is empty');
writeFileSync(fileURLToPath(new URL('../models/words.txt', import.meta.url)), `${words.join('\n')}\n`);
