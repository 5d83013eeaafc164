/**
 * The form in which a query and a title are "equal": case and white space folded, compatibility forms unified, surrounding
 * quotation marks of a query kept out by the caller.
 * Source: contract "Search" exact_match; design "case and space folded".
 */
import { normalizeText } from './normalize-text.ts';
export function foldTitle(title: string): string {
  return normalizeText(title, 'NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
