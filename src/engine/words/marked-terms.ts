/** Terms that are not words of a text, marked by control characters. Others: languages.ts, compute/text/stemmers.ts. */
import type { NamedField } from '../../domain/query-clause.ts';

const fields: Readonly<Record<NamedField, string>> = { title: '\u0003', author: '\u0004' };

/** A word of title or author, stored in the page's first passage, for `title:` and `author:`. */
export function fieldTerm(field: NamedField, stem: string): string {
  return fields[field] + stem;
}

/** Another form of a word (other-forms.ts). The query `wifi` finds `Wi-Fi` by it; `wi fi` finds it by its words. */
export function joinedTerm(stem: string): string {
  return `\u0005${stem}`;
}

export function addressTerm(beginning: string): string {
  return `\u0006${beginning}`;
}

/** A word of the address path. It adds to scores, but does not count for `-word` and the like. */
export function pathWord(word: string): string {
  return `/${word}`;
}

/** Mark before a written word and before its stem. */
export const WORD_MARK = 7;
const wordMark = String.fromCharCode(WORD_MARK);

/** A word as written (folded, unless accents distinguish words) and its stem: for spelling, completions, compounds. */
export function wordTerm(word: string, stem: string): string {
  return wordMark + word + wordMark + stem;
}

export function wordOfTerm(term: string): { word: string; stem: string } {
  const [, word = '', stem = ''] = term.split(wordMark);
  return { word, stem };
}
