/**
 * Query operators: `"exact phrase"`, `-word`, `site:`, `title:`, `author:`, `before:`, `after:`, `lang:`, with optional space after the
 * colon; `-` negates all but times. A minus follows white space and precedes a letter, digit or quotation mark: `--all` is text.
 * Operators with invalid values are text. Pure.
 */
import type { QueryClause, QueryClauses } from '../../domain/query-clause.ts';
import { languageOfTag } from '../text/language-tags.ts';
import { normalizeDomain } from '../web/domain-match.ts';

export interface QueryOperators extends QueryClauses {
  /** Words to search, including those of phrases, titles and authors. */
  text: string;
  phrases: readonly string[];
  /** Visited at or after this time, ms. */
  after: number | null;
  /** Visited before this time, ms. */
  before: number | null;
  /** As written. */
  written: readonly string[];
}

const part =
  /(?<=^|\s)((?:-(?=[\p{L}\p{N}"“”«»„]))?)(?:(site|title|author|before|after|lang):\s*(?=\S))?(?:["“”«»„]([^"“”«»„]*)["“”«»„]|([^\s"“”«»„]+))(?=\s|$)|\S+/giu;

/** Changes each part of a query: operators, words and quotations. */
export function withParts(query: string, change: (whole: string) => string): string {
  return query.replace(part, (whole) => change(whole));
}

/** Limit of positive and of negative operators; further ones are text. */
const mostOperators = 16;
/** With optional region or script. */
const languageTag = /^[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}))?$/i;

/** Errors: none. */
export function readOperators(query: string): QueryOperators {
  const [must, mustNot]: QueryClause[][] = [[], []];
  const text: string[] = [];
  const phrases: string[] = [];
  const written: string[] = [];
  const times: { after: number | null; before: number | null } = { after: null, before: null };
  for (const [whole, minus = '', name, quoted, word] of query.matchAll(part)) {
    const value = (quoted ?? word ?? '').trim();
    const key = name?.toLowerCase();
    const time = minus === '' && (key === 'after' || key === 'before') ? timeOf(value) : null;
    const clause = clauseOf(key, value, quoted !== undefined);
    const list = minus === '' ? must : mustNot;
    const isWord = minus === '' && clause?.in === 'word';
    if (time !== null) times[key as keyof typeof times] = time;
    else if (clause === null || isWord || list.length >= mostOperators) {
      text.push(whole);
      continue;
    } else {
      list.push(clause);
      if (minus === '' && clause.in === 'phrase') phrases.push(value);
      if (minus === '' && clause.in !== 'site' && clause.in !== 'language') text.push(value);
    }
    written.push(whole);
  }
  return { text: text.join(' '), phrases, must, mustNot, ...times, written };
}

/** Null for text. */
function clauseOf(key: string | undefined, value: string, isQuoted: boolean): QueryClause | null {
  if (!/[\p{L}\p{N}]/u.test(value)) return null;
  switch (key) {
    case undefined:
      return { in: isQuoted ? 'phrase' : 'word', text: value };
    case 'title':
    case 'author':
      return { in: key, text: value };
    case 'site': {
      const [host] = value.replace(/^https?:\/\//i, '').split(/[/?#]/, 1);
      const domain = normalizeDomain(host.replace(/^(?:\*\.|www\.)/i, ''));
      return typeof domain === 'string' ? { in: 'site', text: domain } : null;
    }
    case 'lang': {
      const language = languageTag.test(value) ? languageOfTag(value) : '';
      return language === '' ? null : { in: 'language', text: language };
    }
    default:
      return null;
  }
}

/** Start of a year, month or day, or an instant, default UTC; null if invalid. */
function timeOf(value: string): number | null {
  const day = /^([1-9]\d{3})(?:-(\d\d?)(?:-(\d\d?))?)?$/.exec(value);
  if (day === null) {
    const instant = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/i.exec(value);
    return instant === null ? null : Date.parse(instant[1] === undefined ? `${value}Z` : value) || null;
  }
  const [year, month, date] = [Number(day[1]), Number(day[2] ?? 1), Number(day[3] ?? 1)];
  const time = Date.UTC(year, month - 1, date);
  const isReal = new Date(time).getUTCMonth() === month - 1 && new Date(time).getUTCDate() === date;
  return isReal ? time : null;
}
