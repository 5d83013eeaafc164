/**
 * Terms of words' other forms (compute/text/other-forms.ts), apart from the stems of words as they are written: a query for `wi fi` counts
 * a text with `Wi-Fi` by its words alone, one for `wifi` by this. Only documents without the word itself have it. Query words cannot
 * collide: they have no control characters (as languages.ts).
 */
const mark = '\u0005';

export function joinedTerm(stem: string): string {
  return mark + stem;
}
