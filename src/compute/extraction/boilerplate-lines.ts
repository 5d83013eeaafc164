/**
 * Lines of boilerplate in common languages: labels of link lists, calls to action, facts about the article. Whole lines, lower case,
 * plain quotes; every pattern is linear.
 */
import boilerplate from '../../../models/boilerplate.json' with { type: 'json' };

/**
 * `labels` announce links: "Related", "Read more:", "Lesen Sie auch". `calls` address the reader or describe the page;
 * only matched before and after the text.
 */
const { labels, calls, credits } = boilerplate.lines;

const monthName =
  '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|janv|févr|avr|juin|juil|août|déc|fev|set|out|gen|mag|giu|lug|ott)\\p{L}{0,9}\\.?';
const weekday = '(?:mon|tue|wed|thu|fri|sat|sun)\\p{L}{0,7}\\.?,? ?';
const date = `(?:${weekday})?(?:${monthName} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}|\\d{1,2}(?:st|nd|rd|th|\\.)?(?: de)? ${monthName},?(?: de)? \\d{4}|\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4})`;

/** Facts about the article: date, author, reading time. Only matched before and after the text. */
const facts = [
  `(?:(?:first|last|originally) )?(?:posted|published|updated|modified|created|aktualisiert|veröffentlicht|publié|publicado|pubblicato|опубликовано)(?: ?:| (?:on|at|by|in|am|le|el|em|il)\\b| \\d| ${weekday}| ${monthName} ).{0,100}`,
  "(?:written |words |story |text |photos? )?by:? (?:\\p{L}[\\p{L}.'-]*,? ?){1,8}|von \\p{Lu}.{0,50}|por \\p{Lu}.{0,50}|par \\p{Lu}.{0,50}",
  '(?:\\d+|one|two|three|a few) (?:min(?:ute)?s?|hours?|days?|weeks?|months?|years?) (?:ago|read)|.{0,30}reading time.{0,20}|tempo de leitura.{0,20}|lesezeit.{0,20}|\\d+ min(?:ute)? read',
  '(?:image|photo|picture|slide|bild) \\d+ (?:of|/|von)(?: /)? ?\\d+|\\d+ ?/ ?\\d+|caption|close|loading.{0,3}|play(?: video)?|video|gallery|listen|expand|enlarge',
  'https?://\\S{1,500}',
];

const whole = (patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})[\\s:.…!?»>→|]*$`, 'iu');

const label = whole(labels);
const call = whole(calls);
const fact = whole(facts);
const dated = whole([`.{0,40}\\b${date}.{0,40}`]);
const bareDate = whole([date]);
const credit = whole(credits);
const labelled = new RegExp(`^(?:${labels.join('|')})\\s?[:|–—-]\\s?`, 'iu');

export const longestBoilerplateLine = 400;

const plain = (line: string): string => line.replace(/[’‘`´]/g, "'");

export const isLabel = (line: string): boolean => line.length <= 80 && label.test(plain(line));
/** A full stop ends a sentence, except in times (a.m.). */
const sentenceEnd = /(?<![ap]\.?m)[.!?]$/i;
/** A label with text on one line: "Related: …". */
export const isLabelled = (line: string): boolean => line.length <= 200 && labelled.test(plain(line));
export const isCall = (line: string): boolean => line.length <= longestBoilerplateLine && call.test(plain(line));
const isFactWith = (pattern: RegExp, line: string): boolean =>
  line.length <= 160 && !sentenceEnd.test(line) && pattern.test(plain(line));
/** A line with a date of unknown meaning. */
export const isDated = (line: string): boolean => isFactWith(dated, line) && !isFactWith(fact, line);
export const isDate = (line: string): boolean => isFactWith(bareDate, line);
export const isFact = (line: string): boolean => isFactWith(fact, line) || isFactWith(dated, line);
export const isCredit = (line: string): boolean => line.length <= 120 && credit.test(plain(line));
