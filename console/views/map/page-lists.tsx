/** Lists of pages: under the pointer, in view, highlighted. The map stores only ids. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageResponse } from '../../../src/domain/page.ts';
import { epoch } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { pageOf } from '../../api/page-facts.ts';
import { mayWrite } from '../../app/session.tsx';
import { count, dateOf, many } from '../../ui/format.ts';
import { PageLinks } from '../../ui/page-row.tsx';
import { Fault } from '../../ui/parts.tsx';
import { nameOf } from '../../ui/text.tsx';
import { BulkTags } from '../page/annotations.tsx';
import { maxCounted } from '../search/use-search.ts';

const listed = 60;

export function Hover({ id }: { id: string }) {
  const { data } = useLoad((signal) => pageOf(id, signal), [id]);
  if (data == null) return null;
  return (
    <p class="map-hover">
      <strong>
        <bdi>{nameOf(data)}</bdi>
      </strong>
      <span class="quiet">
        <bdi>{data.domain}</bdi> · {dateOf(data.last_seen_at)}
      </span>
    </p>
  );
}

interface HighlightedProps {
  ids: readonly string[];
  /** How many of them are not on the map. */
  missing: number;
  isSearch: boolean;
}

export function HighlightedPages({ ids, missing, isSearch }: HighlightedProps) {
  const [shown, setShown] = useState(listed);
  const section = useRef<HTMLElement>(null);
  // If the element that led here is gone, the focus moves to the head of the list.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) section.current?.focus({ preventScroll: true });
  }, []);
  return (
    <section ref={section} class="facet" aria-labelledby="lit" tabIndex={-1}>
      <h2 id="lit">{many(ids.length, 'page')}</h2>
      {isSearch && ids.length === maxCounted && <p class="quiet">A search highlights the best {count(maxCounted)}.</p>}
      {missing > 0 && (
        <p class="quiet">{many(missing, 'page is', 'pages are')} not on the map: it is drawn when topics are found.</p>
      )}
      {mayWrite() && <BulkTags ids={ids} />}
      <Pages ids={ids.slice(0, shown)} />
      {shown < ids.length && (
        <button type="button" class="link-button facet-more" onClick={() => setShown(shown + listed)}>
          More of {count(ids.length)}
        </button>
      )}
    </section>
  );
}

/** The pages in view, nearest to the centre first, which Tab reaches. */
export function InView({ ids, all }: { ids: readonly string[]; all: number }) {
  return (
    <section class="facet" aria-labelledby="in-view">
      <h2 id="in-view" aria-live="polite">
        In view: {many(all, 'page')}
      </h2>
      <Pages ids={ids} />
    </section>
  );
}

function Pages({ ids }: { ids: readonly string[] }) {
  const known = useRef(new Map<string, PageResponse | null>());
  const turn = useRef(epoch.value);
  // After a new epoch, all cached data may be stale.
  if (turn.current !== epoch.value) known.current = new Map();
  turn.current = epoch.value;
  const { error, reload } = useLoad(
    async (signal) => {
      const asked = ids.map(async (id) => {
        if (known.current.has(id)) return;
        known.current.set(id, await pageOf(id, signal));
      });
      // Shows the pages that load, even if others fail.
      const failed = (await Promise.allSettled(asked)).find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return known.current.size;
    },
    [ids.join(' ')],
  );
  return (
    <>
      <Fault error={error} retry={reload} />
      <PageLinks pages={ids.flatMap((id) => known.current.get(id) ?? [])} detail={({ domain }) => domain} />
    </>
  );
}
