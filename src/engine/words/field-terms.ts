/**
 * Words of a page's title and of its authors' names, as terms of the page's first passage, among those of its facts: what `title:` and
 * `author:` find. No query has such a term: words hold no control characters (as languages.ts).
 */
import type { NamedField } from '../../domain/query-clause.ts';

const marks: Readonly<Record<NamedField, string>> = { title: '\u0003', author: '\u0004' };

/** The term of the pages that have a stem in a field. */
export function fieldTerm(field: NamedField, stem: string): string {
  return marks[field] + stem;
}
