/** The results: pages, each with its passages, the best first. Arrows go from one to the next. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { PageListResponse } from '../../../src/domain/page.ts';
import type { Correction, PageResult, SearchResponse } from '../../../src/domain/search.ts';
import { call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { isInChord } from '../../app/keys.tsx';
import { linkTo, useKept } from '../../app/router.ts';
import { ago, count, fullDateOf, many, readingTime } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PageLinks } from '../../ui/page-row.tsx';
import { Empty, Fault } from '../../ui/parts.tsx';
import { Marked, nameOf, Outside, SiteMark, safeUrl, shortUrl } from '../../ui/text.tsx';
import { SimilarPages } from '../page/similar-pages.tsx';
import type { Criteria } from './criteria.ts';
import { Judge } from './judge.tsx';
import { type Found, mostCounted } from './use-search.ts';
import { Why } from './why.tsx';

interface Props {
  found: Found;
  busy: boolean;
  moreError: unknown;
  isFiltered: boolean;
  toBox: () => void;
  more: () => void;
  clearFilters: () => void;
  searchFor: (query: string) => void;
  narrow: (part: Partial<Criteria>) => void;
}

export function ResultList({
  found,
  busy,
  moreError,
  isFiltered,
  toBox,
  more,
  clearFilters,
  searchFor,
  narrow,
}: Props) {
  const { results, corrected, query, suggestions } = found;
  const list = useRef<HTMLOListElement>(null);
  const moreButton = useRef<HTMLButtonElement>(null);
  /** How many there were when more were asked for. */
  const shownBefore = useRef<number | null>(null);
  // Before the button goes that has the focus.
  useLayoutEffect(() => {
    const { current: before } = shownBefore;
    if (before === null || results.length <= before) return;
    shownBefore.current = null;
    const { activeElement: focused, body } = document;
    if (focused !== moreButton.current && focused !== body) return; // they went elsewhere
    list.current?.querySelectorAll<HTMLElement>('.result-title')[before]?.focus({ preventScroll: true });
  }, [results.length]);
  const showMore = () => {
    shownBefore.current = results.length;
    more();
  };
  if (results.length === 0)
    return <NothingFound found={found} isFiltered={isFiltered} clearFilters={clearFilters} searchFor={searchFor} />;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isInChord()) return;
    const list = event.currentTarget as HTMLElement;
    const items = [...list.querySelectorAll<HTMLElement>('[data-result]')];
    const at = items.findIndex((item) => item.contains(document.activeElement));
    if (at < 0) return;
    const step =
      event.key === 'ArrowDown' || event.key === 'j' ? 1 : event.key === 'ArrowUp' || event.key === 'k' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = items[at + step];
      if (next !== undefined) focusTitle(next);
      else if (step < 0) toBox();
      return;
    }
    const action = keyActions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    // It may take away what has the focus.
    if (document.activeElement?.closest('.similar')) focusTitle(items[at]);
    items[at].querySelector<HTMLElement>(`[data-action="${action}"]`)?.click();
  };
  return (
    <>
      {results[0].why.exact !== 'url' && <Corrections corrected={corrected} query={query} searchFor={searchFor} />}
      <ol ref={list} class="result-list" onKeyDown={onKeyDown}>
        {results.map((result) => (
          <Result
            key={result.page_id}
            result={result}
            queryId={found.isPassing ? null : found.query_id}
            query={query}
            narrow={narrow}
          />
        ))}
      </ol>
      <Fault error={moreError} retry={showMore} />
      {found.has_more && !found.isPassing && (
        <button ref={moreButton} type="button" class="button more-button" aria-disabled={busy} onClick={showMore}>
          More results
        </button>
      )}
      {!found.has_more && results.length >= mostCounted && (
        <p class="quiet">These are the best {count(results.length)}. Other words, or filters, bring up others.</p>
      )}
      {suggestions.length > 0 && !found.has_more && (
        <section class="also" aria-labelledby="also">
          <h2 id="also">Near to these</h2>
          <ul class="plain-list">
            {suggestions.map(({ page_id, title, reason }) => (
              <li key={page_id}>
                <a href={linkTo('page', page_id)}>
                  <bdi>{title ?? 'Untitled page'}</bdi>
                </a>
                <span class="quiet">
                  <bdi>{reason}</bdi>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const keyActions: Record<string, string> = { v: 'text', s: 'similar', w: 'why', '+': 'good', '-': 'bad' };

function focusTitle(item: HTMLElement): void {
  item.querySelector<HTMLElement>('.result-title')?.focus();
  item.scrollIntoView({ block: 'nearest' });
}

function Result({
  result,
  queryId,
  query,
  narrow,
}: {
  result: PageResult;
  queryId: string | null;
  query: string;
  narrow: Props['narrow'];
}) {
  const { page_id, canonical_url, domain, cluster, visit_count, first_seen_at, relevance, read_minutes } = result;
  const [opened, setOpened] = useKept<'why' | 'similar' | null>(`opened ${page_id}`, null);
  const [showsAll, setShowsAll] = useKept(`all passages ${page_id}`, false);
  const [first, ...rest] = result.chunks;
  const toggle = (what: 'why' | 'similar') => setOpened(opened === what ? null : what);
  const titleId = `title-${page_id}`;
  return (
    <li class="result" data-result={page_id}>
      <article aria-labelledby={titleId}>
        <p class="result-meta">
          <SiteMark domain={domain} />
          <button type="button" class="link-button" title={`Only ${domain}`} onClick={() => narrow({ site: domain })}>
            <bdi>{domain}</bdi>
          </button>
          <span class="dot" />
          <time dateTime={first_seen_at} title={`First read ${fullDateOf(first_seen_at)}`}>
            {ago(first_seen_at)}
          </time>
          {read_minutes !== null && (
            <>
              <span class="dot" />
              <span>{readingTime(read_minutes)}</span>
            </>
          )}
          {visit_count > 1 && (
            <>
              <span class="dot" />
              <span>read {many(visit_count, 'time')}</span>
            </>
          )}
          {cluster !== null && (
            <button
              type="button"
              class="topic-link"
              title="Only this topic"
              onClick={() => narrow({ topic: cluster.id, topicName: cluster.label })}
            >
              <bdi>{cluster.label ?? 'topic'}</bdi>
            </button>
          )}
          <Relevance value={relevance} />
        </p>
        <h2 class="result-head">
          <Outside class="result-title" id={titleId} href={safeUrl(first?.link ?? canonical_url)}>
            <bdi>{nameOf(result)}</bdi>
          </Outside>
        </h2>
        {result.why.exact !== null && (
          <p class="result-url">
            <bdi>{shortUrl(canonical_url)}</bdi>
          </p>
        )}
        {first !== undefined && <Passage chunk={first} pageId={page_id} />}
        {showsAll && rest.map((chunk) => <Passage key={chunk.chunk_id} chunk={chunk} pageId={page_id} />)}
        <div class="result-actions">
          {rest.length > 0 && (
            <button type="button" class="action" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
              <Icon name="plus" />
              {showsAll ? 'Fewer passages' : many(rest.length, 'more passage')}
            </button>
          )}
          <a class="action" data-action="text" href={linkTo('page', page_id, { passage: first?.chunk_id })}>
            <Icon name="text" />
            Stored text
          </a>
          <button
            type="button"
            class="action"
            data-action="similar"
            aria-expanded={opened === 'similar'}
            onClick={() => toggle('similar')}
          >
            <Icon name="similar" />
            Similar
          </button>
          <button
            type="button"
            class="action"
            data-action="why"
            aria-expanded={opened === 'why'}
            onClick={() => toggle('why')}
          >
            <Icon name="why" />
            Why
          </button>
          {query !== '' && <Judge key={queryId} queryId={queryId} pageId={page_id} />}
        </div>
        {opened === 'why' && <Why result={result} />}
        {opened === 'similar' && <SimilarPages pageId={page_id} />}
      </article>
    </li>
  );
}

function Passage({ chunk, pageId }: { chunk: PageResult['chunks'][number]; pageId: string }) {
  const { text, snippet, highlights } = chunk;
  const [isWhole, setWhole] = useKept(`whole ${chunk.chunk_id}`, false);
  const isPart = snippet.start > 0 || snippet.end < text.length;
  return (
    <blockquote class="passage" cite={linkTo('page', pageId, { passage: chunk.chunk_id })}>
      <p class={isWhole ? 'passage-whole' : undefined}>
        {isPart && !isWhole && snippet.start > 0 && <span class="cut">… </span>}
        <Marked text={text} spans={highlights} {...(isWhole ? {} : { from: snippet.start, to: snippet.end })} />
        {isPart && (
          <button type="button" class="cut-button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'less' : '… more'}
          </button>
        )}
      </p>
    </blockquote>
  );
}

/** Three small bars: enough to see where the good ones end. */
function Relevance({ value }: { value: number | null }) {
  if (value === null) return null;
  const level = value >= 0.6 ? 3 : value >= 0.2 ? 2 : 1;
  const word = ['', 'Weak', 'Fair', 'Strong'][level];
  return (
    <span class={`relevance relevance-${level}`} title={`${word} match`}>
      <span class="hidden">{word} match</span>
      <i />
      <i />
      <i />
    </span>
  );
}

function Corrections({
  corrected,
  query,
  searchFor,
}: {
  corrected: readonly Correction[];
  query: string;
  searchFor: Props['searchFor'];
}) {
  const changed = corrected.filter(({ taken }) => taken.length > 0);
  if (changed.length === 0) return null;
  const mended = changed.reduce((text, { word, taken }) => replaceWord(text, word, taken[0]), query);
  return (
    <p class="corrected">
      <Icon name="alert" />
      <span>
        You have read nothing with{' '}
        {changed.map(({ word }, at) => (
          <span key={word}>
            {at > 0 && ', '}
            <bdi>“{word}”</bdi>
          </span>
        ))}
        .
        {mended === query ? (
          ' These are the nearest words.'
        ) : (
          <>
            {' '}
            Did you mean{' '}
            <button type="button" class="link-button" onClick={() => searchFor(mended)}>
              <bdi>{mended}</bdi>
            </button>
            ?
          </>
        )}
      </span>
    </p>
  );
}

/** Once, where it stands by itself and is no part of an address or an operator; it holds letters alone. */
const replaceWord = (text: string, word: string, by: string): string =>
  text.replace(new RegExp(`(?<![\\p{L}:/.])${word}(?![\\p{L}:/])`, 'iu'), () => by);

function NothingFound({
  found,
  isFiltered,
  clearFilters,
  searchFor,
}: Pick<Props, 'found' | 'isFiltered' | 'clearFilters' | 'searchFor'>) {
  const { data } = useLoad((signal) => get<PageListResponse>('/v1/pages', { limit: 1 }, signal), []);
  const { query } = found;
  const nearest = useLoad(
    (signal) => nearestTo(query, signal),
    [isFiltered || query === '' || found.isPassing ? null : query],
  );
  if (data?.pages.length === 0) {
    return (
      <Empty icon="search" title="Your library is empty">
        <p>
          <a href={linkTo('search')}>Ways to fill it</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty icon="search" title="You have read nothing about this">
      <Corrections corrected={found.corrected} query={found.query} searchFor={searchFor} />
      {isFiltered ? (
        <>
          <p>Not with these filters.</p>
          <button type="button" class="button" onClick={clearFilters}>
            Search without filters
          </button>
        </>
      ) : (
        <p>Other words may do: readback searches by meaning, too, but only in what it was given.</p>
      )}
      {nearest.data !== undefined && nearest.data.length > 0 && (
        <section aria-labelledby="nearest">
          <h3 id="nearest">Nearest by meaning</h3>
          <PageLinks pages={nearest.data} />
        </section>
      )}
    </Empty>
  );
}

const shownNearest = 3;

/** Pages that are as near as any, however little that is. */
async function nearestTo(query: string, signal: AbortSignal): Promise<readonly PageResult[]> {
  const body = {
    query,
    operators: true,
    min_relevance: 0,
    k: shownNearest,
    chunks_per_page: 0,
    suggest: 0,
    log: false,
  };
  return (await call<SearchResponse>('POST', '/v1/search', { body, signal })).results;
}
