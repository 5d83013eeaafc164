/**
 * Stores languages of pages indexed by an earlier version, and the progress for a restart. `passage_languages` stays absent: the page's
 * segment and vectors follow the old decision. Its passages are still found, since query words are stemmed in every language of the
 * segments. The next indexing renews all.
 */
import type { Page } from '../domain/page.ts';
import type { Command } from '../store/store.ts';

/** `languages_to` when all are decided. */
export const allDecided = 0xffffffff;

export interface DecidedLanguage {
  no: number;
  language: string | null;
}

export function hasEarlierLanguage({ status, passage_languages }: Pick<Page, 'status' | 'passage_languages'>): boolean {
  return status === 'indexed' && passage_languages === undefined;
}

/** `to`: the last page examined; null when done. */
export function storeLanguages(decided: readonly DecidedLanguage[], to: number | null): Command<void> {
  return ({ pages, entities }) => {
    for (const { no, language } of decided) {
      const page = pages.get(no);
      if (page !== undefined && hasEarlierLanguage(page)) pages.put({ ...page, language }, page);
    }
    entities.setState('languages_to', to ?? allDecided);
  };
}
