/** Clauses of a query's operators, and the table of operators for help and docs. Imports no code: the console uses it. */
import operators from '../../models/operators.json' with { type: 'json' };

/** Determined by address and metadata. `html`: none of the others. `feed`: an item of a followed feed. */
export const pageTypes = ['html', 'pdf', 'video', 'audio', 'feed'] as const;
export type PageType = (typeof pageTypes)[number];

/** States set by the service that a page was imported from: metadata `starred`, `status`. `read`: not unread. */
export const pageStates = ['starred', 'archived', 'unread', 'read'] as const;
export type PageState = (typeof pageStates)[number];

export const pageFacts = ['type', 'tag', 'folder', 'source', 'is'] as const;
export type PageFact = (typeof pageFacts)[number];

export const namedFields = ['title', 'author'] as const;
export type NamedField = (typeof namedFields)[number];

/**
 * The words of `text`: adjacent (`phrase`), in any form and order (`word`), in title or author, or as prefixes; the
 * page's address, one above it, or words of it (`url`); an ISO 639-1 code (`language`). Searchers look them up.
 */
export interface WordClause {
  in: 'phrase' | 'word' | 'prefix' | 'url' | 'language' | NamedField;
  text: string;
}

/** Facts of a page. `site`: its domain or a parent; other texts are folded. `at`: ms, as in `after` and `before`. */
export type FactClause = { in: 'site' | PageFact; text: string } | { in: 'after' | 'before'; at: number };

export type QueryClause =
  | WordClause
  | FactClause
  | { in: 'any'; of: readonly QueryClause[] }
  | { in: 'not'; of: QueryClause };

/** Required and excluded clauses. One of several required sites suffices. */
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

export const operatorHelp = operators;
