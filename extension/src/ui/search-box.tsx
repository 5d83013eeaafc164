/** Search while typing: newer queries abort older ones. The last word is a prefix until Enter. */
import { useEffect, useState } from 'preact/hooks';
import type { NoResults, SearchResponse } from '../../../src/domain/search.ts';
import type { ServiceClient } from '../service/client.ts';
import { Notice, Results, t } from './parts.tsx';

/** After the last key, ms: fast typists press one every 120 ms. */
const pauseMs = 130;
const maxResults = 6;

type Found =
  | { state: 'nothing' }
  | { state: 'results'; query: string; answer: SearchResponse }
  | { state: 'problem'; detail: string };

export function SearchBox({ client, initial }: { client: ServiceClient; initial: string }) {
  const [query, setQuery] = useState(initial);
  /** The finished query, and the one without corrections. */
  const [finished, setFinished] = useState(initial);
  const [asWritten, setAsWritten] = useState<string | null>(null);
  const [found, setFound] = useState<Found>({ state: 'nothing' });
  // A trailing space changes nothing until Enter.
  const asked = query.trim();
  useEffect(() => {
    if (asked === '') {
      setFound({ state: 'nothing' });
      return;
    }
    const end = new AbortController();
    const timer = setTimeout(async () => {
      // Older services do not know `spelling`.
      const spelling = asked === asWritten ? { spelling: false } : {};
      const prefix = query !== finished && !/\s$/.test(query);
      const fields = { operators: true, prefix, ...spelling };
      const answer = await client.search(asked, maxResults, { asked: fields, signal: end.signal });
      if (end.signal.aborted) return;
      setFound(
        answer.problem === null
          ? { state: 'results', query: asked, answer: answer.body }
          : { state: 'problem', detail: answer.detail },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [asked, finished, asWritten, client]);
  return (
    <search>
      <input
        type="search"
        value={query}
        placeholder={t('search_placeholder')}
        aria-label={t('search_placeholder')}
        maxLength={4000}
        autofocus
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && setFinished(query)}
      />
      {found.state === 'results' && <Answer {...found} asWritten={() => setAsWritten(found.query)} />}
      {found.state === 'problem' && <Notice kind="bad">{t('search_failed', found.detail)}</Notice>}
    </search>
  );
}

function Answer({
  query,
  answer: { results, corrected_query, no_results },
  asWritten,
}: {
  query: string;
  answer: SearchResponse;
  asWritten: () => void;
}) {
  if (results.length === 0) return <Notice kind="quiet">{whyNothing(no_results)}</Notice>;
  return (
    <>
      {corrected_query && (
        <Notice kind="quiet">
          {t('searched_for', corrected_query)}{' '}
          <button type="button" class="plain" onClick={asWritten}>
            {t('search_instead', query)}
          </button>
        </Notice>
      )}
      <Results results={results} label={t('results')} />
    </>
  );
}

/** Undefined for older services. */
function whyNothing(why: NoResults | null | undefined): string {
  if (why?.reason === 'indexing') return t('nothing_found_yet');
  if (why?.reason !== 'excluded' || why.operators.length === 0) return t('nothing_found');
  return t('all_excluded', why.operators.join(', '));
}
