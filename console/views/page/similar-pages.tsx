/** Related pages, by vectors, topic or names. */
import { useState } from 'preact/hooks';
import type { SimilarResponse } from '../../../src/domain/search.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { linkTo } from '../../app/router.ts';
import { Fault } from '../../ui/parts.tsx';
import { nameOf, shortUrl } from '../../ui/text.tsx';

const ways = [
  ['vector', 'Meaning'],
  ['cluster', 'Topic'],
  ['entity', 'Names'],
] as const;

export function SimilarPages({ pageId }: { pageId: string }) {
  const [way, setWay] = useState<(typeof ways)[number][0]>('vector');
  const { data, error, loading, reload } = useLoad(
    (signal) =>
      get<SimilarResponse>(`/v1/pages/${encodeURIComponent(pageId)}/similar`, { mediation: way, k: 8 }, signal),
    [pageId, way],
  );
  return (
    <div class="similar">
      <fieldset class="segments" aria-label="Related by">
        {ways.map(([value, text]) => (
          <button key={value} type="button" aria-pressed={way === value} onClick={() => setWay(value)}>
            {text}
          </button>
        ))}
      </fieldset>
      <Fault error={error} retry={reload} />
      {data !== undefined && data.results.length === 0 && !loading && <p class="quiet">Nothing like it so far.</p>}
      <ul class="plain-list">
        {data?.results.map((page) => (
          <li key={page.page_id}>
            <a href={linkTo('page', page.page_id)}>
              <bdi>{nameOf(page)}</bdi>
            </a>
            <span class="quiet">
              <bdi>{shortUrl(page.canonical_url).split('/')[0]}</bdi>
              {way !== 'vector' && (
                <>
                  {' · '}
                  <bdi>{page.reason}</bdi>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
