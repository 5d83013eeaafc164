/** Why a search has no results, for the command line and language models. */
import type { NoResults } from './search.ts';

export function noResultsText(found: NoResults | null | undefined): string {
  switch (found?.reason) {
    case 'excluded': {
      const names = [...found.operators, ...found.filters.map((name) => `the filter ${name}`)];
      return `All matching pages are excluded by ${names.join(' and ')}.`;
    }
    case 'indexing': {
      const { pages_waiting: waiting } = found;
      if (waiting === 0) return 'Nothing matches so far.';
      return `Nothing matches so far: ${waiting} ${waiting === 1 ? 'page still waits' : 'pages still wait'} to be indexed.`;
    }
    default:
      return 'Nothing in the reading history matches.';
  }
}
