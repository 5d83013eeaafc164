/** Explains an empty result. Repeats the search without any operators and filters, then with some of them. */
import { readOperators } from '../../compute/ranking/query-operators.ts';
import type { NoResults, SearchRequest } from '../../domain/search.ts';
import type { StoreReader } from '../../store/store.ts';
import { askedBy, type RankQuery } from './rank-query.ts';

/** Max waiting pages that are counted. */
const mostWaiting = 10_000;
/** Max operators and filters tried one by one. If there are more, the answer names all. */
const maxTriedAlone = 40;

interface Narrowing {
  by: 'operators' | 'filters';
  /** The operator as written, or the field of `filters`. */
  name: string;
}

/** `isPartial`: not all stored pages were searchable. */
export type ExplainNothing = (
  request: SearchRequest,
  isPartial: boolean,
  signal: AbortSignal | undefined,
) => Promise<NoResults>;

export function nothingExplainer(rank: RankQuery, reader: StoreReader, now: () => number): ExplainNothing {
  return async (request, isPartial, signal) => {
    const at = now();
    const { query, prefix, spelling } = askedBy(request, reader, at);
    const given = Object.entries(request.filters ?? {}).filter(([, value]) => value != null);
    const operators = new Set(request.operators ? readOperators(request.query).written : []);
    const all: Narrowing[] = [
      ...Array.from(operators, (name) => ({ by: 'operators' as const, name })),
      ...given.map(([name]) => ({ by: 'filters' as const, name })),
    ];
    const named = (narrowings: readonly Narrowing[], wanted: Narrowing['by']) =>
      narrowings.flatMap(({ by, name }) => (by === wanted ? name : []));
    const isEmpty = async (narrowings: readonly Narrowing[]) => {
      const fields = new Set(named(narrowings, 'filters'));
      const filters = Object.fromEntries(given.filter(([name]) => fields.has(name)));
      const typed = request.operators ? named(narrowings, 'operators').join(' ') : request.query;
      const asked = askedBy({ ...request, query: typed, filters }, reader, at);
      // A search with a time but no words finds the newest pages.
      const after = asked.filters.after ?? Number.NEGATIVE_INFINITY;
      const relevance = { least: request.min_relevance };
      const options = {
        asked: { ...asked, query, prefix, spelling, filters: { ...asked.filters, after } },
        byWords: true,
        relevance,
        signal,
      };
      return (await rank({ ...request, rerank: false }, options)).pages.length === 0;
    };
    const pages_waiting = reader.jobs.countIndexing(mostWaiting);
    if (all.length === 0 || (await isEmpty([]))) {
      const reason = pages_waiting > 0 || isPartial ? 'indexing' : 'no_match';
      return { reason, operators: [], filters: [], pages_waiting };
    }
    const alone: Narrowing[] = [];
    let together: readonly Narrowing[] = all;
    if (all.length <= maxTriedAlone) {
      for (const each of all) if (await isEmpty([each])) alone.push(each);
      for (const each of alone.length === 0 ? all : []) {
        const others = together.filter((other) => other !== each);
        if (await isEmpty(others)) together = others;
      }
    }
    const excluding = alone.length > 0 ? alone : together;
    const filters = named(excluding, 'filters');
    return { reason: 'excluded', operators: named(excluding, 'operators'), filters, pages_waiting };
  };
}
