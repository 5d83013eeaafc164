/** What the platform knows of a language's words (CLDR): its months and weekdays, and what it calls countries. Small letters. */

const none: ReadonlySet<string> = new Set();

/** Months and weekdays that the language writes with a capital: elsewhere a capital says that it is no date (`Julio`). */
export const calendarWords = byLanguage((language) => {
  const found = new Set<string>();
  for (const options of [{ month: 'long' }, { month: 'long', day: 'numeric' }, { weekday: 'long' }] as const) {
    const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    // The first seven of each month: every month, and every weekday.
    for (let month = 0; month < 12; month++) {
      for (let day = 1; day <= 7; day++) {
        for (const { type, value } of format.formatToParts(Date.UTC(2026, month, day))) {
          if (type !== 'literal' && capital.test(value)) found.add(value.toLowerCase());
        }
      }
    }
  }
  return found;
});

/** Countries and territories of ISO 3166, in full and short. */
export const countryNames = byLanguage((language) => {
  const found = new Set<string>();
  for (const style of ['long', 'short'] as const) {
    const names = new Intl.DisplayNames(language, { type: 'region', style, fallback: 'none' });
    for (const code of regionCodes()) {
      const name = names.of(code);
      if (name !== undefined) found.add(name.toLowerCase());
    }
  }
  return found;
});

const capital = /^\p{Lu}/u;
/** Private codes (Kosovo has one), unions and what is no country. */
const noCountry = /^(?:AA|Q[M-Z]|X[A-JL-Z]|ZZ|EU|EZ|UN)$/;

function* regionCodes(): Generator<string> {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at));
  for (const first of letters) {
    for (const second of letters) if (!noCountry.test(first + second)) yield first + second;
  }
}

/** Made once a language; none of a language that the platform does not know. */
function byLanguage(make: (language: string) => ReadonlySet<string>): (language: string) => ReadonlySet<string> {
  const made = new Map<string, ReadonlySet<string>>();
  return (language) => {
    if (language === '') return none;
    let words = made.get(language);
    if (words === undefined) {
      words = Intl.DisplayNames.supportedLocalesOf(language).length === 0 ? none : make(language);
      made.set(language, words);
    }
    return words;
  };
}
