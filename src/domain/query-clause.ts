/** What a query's operators ask of pages, as clauses that a page must or must not meet (docs/ranking.md, "Operators"). */

/** What of a page can be asked for by name. */
export const namedFields = ['title', 'author'] as const;
export type NamedField = (typeof namedFields)[number];

/**
 * What a page holds: the words of `text` side by side (`phrase`), in whatever form and order (`word`), in its title or its author's name;
 * `language`: passages in it, by its ISO 639-1 code; `site`: the page is of this domain or below it.
 */
export interface QueryClause {
  in: 'phrase' | 'word' | 'language' | 'site' | NamedField;
  text: string;
}

/** What pages must hold, and what they may not. Of several sites any one will do. */
export interface QueryClauses {
  must: readonly QueryClause[];
  mustNot: readonly QueryClause[];
}
