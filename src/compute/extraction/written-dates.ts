/** Dates in text, in the languages whose month names the runtime knows, and in addresses. */
import { normalizeText } from '../../domain/normalize-text.ts';
import { feedDate } from '../feed/feed-date.ts';

const languages = 'en de fr es it pt nl sv da nb fi pl cs sk hu ro hr sl bg ru uk el tr ca et lv lt id vi'.split(' ');
/** Min letters of a month name; shorter ones are ambiguous. */
const shortestName = 3;
const longestText = 100;
const years = { first: 1800, last: 2100 };

let monthNames: Map<string, number> | null = null;

const letters = (text: string): string => normalizeText(text, 'NFKC').toLowerCase().replace(/\P{L}/gu, '');

/** Folded name → 1 to 12. Leaves out names that mean different months in two languages. Computed on first use. */
function months(): Map<string, number> {
  if (monthNames !== null) return monthNames;
  const found = new Map<string, number>();
  for (const language of languages) {
    for (const month of ['long', 'short'] as const) {
      // Many languages inflect the month after a day.
      for (const day of [undefined, 'numeric'] as const) {
        const format = new Intl.DateTimeFormat(language, { month, day, timeZone: 'UTC' });
        for (let number = 1; number <= 12; number++) {
          const parts = format.formatToParts(Date.UTC(2001, number - 1, 15));
          const name = letters(parts.find(({ type }) => type === 'month')?.value ?? '');
          if (name.length < shortestName) continue;
          found.set(name, (found.get(name) ?? number) === number ? number : 0);
        }
      }
    }
  }
  monthNames = found;
  return found;
}

function dateOf(year: number, month: number, day: number): string | null {
  if (year < years.first || year > years.last || month < 1) return null;
  const padded = (number: number) => String(number).padStart(2, '0');
  const written = `${year}-${padded(month)}-${padded(day)}`;
  const date = feedDate(written);
  // For example, the 31st of February would become a day of March.
  return date?.startsWith(written) === true ? date : null;
}

/** The first date in a short text as UTC, ISO 8601; null if none or ambiguous (05/06/2019). */
export function writtenDate(text: string): string | null {
  const given = text.slice(0, longestText);
  const leading = /(?<!\d)(\d{4})(?:[-/.]|[年년])\s?(\d{1,2})(?:[-/.]|[月월])\s?(\d{1,2})(?!\d)/.exec(given);
  if (leading !== null) return dateOf(Number(leading[1]), Number(leading[2]), Number(leading[3]));
  const dotted = /(?<![\d.\p{L}])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d|\.\d)/u.exec(given);
  if (dotted !== null) return dateOf(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
  const slashed = /(?<!\d)(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/.exec(given);
  if (slashed !== null) {
    const [first, second, year] = slashed.slice(1).map(Number);
    if (first > 12) return dateOf(year, second, first);
    return second > 12 || first === second ? dateOf(year, first, second) : null;
  }
  const dayFirst =
    /(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s?(?:of\s|de\s|d['’])?(\p{L}+)[.,]?\s?(?:de\s|del\s)?(\d{4})(?!\d)/u.exec(
      given,
    );
  if (dayFirst !== null)
    return dateOf(Number(dayFirst[3]), months().get(letters(dayFirst[2])) ?? 0, Number(dayFirst[1]));
  const monthFirst = /(?<!\p{L})(\p{L}+)\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)/u.exec(given);
  if (monthFirst === null) return null;
  return dateOf(Number(monthFirst[3]), months().get(letters(monthFirst[1])) ?? 0, Number(monthFirst[2]));
}

/** The date in the path of an address, as news sites and blogs have it. */
export function addressDate(url: string): string | null {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const match =
    /[/_-](\d{4})[/_-](\d{2})[/_-](\d{2})(?=[/_.-]|$)/.exec(path) ?? /\/(\d{4})(\d{2})(\d{2})(?=\/|$)/.exec(path);
  if (match === null || Number(match[1]) < 1990) return null;
  return dateOf(Number(match[1]), Number(match[2]), Number(match[3]));
}
