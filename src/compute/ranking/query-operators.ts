/**
 * Reads the operators of a query (`operatorHelp` in src/domain/query-clause.ts). A minus excludes only after white
 * space and before a letter, digit or quote: `--all` is text. Invalid operators are text, and reported. `is:` before a space is text.
 */
import { foldTitle } from '../../domain/normalize-text.ts';
import { pageStates, pageTypes, type QueryClause, type QueryClauses } from '../../domain/query-clause.ts';
import type { IgnoredOperator } from '../../domain/search.ts';
import { languageOfTag } from '../text/language-tags.ts';
import { normalizeDomain } from '../web/domain-match.ts';
import { type Clock, timeOf, twoWordTime } from './query-times.ts';

export interface QueryOperators extends QueryClauses {
  /** Words to search, including those of phrases, titles and authors. */
  text: string;
  /** The words of `text` outside of operators. */
  plain: string;
  phrases: readonly string[];
  /** Visited at or after this time, ms. */
  after: number | null;
  /** Visited before this time, ms. */
  before: number | null;
  written: readonly string[];
  ignored: readonly IgnoredOperator[];
}

const names = 'site|url|title|author|before|after|lang|type|tag|folder|source|is|in';
const quotes = '"“”«»„';
const part = new RegExp(
  `(?<=^|\\s)((?:-(?=[\\p{L}\\p{N}${quotes}]))?)(?:(${names}):(?:(?<!is:)\\s*)?(?=\\S))?(?:[${quotes}]([^${quotes}]*)[${quotes}]|((?=last|this)(?<=(?:after|before):\\s*)${twoWordTime}|[^\\s${quotes}]+))(?=\\s|$)|\\S+`,
  'giu',
);

/** Changes each part of a query: operators, words and quotations. */
export function withParts(query: string, change: (whole: string) => string): string {
  return query.replace(part, (whole) => change(whole));
}

/** Max positive and max negative operators; further ones are text. */
const mostOperators = 16;
/** A language code with an optional region or script. */
const languageTag = /^[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}))?$/i;
/** Min length of a prefix; shorter ones match too many words. */
const leastPrefix = 2;

const searchedToo = new Set<QueryClause['in']>(['word', 'phrase', 'prefix', 'title', 'author']);

/** A part of a query. Without a clause it is plain text. */
interface Part {
  whole: string;
  from: number;
  isNegative: boolean;
  clause: QueryClause | 'in title' | null;
  reason: string | null;
}

/** The time zone for days in a query. Omitted if it has no IANA name, such as `+02:00`. */
export function zoneFor(query: string, zone = Intl.DateTimeFormat().resolvedOptions().timeZone): { tz?: string } {
  return /(?:after|before):/i.test(query) ? knownZone(zone) : {};
}

/** The time zone of this machine, in the form of requests. */
export function knownZone(zone = Intl.DateTimeFormat().resolvedOptions().timeZone): { tz?: string } {
  return zone === 'UTC' || Intl.supportedValuesOf('timeZone').includes(zone) ? { tz: zone } : {};
}

/** `clock`: for times, default UTC. Errors: none. */
export function readOperators(query: string, clock: Clock = { now: 0, zone: 'UTC' }): QueryOperators {
  const parts = Array.from(query.matchAll(part), (match) => readPart(match, clock));
  const [must, mustNot]: QueryClause[][] = [[], []];
  const [text, plain, phrases, written]: string[][] = [[], [], [], []];
  const ignored: IgnoredOperator[] = [];
  const times: { after: number | null; before: number | null } = { after: null, before: null };
  const inTitle: QueryClause[][] = [];
  const addText = ({ whole, reason }: Part, isPlain = true) => {
    text.push(whole);
    if (isPlain) plain.push(whole);
    if (reason !== null) ignored.push({ operator: whole, reason });
  };
  for (let at = 0; at < parts.length; at++) {
    const group = groupAt(parts, at);
    at += 2 * (group.length - 1);
    const [{ from, isNegative, clause }] = group;
    const isAlone = group.length === 1;
    if (isAlone && (clause === null || (clause !== 'in title' && clause.in === 'word' && !isNegative))) {
      addText(group[0]);
      continue;
    }
    const list = isAlone && isNegative ? mustNot : must;
    if (list.length + group.length > mostOperators) {
      for (const each of group) addText({ ...each, reason: `only ${mostOperators} operators are read` });
      continue;
    }
    const last = group[group.length - 1];
    written.push(query.slice(from, last.from + last.whole.length));
    for (const each of group) {
      if (each.clause === null) addText(each, false);
      else if (!each.isNegative && each.clause !== 'in title' && 'text' in each.clause)
        if (searchedToo.has(each.clause.in)) text.push(each.clause.text);
    }
    if (!isAlone) must.push({ in: 'any', of: group.map(memberOf) });
    else if (clause === 'in title') inTitle.push(list);
    else if (clause !== null && 'at' in clause && !isNegative) times[clause.in] = clause.at;
    else if (clause !== null) {
      list.push(clause);
      if (clause.in === 'phrase' && !isNegative) phrases.push(clause.text);
    }
  }
  const titled = [...plain, ...phrases].join(' ');
  for (const list of titled === '' ? [] : inTitle) list.push({ in: 'title', text: titled });
  return { text: text.join(' '), plain: plain.join(' '), phrases, must, mustNot, ...times, written, ignored };
}

/** The part at `start`, and the parts joined to it by `OR`. */
function groupAt(parts: readonly Part[], start: number): Part[] {
  const group = [parts[start]];
  const isJoined = (at: number) => parts[at]?.whole === 'OR' && (parts[at + 1]?.whole ?? 'OR') !== 'OR';
  if (group[0].whole !== 'OR') for (let at = start + 1; isJoined(at); at += 2) group.push(parts[at + 1]);
  return group;
}

function memberOf({ whole, clause, isNegative }: Part): QueryClause {
  const member: QueryClause = clause === null || clause === 'in title' ? { in: 'word', text: whole } : clause;
  return isNegative && clause !== null ? { in: 'not', of: member } : member;
}

function readPart(match: RegExpExecArray, clock: Clock): Part {
  const [whole, minus = '', name, quoted, word = ''] = match;
  const value = (quoted ?? word).trim();
  const known = { whole, from: match.index, isNegative: minus !== '' };
  const clause =
    name === undefined ? wordClause(value, quoted !== undefined) : namedClause(name.toLowerCase(), value, clock);
  return typeof clause === 'object' || clause === 'in title'
    ? { ...known, clause, reason: null }
    : { ...known, clause: null, reason: clause };
}

function wordClause(value: string, isQuoted: boolean): QueryClause | null {
  if (!/[\p{L}\p{N}]/u.test(value)) return null;
  if (isQuoted) return { in: 'phrase', text: value };
  const beginning = /^([\p{L}\p{M}\p{N}]+)\*$/u.exec(value)?.[1] ?? '';
  return beginning.length >= leastPrefix ? { in: 'prefix', text: beginning } : { in: 'word', text: value };
}

/** The clause, or the reason why it is invalid. */
function namedClause(name: string, value: string, clock: Clock): QueryClause | 'in title' | string {
  if (!/[\p{L}\p{N}]/u.test(value)) return 'it has no words';
  switch (name) {
    case 'title':
    case 'author':
    case 'url':
      return { in: name, text: value };
    case 'in':
      return value.toLowerCase() === 'title' ? 'in title' : 'only in:title is known';
    case 'site': {
      const [host] = value.replace(/^https?:\/\//i, '').split(/[/?#]/, 1);
      const domain = normalizeDomain(host.replace(/^(?:\*\.|www\.)/i, ''));
      return typeof domain === 'string' ? { in: 'site', text: domain } : 'not a site';
    }
    case 'lang': {
      const language = languageTag.test(value) ? languageOfTag(value) : '';
      return language === '' ? 'not a known language' : { in: 'language', text: language };
    }
    case 'type':
    case 'is': {
      const text = value.toLowerCase();
      const known: readonly string[] = name === 'is' ? pageStates : pageTypes;
      return known.includes(text) ? { in: name, text } : `not one of ${known.join(', ')}`;
    }
    case 'tag':
    case 'folder':
    case 'source':
      return { in: name, text: foldTitle(value) };
    case 'after':
    case 'before': {
      const at = timeOf(value, clock);
      return at === null ? 'not a date' : { in: name, at };
    }
    default:
      return 'unknown';
  }
}
