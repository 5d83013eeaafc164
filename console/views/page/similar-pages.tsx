/** Related pages, by vectors, topic or names. */
import { useState } from 'preact/hooks';
import type { SimilarResponse } from '../../../src/domain/search.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { PageLinks } from '../../ui/page-row.tsx';
import { Fault } from '../../ui/parts.tsx';
import { shortUrl } from '../../ui/text.tsx';

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
      {data !== undefined && data.results.length === 0 && !loading && <p class="quiet">No related pages.</p>}
      <PageLinks
        pages={data?.results ?? []}
        detail={({ canonical_url, reason }) => (
          <>
            {shortUrl(canonical_url).split('/')[0]}
            {way !== 'vector' && ' · '}
            {way !== 'vector' && <bdi>{reason}</bdi>}
          </>
        )}
      />
    </div>
  );
}
