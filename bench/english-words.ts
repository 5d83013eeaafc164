/** Words of English in the order of their frequency, out of the embedded model's vocabulary: texts of them cost what English texts cost. */
import { openWordVectors, type WordVectors } from '../src/compute/embedding/word-vectors.ts';
import { termOf } from '../src/compute/structures/term-table.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';

export function loadBenchVectors(): WordVectors {
  return openWordVectors(loadWordVectors());
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
