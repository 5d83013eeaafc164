/** Recognizes questions that a list of pages answers, as "When did I read about herons?". A language is a table row. */
import { type Clock, months, periodOf, weekdays } from './query-times.ts';

export interface ListQuestion {
  /** What the pages are about; '' for anything. */
  topic: string;
  /** Of visits, ms. */
  after: number | null;
  before: number | null;
}

interface Language {
  /** Without a period: when something was read. */
  when: string;
  /** What was read. A question has a topic or a period. */
  which: string;
  /** Words before a time and how it limits: `since`, `until` include it, `after`, `before` do not; '': only then. */
  limits: Record<string, string>;
  /** Names of times, and of `last` and `this` with their endings, to those of operators. */
  names: Record<string, string>;
  endings: string;
}

const german =
  'montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz april mai juni juli august september oktober november dezember';
const days = [...weekdays, ...months];
const named = (names: readonly string[]) => Object.fromEntries(names.map((name, at) => [name, days[at]]));
const table = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(' ').map((pair) => pair.split(':')));
const read = '(?:read|see|seen|visit|visited|open|opened|save|saved)';
const gelesen = '(?:gelesen|gesehen|besucht|geöffnet|gespeichert)';

const languages: readonly Language[] = [
  {
    when: `when (?:did|have) i (?:(?:last|first|ever) )?${read}(?: (?:anything|something|(?:an?|the|that) (?:page|article|text|post|paper)))?(?: (?:about|on|of))? (?<topic>.+)`,
    which: `(?:(?:which|what) (?:pages|articles|texts|posts|papers|sites)|what(?= (?:did|have) i ))(?: (?:did|have) i ${read})?(?: (?:about|on) (?<topic>.+?))?(?: (?:(?:did|have) )?i ${read})?`,
    limits: table('since:since after:after before:before until:until in: on: from: during:'),
    names: {
      ...named(days),
      ...table('last:last this:this week:week month:month year:year yesterday:yesterday today:today'),
    },
    endings: '',
  },
  {
    when: `wann (?:habe?|hatte) ich (?:(?:zuletzt|zuerst|zum ersten mal|das letzte mal) )?(?:(?:etwas|was|(?:einen|den) (?:artikel|text|beitrag)|(?:eine|die) seite) )?(?:(?:über|zu|zum|zur|von) )?(?<topic>.+?) ${gelesen}`,
    which: `(?:welche (?:seiten|artikel|texte|beiträge)|was(?= habe? ich ?))(?: habe? ich)?(?: (?:über|zu|zum|zur) (?<topic>.+?))?(?: habe? ich)?(?: ${gelesen})?`,
    limits: table('seit:since nach:after vor:before bis:until im: in: am: aus: vom:'),
    names: {
      ...named(german.split(' ')),
      ...table(
        'jänner:january letzte:last vorige:last diese:this woche:week monat:month jahr:year gestern:yesterday heute:today',
      ),
    },
    endings: '[nmrs]?',
  },
];
/** Longer ones ask for more. */
const longest = 300;

const forms = languages.map(({ when, which, limits, names, endings }) => {
  const any = (words: Record<string, unknown>) => Object.keys(words).join('|');
  const relative = Object.keys(names).filter((name) => /^(?:last|this|yesterday|today)$/.test(names[name]));
  const time = `(?:(?:${any(names)})${endings}(?: (?:${any(names)}))?(?: [12]\\d{3})?|\\d{4}-\\d\\d(?:-\\d\\d)?|[12]\\d{3})`;
  return {
    when: new RegExp(`^${when}$`, 'iu'),
    which: new RegExp(`^${which}$`, 'iu'),
    times: new RegExp(`(?:^| )(?:(?<word>${any(limits)}) )?(?<time>${time})(?= |$)`, 'giu'),
    isAlone: new RegExp(`^(?:${relative.join('|')})${endings}(?: |$)`, 'iu'),
    limitOf: (word: string) => limits[word.toLowerCase()],
    nameOf: (word: string) => names[word] ?? names[word.slice(0, -1)] ?? word,
  };
});

export function readListQuestion(question: string, clock: Clock): ListQuestion | null {
  let asked = question.trim().replace(/\s+/g, ' ');
  if (asked.length > longest) return null;
  while (/[ ?!.]$/.test(asked)) asked = asked.slice(0, -1);
  for (const form of forms) {
    const topic = form.when.exec(asked)?.groups?.topic;
    if (topic !== undefined) return { topic, after: null, before: null };
    const { written, limit, period } = periodIn(asked, form, clock);
    const about = form.which.exec(asked.replace(written, '').trim());
    if (about === null || (about.groups?.topic === undefined && period === null)) continue;
    const { after, before } = period ?? { after: null, before: null };
    return {
      topic: about.groups?.topic ?? '',
      after: limit === 'before' || limit === 'until' ? null : limit === 'after' ? before : after,
      before: limit === 'since' || limit === 'after' ? null : limit === 'before' ? after : before,
    };
  }
  return null;
}

/** A bare year or month is rather a part of the topic: "the 2008 crisis". */
function periodIn(asked: string, { times, isAlone, limitOf, nameOf }: (typeof forms)[number], clock: Clock) {
  for (const { 0: written, groups: { word, time = '' } = {} } of asked.matchAll(times)) {
    if (word === undefined && !isAlone.test(time)) continue;
    const period = periodOf(time.toLowerCase().split(' ').map(nameOf).join(' '), clock);
    if (period !== null) return { written, limit: limitOf(word ?? ''), period };
  }
  return { written: '', limit: '', period: null };
}
