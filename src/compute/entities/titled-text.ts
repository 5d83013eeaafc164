/**
 * What is read of a page: its title as the first line, then its body. The name of a site behind the title is left out: it says where
 * the page is and not what it is about, and all pages of the site have it.
 */
export interface TitledText {
  text: string;
  /** Where the body begins in it; 0 without a title. */
  bodyAt: number;
}

/** What stands between a title and the name of its site, with a space on either side. */
const separators = ['|', '·', '»', '–', '—', '-'].map((sign) => ` ${sign} `);

export function titledText(title: string | null, body: string): TitledText {
  const line = withoutSite((title ?? '').replace(/\s+/g, ' ').trim());
  return line === '' ? { text: body, bodyAt: 0 } : { text: `${line}\n${body}`, bodyAt: line.length + 1 };
}

/** `Rivers of Ghana - Wikipedia`: without the last part, where it has no more words than what is before it. */
function withoutSite(line: string): string {
  const at = Math.max(...separators.map((separator) => line.lastIndexOf(separator)));
  if (at <= 0) return line;
  const before = line.slice(0, at);
  const words = (part: string) => part.split(' ').length;
  return words(line.slice(at + 3)) <= words(before) ? before : line;
}
