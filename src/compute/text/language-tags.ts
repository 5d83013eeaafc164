import lists from '../../../models/word-lists.json' with { type: 'json' };

/** ISO 639-1 codes that the index knows. */
export const languages: readonly string[] = lists.languages;

const otherCodes: ReadonlyMap<string, string> = new Map(Object.entries(lists.other_language_codes));

/** Primary code of a tag such as `de-AT`. */
export function languageCode(tag: string): string {
  const primary = tag.split(/[-_]/, 1)[0].toLowerCase();
  return otherCodes.get(primary) ?? primary;
}

/** As `languageCode`; '' if unknown to the index or invalid. */
export function languageOfTag(tag: unknown): string {
  const code = typeof tag === 'string' ? languageCode(tag) : '';
  return languages.includes(code) ? code : '';
}
