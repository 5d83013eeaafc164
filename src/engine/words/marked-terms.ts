/** Terms that are no words of a text, marked by control characters; others: languages.ts, compute/text/stemmers.ts. */
import type { NamedField } from '../../domain/query-clause.ts';

const fields: Readonly<Record<NamedField, string>> = { title: '\u0003', author: '\u0004' };

/** A title's or author's word, in the page's first passage: for `title:` and `author:`. */
export function fieldTerm(field: NamedField, stem: string): string {
  return fields[field] + stem;
}

/** Another form of a word (other-forms.ts): the query `wifi` finds `Wi-Fi` by it, and `wi fi` by the words alone. */
export function joinedTerm(stem: string): string {
  return `\u0005${stem}`;
}

export function addressTerm(beginning: string): string {
  return `\u0006${beginning}`;
}

/** As a beginning: a word of the path, which scores and does not count for `-word` and the like. */
export function pathWord(word: string): string {
  return `/${word}`;
}

/** Before a written word and before its stem. */
export const WORD_MARK = 7;
const wordMark = String.fromCharCode(WORD_MARK);

/** A word as written (folded if accents tell no words apart) and its stem: for spelling, completions and compounds. */
export function wordTerm(word: string, stem: string): string {
  return wordMark + word + wordMark + stem;
}

export function wordOfTerm(term: string): { word: string; stem: string } {
  const [, word = '', stem = ''] = term.split(wordMark);
  return { word, stem };
}
