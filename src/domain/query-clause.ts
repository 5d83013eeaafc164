/** Clauses of a query's operators, and the table of operators for help and docs. Imports nothing: the console uses it. */

/** By address and metadata; `html`: any other. `feed`: an item of a followed feed. */
export const pageTypes = ['html', 'pdf', 'video', 'audio', 'feed'] as const;
export type PageType = (typeof pageTypes)[number];

export const pageFacts = ['type', 'tag', 'folder', 'source'] as const;
export type PageFact = (typeof pageFacts)[number];

export const namedFields = ['title', 'author'] as const;
export type NamedField = (typeof namedFields)[number];

/**
 * The words of `text` next to each other (`phrase`), in any form and order (`word`), or in the title or author; words that begin so
 * (`prefix`); the page's address or one above it, or words of it (`url`); `language`: passages by ISO 639-1 code. Searchers look them up.
 */
export interface WordClause {
  in: 'phrase' | 'word' | 'prefix' | 'url' | 'language' | NamedField;
  text: string;
}

/** Of the page: `site` is the domain or a subdomain; other texts are folded. `at`: ms, as the filters `after` and `before`. */
export type FactClause = { in: 'site' | PageFact; text: string } | { in: 'after' | 'before'; at: number };

export type QueryClause =
  | WordClause
  | FactClause
  | { in: 'any'; of: readonly QueryClause[] }
  | { in: 'not'; of: QueryClause };

/** Required and excluded clauses. Any one of several sites suffices. */
export interface QueryClauses {
  must: readonly QueryClause[];
  mustNot: readonly QueryClause[];
}

export const noClauses: QueryClauses = { must: [], mustNot: [] };

export function wordClausesIn(clauses: readonly QueryClause[]): WordClause[] {
  return clauses.flatMap((clause) => {
    if (clause.in === 'any') return wordClausesIn(clause.of);
    if (clause.in === 'not') return wordClausesIn([clause.of]);
    return isFact(clause) ? [] : [clause];
  });
}

export function beginningsIn(clauses: readonly QueryClause[]): string[] {
  return clauses.flatMap((clause) => {
    if (clause.in === 'any') return beginningsIn(clause.of);
    return clause.in === 'prefix' ? [clause.text] : [];
  });
}

const isFact = (clause: WordClause | FactClause): clause is FactClause =>
  ['site', 'after', 'before', ...pageFacts].includes(clause.in);

export const operatorHelp: readonly (readonly [operator: string, finds: string, example: string])[] = [
  ['"…"', 'pages with exactly this phrase', '"grey heron"'],
  ['-', 'pages without this word, phrase or operator', 'heron -boat -tag:work'],
  ['OR', 'pages with one of these words or operators', 'heron OR egret'],
  ['*', 'pages with a word that begins so', 'wad*'],
  ['site:', 'pages of this site and its subdomains', 'site:example.org'],
  ['url:', 'pages at or below this address, or with these words in it', 'url:example.org/birds'],
  ['title:', 'pages with these words in the title', 'title:"wading birds"'],
  ['in:title', 'pages with all words of the query in the title', 'grey heron in:title'],
  ['author:', 'pages by this author', 'author:lima'],
  ['lang:', 'passages in this language', 'lang:de'],
  ['type:', `pages of this type: ${pageTypes.join(', ')}`, 'type:pdf'],
  ['tag:', 'pages with this tag', 'tag:birds'],
  ['folder:', 'pages in this folder and below', 'folder:"Reading/Nature"'],
  ['source:', 'pages from this source', 'source:cli'],
  [
    'after:',
    'pages visited then or later: a date, month or year, 7d, 3w, yesterday, monday, march, "last week"',
    'after:2026-03',
  ],
  ['before:', 'pages visited before then', 'before:yesterday'],
];
