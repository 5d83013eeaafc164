/**
 * The operators of a query: `"exact phrase"`, `-word`, `site:`, `title:`, `author:`, `before:`, `after:`, `lang:`, each with or without a
 * space behind its colon; and `-` before all of them but times. What is no operator is text, and so is one whose value cannot be. Pure;
 * called by ranking.
 */
import type { QueryClause, QueryClauses } from '../../domain/query-clause.ts';
import { languageOfTag } from '../text/language-tags.ts';
import { normalizeDomain } from '../web/domain-match.ts';

export interface QueryOperators extends QueryClauses {
  /** What is searched for: the words, those of phrases, titles and authors among them. */
  text: string;
  phrases: readonly string[];
  /** Seen at or after this time, ms. */
  after: number | null;
  /** First seen before this time, ms. */
  before: number | null;
}

const part =
  /(?<=^|\s)(-?)(?:(site|title|author|before|after|lang):\s*(?=\S))?(?:["“”«»„]([^"“”«»„]*)["“”«»„]|([^\s"“”«»„]+))(?=\s|$)|\S+/giu;

/** Operators that are kept to, of those with `-` and of those without; what is beyond is text. */
const mostOperators = 16;
/** A language, of a region or a script perhaps. */
const languageTag = /^[a-z]{2,3}(?:[-_](?:[a-z]{2}|[a-z]{4}))?$/i;

/** Read the operators of a query. Errors: none. */
export function readOperators(query: string): QueryOperators {
  const [must, mustNot]: QueryClause[][] = [[], []];
  const text: string[] = [];
  const phrases: string[] = [];
  const times: { after: number | null; before: number | null } = { after: null, before: null };
  for (const [whole, minus = '', name, quoted, word] of query.matchAll(part)) {
    const value = (quoted ?? word ?? '').trim();
    const key = name?.toLowerCase();
    const time = minus === '' && (key === 'after' || key === 'before') ? timeOf(value) : null;
    const clause = clauseOf(key, value, quoted !== undefined);
    if (time !== null) times[key as keyof typeof times] = time;
    else if (clause === null || (minus === '' ? must : mustNot).length >= mostOperators) text.push(whole);
    else if (minus !== '') mustNot.push(clause);
    else {
      if (clause.in !== 'word') must.push(clause);
      if (clause.in === 'phrase') phrases.push(value);
      if (clause.in !== 'site' && clause.in !== 'language') text.push(value);
    }
  }
  return { text: text.join(' '), phrases, must, mustNot, ...times };
}

/** What a part asks for; null for a part that is text. */
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

/** The beginning of a year, a month or a day, UTC, or an instant, UTC where it does not say; null for what is none. */
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
