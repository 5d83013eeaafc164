/** Search while typing: the last question counts, those before are ended. */
import { useEffect, useState } from 'preact/hooks';
import type { Correction, PageResult } from '../../../src/domain/search.ts';
import type { ServiceClient } from '../service/client.ts';
import { Notice, Results, t } from './parts.tsx';

/** After the last key, ms: fast typists press one each 120. */
const pauseMs = 130;
const mostResults = 6;

type Found =
  | { state: 'nothing' }
  | { state: 'results'; results: PageResult[]; corrected: Correction[] }
  | { state: 'problem'; detail: string };

export function SearchBox({ client, initial }: { client: ServiceClient; initial: string }) {
  const [query, setQuery] = useState(initial);
  const [found, setFound] = useState<Found>({ state: 'nothing' });
  useEffect(() => {
    if (query.trim() === '') {
      setFound({ state: 'nothing' });
      return;
    }
    const end = new AbortController();
    const timer = setTimeout(async () => {
      const answer = await client.search(query, mostResults, { typed: true, signal: end.signal });
      if (end.signal.aborted) return;
      setFound(
        answer.problem === null
          ? { state: 'results', results: answer.body.results, corrected: answer.body.corrected }
          : { state: 'problem', detail: answer.detail },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [query, client]);
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
      />
      {found.state === 'results' && found.results.length > 0 && found.corrected.length > 0 && (
        <Notice kind="quiet">
          {t('searched_for', found.corrected.flatMap(({ taken }) => taken.slice(0, 1)).join(', '))}
        </Notice>
      )}
      {found.state === 'results' && found.results.length > 0 && (
        <Results results={found.results} label={t('results')} />
      )}
      {found.state === 'results' && found.results.length === 0 && <Notice kind="quiet">{t('nothing_found')}</Notice>}
      {found.state === 'problem' && <Notice kind="bad">{t('search_failed', found.detail)}</Notice>}
    </search>
  );
}
