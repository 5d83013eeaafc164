/** Words of English in the order of their frequency, out of the word list: texts of them cost what English texts cost. */
import { loadWordList, wordsOf } from '../src/engine/words/word-list.ts';

/** The first `count` words of at least three letters a to z. */
export function englishWords(count: number): string[] {
  return wordsOf(loadWordList())
    .filter((word) => /^[a-z]{3,}$/.test(word))
    .slice(0, count);
}
