/** ISO 639-1 codes that the index knows. */
export const languages: readonly string[] =
  `am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt lv ml mr ms nl no or pa pl pt ro
  ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh`.split(/\s+/);

const otherCodes: ReadonlyMap<string, string> = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
  ['iw', 'he'],
  ['id', 'ms'],
  ['zlm', 'ms'],
  ['bs', 'hr'],
  ['ckb', 'ku'],
  ['fil', 'tl'],
]);

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
