/** Why a search has no results, and counts of all matching pages, for the command line and language models. */
import type { NoResults, SearchFacets } from './search.ts';

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

/** How many pages match, and the values of each field. */
export function countLines({ total, ...fields }: SearchFacets): string[] {
  const lines = Object.entries(fields).flatMap(([field, values]) => {
    const counts = values.map(({ value, label, count }) => `${label ?? value} (${count})`);
    return counts.length === 0 ? [] : [`${field}: ${counts.join(', ')}`];
  });
  return [`matching pages: ${total}`, ...lines];
}
