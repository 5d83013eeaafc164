/** Filters the metadata of PDFs, because programs set much of it. */
import type { Line } from './page-lines.ts';

const longest = 300;
const fileName = /\.(?:docx?|odt|rtf|tex|dvi|ps|pdf|pptx?|xlsx?|indd|qxd|qxp|wpd|pages|html?|txt|md|fm|pmd?|p65)$/i;
const byProgram =
  /^(?:untitled(?:[ -]?\d*)?|no title|title|titel|document ?\d*|dokument ?\d*|presentation ?\d*|powerpoint[- ]pr[eé]sentation|slide ?\d*|layout ?\d*|unknown|none|null|print(?:ing)?|scan.{0,40}|book|report|template|paper|microsoft (?:word|powerpoint|excel).*|full page (?:photo|fax).*|.{0,20}\bpage \d+|(?:doi|arxiv|pii|isbn|issn)[:\s].*|[\d\W_]+|(?=\S+$)[^_\\/]*[_\\/]\S*)$/i;

export function saneTitle(given: unknown): string | null {
  const title = oneLine(given)?.replace(/^Microsoft (?:Word|PowerPoint|Excel) - /i, '') ?? '';
  return title.length < 3 || fileName.test(title) || byProgram.test(title) || !isText(title) ? null : title;
}

export function saneAuthor(given: unknown): string | null {
  const author = oneLine(given) ?? '';
  const isProgram =
    /^(?:anonymous|admin(?:istrator)?|user\d*|owner|unknown|author|none|null|root|pc|[\d\W_]+)$|^[^@]*@.*\.|\\/i.test(
      author,
    );
  return author.length < 2 || isProgram || !isText(author) ? null : author;
}

/** `D:20230102120621+01'00'` (ISO 32000, 7.9.4) as UTC, ISO 8601; null if invalid. */
export function pdfDate(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  const match = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?)?/.exec(given.trim());
  if (match === null) return null;
  const [, year, month = '01', day = '01', ...time] = match;
  const [hour = '00', minute = '00', second = '00', sign, offHour = '0', offMinute = '0'] = time;
  const shift = (sign === '-' ? -1 : 1) * (Number(offHour) * 60 + Number(offMinute)) * 60_000;
  const at =
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) - shift;
  // Before the first PDFs: the clock was not set.
  return Number.isNaN(at) || Number(year) < 1985 || Number(year) > 2200 ? null : new Date(at).toISOString();
}

export function languageTag(given: unknown): string | null {
  const tag = (oneLine(given) ?? '').replaceAll('_', '-');
  return /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(tag) ? tag : null;
}

/** The largest text of the first page with text, if larger than the body. */
export function headingTitle(pages: readonly Line[][], body: number): string | null {
  const first = pages.find((page) => page.length > 0) ?? [];
  const largest = first.reduce(
    (size, line) => (line.text.length >= 3 && /\p{L}/u.test(line.text) ? Math.max(size, line.size) : size),
    0,
  );
  if (largest === 0 || largest < body * 1.12) return null;
  const from = first.findIndex(({ size }) => size >= largest * 0.95);
  let to = from;
  while (to < first.length && to < from + 4 && first[to].size >= largest * 0.95) to++;
  return oneLine(
    first
      .slice(from, to)
      .map(({ text }) => text)
      .join(' '),
  );
}

function oneLine(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  const line = given
    .slice(0, 4 * longest)
    .replace(/[\s\0]+/g, ' ')
    .trim()
    .slice(0, longest)
    .trimEnd();
  return line === '' ? null : line;
}

/** False for wrongly decoded bytes. */
function isText(line: string): boolean {
  const odd = Array.from(line).filter((character) => /[\ufffd\p{Cc}\p{Co}\p{Cn}]/u.test(character)).length;
  return odd === 0 && /\p{L}/u.test(line);
}
