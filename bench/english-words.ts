/** Words of English in the order of their frequency, out of the word list: texts of them cost what English texts cost. */
import { termOf } from '../src/compute/structures/term-table.ts';
import { loadWordList, openWordList } from '../src/engine/words/word-list.ts';

/** The first `count` words of at least three letters a to z. */
export function englishWords(count: number): string[] {
  const list = openWordList(loadWordList());
  const words: string[] = [];
  for (let rank = 0; words.length < count && rank < list.offsets.length - 1; rank++) {
    const word = termOf(list, rank);
    if (/^[a-z]{3,}$/.test(word)) words.push(word);
  }
  return words;
}
