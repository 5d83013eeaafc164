/** A page: its stored text and details. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { textFragmentLink } from '../../../src/compute/web/text-fragment.ts';
import type { EntitySummary, PageEntitiesResponse } from '../../../src/domain/entity.ts';
import type { JobEventData } from '../../../src/domain/job.ts';
import type {
  PageChunksResponse,
  PageRefreshResponse,
  PageResponse,
  PageStatusResponse,
} from '../../../src/domain/page.ts';
import { ApiError, call, get, inOneDirection, session } from '../../api/client.ts';
import { listenToJobs } from '../../api/events.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { go, leaveBack, linkTo, route, useKept, useTitle } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { count, fullDateOf, many, readingTime, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { passageLink } from '../../ui/page-row.tsx';
import { Badge, CopyButton, Empty, Facts, Fault, Waiting } from '../../ui/parts.tsx';
import { nameOf, Outside, SiteMark, safeUrl, shortUrl } from '../../ui/text.tsx';
import { isName } from '../names/names-view.tsx';
import { stateNames } from '../search/criteria.ts';
import { stateWords } from '../search/landing.tsx';
import { Annotations, editorOf } from './annotations.tsx';
import { BlockSiteDialog, deleteLater, isDeleted } from './delete-pages.tsx';
import { highlightOf, placeOf, type Range } from './highlights.ts';
import { PageText } from './page-text.tsx';
import { ReaderBar, useKeys } from './reader.tsx';
import { SimilarPages } from './similar-pages.tsx';

const passagesAtOnce = 200;
/** An unread page is reloaded after this time, ms. */
const waitedMs = 2000;
const refreshWords = {
  queued: 'The page will be fetched again. Its stored text stays until then.',
  waiting: 'The page is waiting to be fetched already.',
  own_file: 'Your own files are not fetched.',
  not_found: 'This page is no longer in your library.',
};

/** Keyed by page, so that no state moves to another one. */
export function PageView() {
  const { part } = route.value;
  return <OnePage key={part} pageId={part} />;
}

function OnePage({ pageId }: { pageId: string }) {
  const { params } = route.value;
  const wanted = params.get('passage');
  const [asksToBlock, setAsksToBlock] = useState(false);
  const [target, setTarget] = useState<{ highlight: number } | null>(null);
  const [turn, setTurn] = useState(0);
  const [asked, setListed] = useKept('listed', passagesAtOnce);
  const path = `/v1/pages/${encodeURIComponent(pageId)}`;
  const page = useLoad((signal) => get<PageResponse>(path, {}, signal), [pageId]);
  const chunks = useLoad((signal) => get<PageChunksResponse>(`${path}/chunks`, {}, signal), [pageId]);
  const names = useLoad((signal) => get<PageEntitiesResponse>(`${path}/entities`, {}, signal), [pageId]);
  useTitle(page.data && nameOf(page.data));
  const highlights = useMemo(() => [page.data?.metadata?.highlights ?? []].flat(), [page.data?.metadata]);
  const text = page.data?.body_text ?? '';
  const headings = useMemo(() => new Set(page.data?.headings), [page.data]);
  const places = useMemo(() => highlights.map((each) => placeOf(text, each)), [highlights, text]);
  const edit = editorOf(path, page);
  const isFailing = page.data?.status === 'failed' || page.data?.status === 'dead';
  const isWaiting = page.data !== undefined && page.data.status !== 'indexed';
  const status = useLoad(
    (signal) => get<PageStatusResponse>(`${path}/status`, {}, signal),
    [pageId],
    [page.data?.status],
  );
  const namesStatus = status.data?.features?.entities?.status;
  const isReadingNames = namesStatus === 'pending' || namesStatus === 'running' || namesStatus === 'failed';
  const parts = [page, chunks, names, status];
  const again = () => {
    for (const { reload } of parts) reload();
  };
  const [refreshJob, setRefreshJob] = useState<string | null>(null);
  useEffect(() => {
    if (session.value !== 'in') return;
    let isFirst = true;
    const hear = ({ job_id, status, last_error, page_id }: JobEventData) => {
      if (status !== 'done' && status !== 'dead') return;
      if (page_id === pageId) again(); // other tabs may change it, too
      if (job_id !== refreshJob) return;
      setRefreshJob(null);
      if (status === 'dead')
        return notify(`The page could not be fetched: ${inOneDirection(last_error ?? '')}`, 'error');
      again();
      notify('The page was fetched again.');
    };
    return listenToJobs({
      snapshot: ({ jobs }) => {
        if (!isFirst) again(); // events were missed
        isFirst = false;
        jobs.forEach(hear);
      },
      job: hear,
    });
  }, [refreshJob, session.value]);
  useRepeat(parts, waitedMs, page.data !== undefined && page.data.status !== 'indexed' && page.data.status !== 'dead');
  const passages = chunks.data?.chunks ?? [];
  const sections = new Map<string | null, number>();
  for (const { section_title } of passages) sections.set(section_title, (sections.get(section_title) ?? 0) + 1);
  const byId = passages.findIndex(({ chunk_id }) => chunk_id === wanted);
  const from = Number.parseInt(params.get('at') ?? '', 10);
  // An edit changes the ids of passages; then the passage at that offset is used.
  const at =
    byId >= 0 || wanted === null
      ? byId
      : passages.findLastIndex(({ char_start, char_end }) => char_start <= from && from < char_end);
  // Passages and text are loaded one after the other, so they may belong to different fetches.
  const isOfText = passages[at]?.text === text.slice(passages[at]?.char_start, passages[at]?.char_end);
  const passage = isOfText ? rangeOf(passages[at], params.get('at')) : null;
  const listed = Math.max(asked, at + 1);
  const address = page.data === undefined ? null : safeUrl(page.data.canonical_url);
  const outside = passage === null || address === null ? address : textFragmentLink(address, text, passage);
  useKeys({ o: () => outside !== null && open(outside, '_blank', 'noopener'), u: leaveBack });
  if (page.error instanceof ApiError && page.error.status === 404) {
    return (
      <Empty icon="text" title="This page is not in your library" isView>
        <p>It may have been deleted.</p>
      </Empty>
    );
  }
  if (page.data === undefined) return <Waiting error={page.error} retry={again} />;
  const { data } = page;
  const addHighlight = (range: Range) =>
    attempt(async () => {
      await edit({ add_highlights: [highlightOf(text, range)] });
      notify('Highlighted');
    });
  const goTo = (place: number) => {
    if (passages[place] === undefined) return;
    go(passageLink(pageId, passages[place]), { replace: true });
    setTurn(turn + 1);
  };
  const refresh = () =>
    attempt(async () => {
      const { results } = await call<PageRefreshResponse>('POST', '/v1/pages/refresh', {
        body: { page_ids: [pageId] },
      });
      notify(refreshWords[results[0].outcome]);
      setRefreshJob(results[0].job_id);
      again();
    });
  return (
    <div class="page-view">
      <article class="page-main">
        <p class="result-meta">
          <SiteMark domain={data.domain} />
          <a class="link-button" href={linkTo('time', '', { site: data.domain })}>
            <bdi>{data.domain}</bdi>
          </a>
          {data.status !== 'indexed' && (
            <Badge kind={data.status === 'dead' ? 'bad' : 'live'}>{stateWords[data.status]}</Badge>
          )}
        </p>
        <h1 class="page-title">
          <bdi>{nameOf(data)}</bdi>
        </h1>
        <div class="page-actions">
          <Outside class="button button-primary" href={outside}>
            <Icon name="link" />
            {passage === null ? 'Open the page' : 'Open at the passage'}
          </Outside>
          <CopyButton text={outside ?? data.canonical_url} label="Copy link" />
          {mayWrite() && (
            <>
              <button type="button" class="button button-small" onClick={refresh}>
                Fetch text again
              </button>
              {!isDeleted(data.page_id) && (
                <button
                  type="button"
                  class="button button-small button-quiet-danger"
                  onClick={() => {
                    deleteLater(nameOf(data), [data]);
                    leaveBack();
                  }}
                >
                  <Icon name="trash" />
                  Delete page
                </button>
              )}
              <button
                type="button"
                class="button button-small button-quiet-danger"
                onClick={() => setAsksToBlock(true)}
              >
                Block site…
              </button>
            </>
          )}
        </div>
        {wanted !== null && at < 0 && chunks.data !== undefined && (
          <p class="bar bar-warn" role="status">
            The passage of this link no longer exists: the page has changed.
          </p>
        )}
        {data.body_text === null || data.body_text === '' ? (
          <Empty icon="text" title="No stored text">
            <p>
              {data.status === 'indexed'
                ? 'The page has no text.'
                : isFailing
                  ? 'It could not be fetched.'
                  : 'It has not been fetched yet.'}
            </p>
            {status.data?.last_error != null && (
              <p>
                <bdi class="break">{inOneDirection(status.data.last_error)}</bdi>
              </p>
            )}
          </Empty>
        ) : (
          <>
            <ReaderBar keys={{ j: () => goTo(at + 1), k: () => goTo(at - 1) }} />
            <PageText
              text={data.body_text}
              headings={headings}
              passage={passage}
              asked={`${wanted} ${params.get('at')}`}
              turn={turn}
              highlights={places}
              target={target}
              onHighlight={mayWrite() ? addHighlight : null}
            />
          </>
        )}
      </article>
      <aside class="page-side" aria-label="About this page">
        <section class="facet">
          <h2>Read</h2>
          <Facts
            of={[
              ['First read', timeOf(data.first_seen_at)],
              ['Last read', timeOf(data.last_seen_at)],
              ['Visits', count(data.visit_count)],
              ['Author', data.author && <bdi>{data.author}</bdi>],
              ['Published', data.published_at && fullDateOf(data.published_at)],
              [
                'Topic',
                data.cluster && (
                  <a href={linkTo('topics', data.cluster.id)}>
                    <bdi>{data.cluster.label ?? 'not named yet'}</bdi>
                  </a>
                ),
              ],
              ['Length', data.read_minutes && readingTime(data.read_minutes)],
              ['Status', data.is.map((state) => stateNames[state]).join(', ') || null],
              ['Source', data.source && <bdi>{data.source}</bdi>],
              ['Address', <bdi>{shortUrl(data.canonical_url)}</bdi>],
            ]}
          />
        </section>
        <Annotations
          page={data}
          edit={edit}
          places={places}
          highlights={highlights}
          goTo={(highlight) => setTarget({ highlight })}
        />
        {passages.length > 1 && (
          <section class="facet">
            <h2>{many(passages.length, 'passage')}</h2>
            <ol class="passages">
              {passages.slice(0, listed).map(({ chunk_id, char_start, section_title, text }, place) => (
                <li key={chunk_id}>
                  <a
                    href={passageLink(pageId, { chunk_id, char_start })}
                    aria-current={place === at ? 'true' : undefined}
                    onClick={(event) => {
                      if (place !== at) return;
                      event.preventDefault(); // stays on the page, without a step
                      setTurn(turn + 1);
                    }}
                  >
                    <bdi>
                      {section_title !== null && sections.get(section_title) === 1 ? section_title : text.slice(0, 70)}
                    </bdi>
                  </a>
                </li>
              ))}
            </ol>
            {listed < passages.length && (
              <button type="button" class="link-button facet-more" onClick={() => setListed(listed + passagesAtOnce)}>
                More of {count(passages.length)}
              </button>
            )}
          </section>
        )}
        <Fault error={chunks.error ?? names.error ?? status.error} retry={again} />
        <NamesOf names={names.data?.entities ?? []} isReading={!isWaiting && isReadingNames} />
        <section class="facet">
          <h2>Related pages</h2>
          <SimilarPages pageId={pageId} />
        </section>
      </aside>
      {asksToBlock && <BlockSiteDialog domain={data.domain} onClose={() => setAsksToBlock(false)} onDone={leaveBack} />}
    </div>
  );
}

/** The range of a passage or, with `at`, of a part of it. `at` has offsets in the page's text. */
function rangeOf(passage: PageChunksResponse['chunks'][number] | undefined, at: string | null) {
  if (passage === undefined) return null;
  const [start, end] =
    /^(\d+)-(\d+)$/
      .exec(at ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  const isPart = start >= passage.char_start && start < end && end <= passage.char_end;
  return isPart ? { start, end } : { start: passage.char_start, end: passage.char_end };
}

const shownNames = 24;

function NamesOf({ names: all, isReading }: { names: readonly EntitySummary[]; isReading: boolean }) {
  const names = all.filter(isName);
  if (names.length === 0 && isReading) {
    return (
      <section class="facet">
        <h2>Names</h2>
        <p>This page is not read for names yet.</p>
      </section>
    );
  }
  if (names.length === 0) return null;
  return (
    <section class="facet">
      <h2>Names</h2>
      <ul class="tags">
        {names.slice(0, shownNames).map(({ id, canonical_form, type }) => (
          <li key={id}>
            <a class="tag" href={linkTo('names', id)} title={type}>
              <bdi>{canonical_form}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
