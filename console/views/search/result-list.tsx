/** Results: pages with passages, best first. Arrow keys move between them. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { withParts } from '../../../src/compute/ranking/query-operators.ts';
import type { PageListResponse } from '../../../src/domain/page.ts';
import type { PageResult, SearchResponse } from '../../../src/domain/search.ts';
import { fairRelevance } from '../../../src/engine/relevance.ts';
import { call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { isInChord } from '../../app/keys.tsx';
import { linkTo, useKept } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { ago, count, fullDateOf, many, readingTime } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PageLinks, passageLink } from '../../ui/page-row.tsx';
import { Empty, Fault } from '../../ui/parts.tsx';
import { Marked, nameOf, Outside, SiteMark, safeUrl, shortUrl } from '../../ui/text.tsx';
import { deleteLater, isDeleted } from '../page/delete-pages.tsx';
import { SimilarPages } from '../page/similar-pages.tsx';
import { type Criteria, filterless, linkOf, stateNames } from './criteria.ts';
import { Judge } from './judge.tsx';
import { SelectedPages } from './selection.tsx';
import { type Found, isBelow, maxCounted, shownOf } from './use-search.ts';
import { Why } from './why.tsx';

interface Props {
  found: Found;
  busy: boolean;
  moreError: unknown;
  /** Those of the search; its query is that of `found`. */
  criteria: Criteria;
  toBox: () => void;
  more: () => void;
  again: () => void;
  /** Called by elements that disappear with the change. */
  change: (part: Partial<Criteria>) => void;
  narrow: (part: Partial<Criteria>) => void;
}

export function ResultList({ found, busy, moreError, criteria, toBox, more, again, change, narrow }: Props) {
  const { results, query, suggestions } = found;
  const list = useRef<HTMLOListElement>(null);
  const moreButton = useRef<HTMLButtonElement>(null);
  const [selected, setSelected] = useKept<readonly string[]>(`selected ${found.key}`, []);
  /** The page of the last selection. */
  const anchor = useRef<string | null>(null);
  const [showsWeak, setShowsWeak] = useKept(`less relevant ${found.key}`, false);
  /** Titles before "More results". */
  const shownBefore = useRef<number | null>(null);
  const titles = () => list.current?.querySelectorAll<HTMLElement>('.result-title') ?? [];
  // Before the focused button disappears.
  useLayoutEffect(() => {
    const { current: before } = shownBefore;
    if (before === null || titles().length <= before) return;
    shownBefore.current = null;
    const { activeElement: focused, body } = document;
    if (focused !== moreButton.current && focused !== body) return; // the user moved the focus elsewhere
    titles()[before].focus({ preventScroll: true });
  }, [results.length]);
  const showMore = () => {
    shownBefore.current = titles().length;
    setShowsWeak(true);
    more();
  };
  if (results.length === 0)
    return (
      <>
        <Ignored found={found} />
        <NothingFound found={found} again={again} change={change} />
      </>
    );
  const isLeft = ({ page_id }: PageResult) => !isDeleted(page_id);
  const fold = shownOf(results, found);
  const shown = results.slice(0, showsWeak ? results.length : fold).filter(isLeft);
  const weak = results.slice(fold).filter(isLeft).length;
  const isWeak = found.isByRelevance && !found.isPassing && results.every(({ relevance }) => isBelow(relevance));
  const chosen = shown.filter(({ page_id }) => selected.includes(page_id));
  /** `isRange`: also selects everything between the last selection and this. */
  const select = (id: string, isRange: boolean) => {
    const ids = shown.map(({ page_id }) => page_id);
    const [from, to] = [isRange ? ids.indexOf(anchor.current ?? id) : -1, ids.indexOf(id)];
    const range = from < 0 ? [id] : ids.slice(Math.min(from, to), Math.max(from, to) + 1);
    const others = selected.filter((each) => !range.includes(each));
    setSelected(selected.includes(id) ? others : [...others, ...range]);
    anchor.current = id;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isInChord()) return;
    if ((event.target as HTMLElement).closest('dialog') !== null) return;
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
    if (event.key === 'Escape' && chosen.length > 0) {
      event.stopPropagation();
      setSelected([]);
    } else if (event.key === 'x' || event.key === 'X') select(items[at].dataset.result ?? '', event.shiftKey);
    else if (event.key === 't' && chosen.length > 0) {
      event.preventDefault();
      document.querySelector<HTMLElement>('.selected-bar input')?.focus();
    }
    const action = keyActions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    // It may remove the focused element.
    if (document.activeElement?.closest('.similar')) focusTitle(items[at]);
    items[at].querySelector<HTMLElement>(`[data-action="${action}"]`)?.click();
  };
  return (
    <>
      <Corrected found={found} criteria={criteria} change={change} />
      <Ignored found={found} />
      {isWeak && <p class="corrected">No close matches. These pages are less relevant.</p>}
      <ol ref={list} class="result-list" onKeyDown={onKeyDown}>
        {shown.map((result) => (
          <Result
            key={result.page_id}
            result={result}
            queryId={found.isPassing ? null : found.query_id}
            isJudged={query !== '' && found.isByRelevance}
            narrow={narrow}
            toBox={toBox}
            isSelected={chosen.includes(result)}
            select={(isRange) => select(result.page_id, isRange)}
          />
        ))}
      </ol>
      {weak > 0 && (
        <button
          type="button"
          class="button more-button"
          aria-expanded={showsWeak}
          onClick={() => setShowsWeak(!showsWeak)}
        >
          Less relevant ({count(weak)}
          {found.has_more && '+'})
        </button>
      )}
      <Fault error={moreError} retry={showMore} />
      {found.has_more && !found.isPassing && (showsWeak || weak === 0) && (
        <button ref={moreButton} type="button" class="button more-button" aria-disabled={busy} onClick={showMore}>
          More results
        </button>
      )}
      {!found.has_more && results.length >= maxCounted && (
        <p class="quiet">These are the best {count(results.length)}. Change the words or filters to see others.</p>
      )}
      {suggestions.length > 0 && !found.has_more && (
        <section class="also" aria-labelledby="also">
          <h2 id="also">Related pages</h2>
          <PageLinks
            pages={suggestions.map((page) => ({ ...page, canonical_url: 'Untitled page' }))}
            detail={({ reason }) => reason}
          />
        </section>
      )}
      {chosen.length > 0 && (
        <SelectedPages
          pages={chosen}
          clear={() => {
            setSelected([]);
            titles()[shown.indexOf(chosen[0])].focus();
          }}
          selectAll={chosen.length === shown.length ? null : () => setSelected(shown.map(({ page_id }) => page_id))}
          onTagged={again}
          onDeleted={() => {
            setSelected([]);
            const next = shown.findIndex((each) => !chosen.includes(each));
            if (next < 0) toBox();
            else titles()[next].focus();
          }}
        />
      )}
    </>
  );
}

const keyActions: Record<string, string> = { v: 'text', s: 'similar', w: 'why', '+': 'good', '-': 'bad' };

function focusTitle(item: HTMLElement): void {
  item.querySelector<HTMLElement>('.result-title')?.focus();
  item.scrollIntoView({ block: 'nearest' });
}

const shownTags = 3;
type Opened = 'why' | 'similar' | 'duplicates';

interface ResultProps extends Pick<Props, 'narrow' | 'toBox'> {
  result: PageResult;
  queryId: string | null;
  isJudged: boolean;
  isSelected: boolean;
  select: (isRange: boolean) => void;
}

function Result({ result, queryId, isJudged, narrow, toBox, isSelected, select }: ResultProps) {
  const { page_id, canonical_url, domain, cluster, visit_count, first_seen_at, relevance, duplicates } = result;
  const { read_minutes, tags, is } = result;
  const [opened, setOpened] = useKept<Opened | null>(`opened ${page_id}`, null);
  const [showsAll, setShowsAll] = useKept(`all passages ${page_id}`, false);
  const [first, ...rest] = result.chunks;
  const toggle = (what: Opened) => setOpened(opened === what ? null : what);
  const titleId = `title-${page_id}`;
  return (
    <li class="result" data-result={page_id}>
      <article aria-labelledby={titleId}>
        <p class="result-meta">
          <label class="result-select">
            <SiteMark domain={domain} />
            <input
              type="checkbox"
              aria-label={`Select ${nameOf(result)}`}
              checked={isSelected}
              onMouseDown={(event) => event.shiftKey && event.preventDefault()} // prevents a text selection
              onClick={(event) => select(event.shiftKey)}
            />
          </label>
          <button type="button" class="link-button" title={`Only ${domain}`} onClick={() => narrow({ site: domain })}>
            <bdi>{domain}</bdi>
          </button>
          <time class="dotted" dateTime={first_seen_at} title={`First read ${fullDateOf(first_seen_at)}`}>
            {ago(first_seen_at)}
          </time>
          {read_minutes !== null && <span class="dotted">{readingTime(read_minutes)}</span>}
          {visit_count > 1 && <span class="dotted">read {many(visit_count, 'time')}</span>}
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
          {is.map((state) => (
            <button key={state} type="button" class="topic-link" onClick={() => narrow({ is: state })}>
              {stateNames[state]}
            </button>
          ))}
          {tags.slice(0, shownTags).map((tag) => (
            <button key={tag} type="button" class="topic-link" title="Only this tag" onClick={() => narrow({ tag })}>
              <bdi>#{tag}</bdi>
            </button>
          ))}
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
          {duplicates.length > 0 && (
            <button
              type="button"
              class="action"
              aria-expanded={opened === 'duplicates'}
              onClick={() => toggle('duplicates')}
            >
              <Icon name="copy" />
              and {count(duplicates.length)} similar
            </button>
          )}
          {rest.length > 0 && (
            <button type="button" class="action" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
              <Icon name="plus" />
              {showsAll ? 'Fewer passages' : many(rest.length, 'more passage')}
            </button>
          )}
          <a class="action" data-action="text" href={passageLink(page_id, first)}>
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
            Related
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
          {isJudged && <Judge key={queryId} queryId={queryId} pageId={page_id} />}
        </div>
        {opened === 'why' && <Why result={result} />}
        {opened === 'similar' && <SimilarPages pageId={page_id} />}
        {opened === 'duplicates' && <Duplicates result={result} toBox={toBox} />}
      </article>
    </li>
  );
}

/** Pages of the same text at other addresses, or of nearly the same text. */
function Duplicates({ result, toBox }: { result: PageResult; toBox: Props['toBox'] }) {
  const { duplicates } = result;
  const left = duplicates.filter(({ page_id }) => !isDeleted(page_id));
  return (
    <div class="similar">
      <PageLinks pages={left} detail={({ canonical_url }) => shortUrl(canonical_url)} />
      {mayWrite() && (
        <button
          type="button"
          class="button button-small button-quiet-danger"
          onClick={({ currentTarget }) => {
            const item = currentTarget.closest('[data-result]');
            const next = item?.nextElementSibling ?? item?.previousElementSibling;
            deleteLater(nameOf(result), [result, ...left]);
            if (next instanceof HTMLElement) focusTitle(next);
            else toBox();
          }}
        >
          <Icon name="trash" />
          {`Delete all ${count(left.length + 1)}`}
        </button>
      )}
    </div>
  );
}

function Passage({ chunk, pageId }: { chunk: PageResult['chunks'][number]; pageId: string }) {
  const { text, snippet, highlights } = chunk;
  const [isWhole, setWhole] = useKept(`whole ${chunk.chunk_id}`, false);
  const isPart = snippet.start > 0 || snippet.end < text.length;
  return (
    <blockquote class="passage" cite={passageLink(pageId, chunk)}>
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

/** Three bars; two from `fairRelevance` on. */
function Relevance({ value }: { value: number | null }) {
  if (value === null) return null;
  const level = value >= 0.6 ? 3 : value >= fairRelevance ? 2 : 1;
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

/** Operators that were searched as text, except one still being typed. */
function Ignored({ found: { ignored_operators: ignored = [], query, isUnfinished } }: Pick<Props, 'found'>) {
  const settled = ignored.filter(({ operator }) => !isUnfinished || !query.endsWith(operator));
  return settled.map(({ operator, reason }) => (
    <p key={operator} class="corrected">
      Searched as text: <bdi>{operator}</bdi> ({reason})
    </p>
  ));
}

function Corrected({
  found: { query, corrected_query: corrected },
  criteria,
  change,
}: Pick<Props, 'found' | 'criteria' | 'change'>) {
  if (corrected === null) return null;
  const link = (part: Pick<Criteria, 'query' | 'spelling'>) => (
    <a
      href={linkOf({ ...criteria, ...part })}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        change(part);
      }}
    >
      <bdi>{part.query}</bdi>
    </a>
  );
  return (
    <p class="corrected">
      Showing results for <strong>{link({ query: corrected, spelling: null })}</strong>. Search for{' '}
      {link({ query, spelling: 'as-written' })} instead
    </p>
  );
}

/** Characters of a query in a heading. */
const maxShown = 100;

/** Names of the service's filters. */
const filterNames: Readonly<Record<string, string>> = {
  domain: 'Site',
  cluster_id: 'Topic',
  entity: 'Name',
  lang: 'Language',
  type: 'Type',
  tag: 'Tag',
  folder: 'Folder',
  source: 'Source',
  is: 'Status',
  after: 'Period',
  before: 'Period',
};

/** An operator may have several parts, as `a OR b`. */
function without(query: string, operator: string): string {
  const rest = withParts(query, (part) => (part === operator ? '' : part));
  return rest === query ? query.replace(operator, '') : rest;
}

function NothingFound({ found, again, change }: Pick<Props, 'found' | 'again' | 'change'>) {
  const { data } = useLoad((signal) => get<PageListResponse>('/v1/pages', { limit: 1 }, signal), []);
  const { query, no_results: why, isUnfinished } = found;
  const mayBeNear = why?.reason === 'no_match' && query !== '' && !found.isPassing;
  const nearest = useLoad((signal) => nearestTo(query, signal), [mayBeNear ? query : null]);
  // One letter matches too many words, and a lone operator is unfinished.
  if (isUnfinished && (query.length < 2 || why?.operators[0] === query)) return null;
  if (data?.pages.length === 0) {
    return (
      <Empty icon="search" title="Your library is empty">
        <p>
          <a href={linkTo('search')}>Ways to fill it</a>
        </p>
      </Empty>
    );
  }
  const title =
    query === ''
      ? 'No results'
      : `No results for “${query.length > maxShown ? `${query.slice(0, maxShown)}…` : query}”`;
  if (why?.reason === 'excluded') {
    // With filters only, the operator comes from the console.
    const operators = query === '' ? [] : why.operators;
    const filters = new Set(why.filters.map((name) => filterNames[name] ?? name));
    const rest = operators.reduce(without, query).trim();
    const names = [
      ...operators.map((written) => <code key={written}>{written}</code>),
      ...Array.from(filters, (name) => `the filter ${name}`),
    ];
    return (
      <Empty icon="search" title={title}>
        <p>
          All matching pages are excluded by{' '}
          {names.map((name, at) => (
            <>
              {at > 0 && (at === names.length - 1 ? ' and ' : ', ')}
              {name}
            </>
          ))}
          .
        </p>
        {operators.length > 0 && (
          <button type="button" class="button" onClick={() => change({ query: rest })}>
            {`Search without ${operators.join(' ')}`}
          </button>
        )}
        {filters.size > 0 && (
          <button type="button" class="button" onClick={() => change(filterless)}>
            Search without filters
          </button>
        )}
      </Empty>
    );
  }
  if (why?.reason === 'indexing') {
    const waiting = why.pages_waiting;
    return (
      <Empty icon="search" title={`${title} yet`}>
        <p>
          {waiting === 0
            ? 'The index is being rebuilt.'
            : `${many(waiting, 'page')} still ${waiting === 1 ? 'waits' : 'wait'} to be indexed.`}{' '}
          <a href={linkTo('jobs')}>Jobs</a>
        </p>
        <button type="button" class="button" onClick={again}>
          Search again
        </button>
      </Empty>
    );
  }
  return (
    <Empty icon="search" title={title}>
      <p>Try other words, or fewer of them.</p>
      {nearest.data !== undefined && nearest.data.length > 0 && (
        <section aria-labelledby="nearest">
          <h3 id="nearest">Nearest by meaning</h3>
          <PageLinks pages={nearest.data} detail={({ domain }) => domain} />
        </section>
      )}
    </Empty>
  );
}

const shownNearest = 3;

/** The nearest pages, at any relevance. */
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
