/** Languages by their codes: those that are told apart, and what a page's own tag says of its language. */

/** Those that are told apart, ISO 639-1. */
export const languages: readonly string[] =
  `am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt lv ml mr ms nl no or pa pl pt ro
  ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh`.split(/\s+/);

/** Other codes of languages that are told under one. */
const otherCodes: ReadonlyMap<string, string> = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
  ['iw', 'he'],
  ['id', 'ms'],
  ['fil', 'tl'],
]);

/** The language that a tag such as `de-AT` names; '' for none that is told apart, or what is no tag. */
export function languageOfTag(tag: unknown): string {
  if (typeof tag !== 'string') return '';
  const primary = tag.split(/[-_]/, 1)[0].toLowerCase();
  const language = otherCodes.get(primary) ?? primary;
  return languages.includes(language) ? language : '';
}

/**
 * The language of a page as a BCP 47 tag: the one that it declares, which says more (`en-GB`), unless its text is found to be in another.
 * `found`: ISO 639-1 code, '' where the text does not tell. A declared language that is none of those told apart is believed.
 */
export function languageTag(declared: string | null, found: string): string | null {
  if (declared === null || found === '') return declared ?? (found || null);
  const known = languageOfTag(declared);
  return known === '' || known === found ? declared : found;
}
