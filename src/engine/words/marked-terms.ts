/**
 * Terms of a passage that are not words of its text. Query words cannot collide: they have no control characters. Further marks: of
 * languages (languages.ts), of words that differ by accents alone (compute/text/stemmers.ts).
 */
import type { NamedField } from '../../domain/query-clause.ts';

const fields: Readonly<Record<NamedField, string>> = { title: '\u0003', author: '\u0004' };

/** A title's or author's word, in the page's first passage: for `title:` and `author:`. */
export function fieldTerm(field: NamedField, stem: string): string {
  return fields[field] + stem;
}

/**
 * Another form of a word (compute/text/other-forms.ts), in passages without that word: a query for `wi fi` counts a text with `Wi-Fi` by its
 * words alone, one for `wifi` by this.
 */
export function joinedTerm(stem: string): string {
  return `\u0005${stem}`;
}

/** Of a page whose address begins so. */
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

/** A word as it is written (without accents where they tell no words apart), with its stem: by these terms spelling, completions and compounds know the words of texts. */
export function wordTerm(word: string, stem: string): string {
  return wordMark + word + wordMark + stem;
}

export function wordOfTerm(term: string): { word: string; stem: string } {
  const [, word = '', stem = ''] = term.split(wordMark);
  return { word, stem };
}
