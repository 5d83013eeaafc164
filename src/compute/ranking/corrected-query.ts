import { normalizeText, withoutJoiners } from '../../domain/normalize-text.ts';
import type { Correction, SearchRequest } from '../../domain/search.ts';
import { readOperators, withParts } from './query-operators.ts';

/** A word as the analysis cuts it. Only words of letters are corrected. */
const word = /[\p{L}\p{M}\p{N}\p{Join_C}\u00ad\u2060]+/gu;

/** The query with corrected words; operators stay. Null if nothing changed. */
export function correctedQuery(
  { query, operators }: Pick<SearchRequest, 'query' | 'operators'>,
  corrected: readonly Correction[],
): string | null {
  if (corrected.length === 0) return null;
  const meant = new Map(corrected.map(({ word, taken: [taken] }) => [word, taken]));
  const written = normalizeText(query, 'NFC');
  const isOperator = (part: string) => operators && (part === 'OR' || readOperators(part).written.length > 0);
  const read = withParts(written, (part) =>
    isOperator(part) ? part : part.replace(word, (each) => meant.get(withoutJoiners(each).toLowerCase()) ?? each),
  );
  return read === written ? null : read;
}
