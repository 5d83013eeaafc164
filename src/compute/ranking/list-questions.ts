/** Recognizes questions that a list of pages answers: "When did I read about herons?". One table row per language. */
import languages from '../../../models/list-questions.json' with { type: 'json' };
import { type Clock, periodOf } from './query-times.ts';

export interface ListQuestion {
  /** What the pages are about; '' for anything. */
  topic: string;
  /** Time range of visits, ms. */
  after: number | null;
  before: number | null;
}

/** Max length; longer questions ask for more than a list. */
const longest = 300;

/**
 * `when` asks for a time and has no period; `which` asks what was read, with a topic or period. `limits`: words before
 * a time: `since`, `until` include it, `after`, `before` do not; '': only then. `names`: other names of times, and of
 * `last` and `this` with their `endings`, as operators have them.
 */
const forms = languages.map(({ read, when, which, endings, ...words }) => {
  const limits: Record<string, string> = words.limits;
  const names: Record<string, string> = words.names;
  const any = (of: Record<string, string>) => Object.keys(of).join('|');
  const question = (pattern: string) => new RegExp(`^${pattern.replaceAll('{read}', read)}$`, 'iu');
  const relative = Object.keys(names).filter((name) => /^(?:last|this|yesterday|today)$/.test(names[name]));
  const time = `(?:(?:${any(names)})${endings}(?: (?:${any(names)}))?(?: [12]\\d{3})?|\\d{4}-\\d\\d(?:-\\d\\d)?|[12]\\d{3})`;
  return {
    when: question(when),
    which: question(which),
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

/** Null for a bare year or month, which rather belongs to the topic: "the 2008 crisis". */
function periodIn(asked: string, { times, isAlone, limitOf, nameOf }: (typeof forms)[number], clock: Clock) {
  for (const { 0: written, groups: { word, time = '' } = {} } of asked.matchAll(times)) {
    if (word === undefined && !isAlone.test(time)) continue;
    const period = periodOf(time.toLowerCase().split(' ').map(nameOf).join(' '), clock);
    if (period !== null) return { written, limit: limitOf(word ?? ''), period };
  }
  return { written: '', limit: '', period: null };
}
