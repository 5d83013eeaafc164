/** Clauses of a query's operators (docs/models.md, "Operators"). */

/** Fields that operators name. */
export const namedFields = ['title', 'author'] as const;
export type NamedField = (typeof namedFields)[number];

/**
 * The words of `text` next to each other (`phrase`), in any form and order (`word`), or in the title or author;
 * `language`: passages by ISO 639-1 code; `site`: the domain or a subdomain.
 */
export interface QueryClause {
  in: 'phrase' | 'word' | 'language' | 'site' | NamedField;
  text: string;
}

/** Required and excluded clauses. Any one of several sites suffices. */
export interface QueryClauses {
  must: readonly QueryClause[];
  mustNot: readonly QueryClause[];
}
