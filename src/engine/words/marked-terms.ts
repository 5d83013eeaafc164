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
