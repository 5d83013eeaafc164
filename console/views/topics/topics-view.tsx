/** Topics: what the library is about, found by the service; the pages of each. */
import type {
  ClusterDetailResponse,
  ClusterListResponse,
  ClusterRunsResponse,
  RecomputeResponse,
} from '../../../src/domain/cluster.ts';
import { ApiError, call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify } from '../../app/notices.tsx';
import { linkTo, route, useKept, useTitle } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { ago, count, many, percent } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PageRow } from '../../ui/page-row.tsx';
import { ActButton, Empty, Fault, ViewHead, Waiting } from '../../ui/parts.tsx';
import { shortUrl } from '../../ui/text.tsx';

const lookAgainMs = 3000;

export function TopicsView() {
  const { part } = route.value;
  return part === '' ? <TopicList /> : <TopicPages key={part} id={part} />;
}

const nameOfTopic = ({ label, keywords }: { label: string | null; keywords: readonly string[] }): string =>
  label ?? keywords.slice(0, 3).join(', ');

function TopicList() {
  const topics = useLoad((signal) => get<ClusterListResponse>('/v1/clusters', {}, signal), []);
  const { data } = topics;
  const runs = useLoad((signal) => get<ClusterRunsResponse>('/v1/clusters/runs', { limit: 1 }, signal), []);
  const [run] = runs.data?.runs ?? [];
  const isRunning = run !== undefined && run.finished_at === null;
  useRepeat([topics, runs], lookAgainMs, isRunning);
  const recompute = async () => {
    const { accepted, detail } = await call<RecomputeResponse>('POST', '/v1/clusters/recompute');
    notify(accepted ? 'Refreshing topics.' : (detail ?? 'Not now.'), accepted ? 'done' : 'error');
    runs.reload();
  };
  const clusters = data?.clusters ?? [];
  const lead =
    run === undefined
      ? 'What your library is about.'
      : isRunning
        ? 'Refreshing…'
        : `${many(clusters.length, 'topic')} in ${many(run.n_pages ?? 0, 'page')} · updated ${ago(run.finished_at ?? run.started_at)}`;
  return (
    <div class="view">
      <ViewHead title="Topics" lead={lead}>
        {mayWrite() && (
          <ActButton class="button" disabled={isRunning} act={recompute}>
            <Icon name="refresh" />
            Refresh topics
          </ActButton>
        )}
      </ViewHead>
      <Fault
        error={topics.error ?? runs.error}
        retry={() => {
          topics.reload();
          runs.reload();
        }}
      />
      {data !== undefined && clusters.length === 0 && (
        <Empty icon="topics" title="No topics yet">
          <p>{whatIsMissing(data)}</p>
        </Empty>
      )}
      <ul class="topic-grid">
        {clusters.map((cluster) => (
          <li key={cluster.id}>
            <a class="card topic-card" href={linkTo('topics', cluster.id)}>
              <h2>
                <bdi>{nameOfTopic(cluster)}</bdi>
              </h2>
              <p class="quiet">
                <bdi>{cluster.keywords.slice(0, 6).join(' · ')}</bdi>
              </p>
              <p class="topic-size">
                <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * cluster.size) / clusters[0].size} height="4" rx="2" />
                </svg>
                <span class="numbers">{many(cluster.size, 'page')}</span>
              </p>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function whatIsMissing({ pages = 0, min_pages = 0 }: ClusterListResponse): string {
  if (pages >= min_pages)
    return 'There are enough pages. Refresh topics, or wait until the library has been quiet for a while.';
  return `Topics need ${many(min_pages, 'page')} with text. So far ${pages === 1 ? '1 page is' : `${count(pages)} pages are`} ready; pages that were just added become ready in the background.`;
}

const pagesAtOnce = 50;
/** Pages are shown with their probability below this one. */
const clearlyOf = 0.95;
/** The service gives no more at once. */
const maxPages = 1000;

function TopicPages({ id }: { id: string }) {
  const [limit, setLimit] = useKept('limit', pagesAtOnce);
  const { data, error, reload } = useLoad(
    (signal) => get<ClusterDetailResponse>(`/v1/clusters/${encodeURIComponent(id)}`, { offset: 0, limit }, signal),
    [id],
    [limit],
  );
  const isGone = error instanceof ApiError && error.status === 404;
  useTitle(isGone ? 'Topic not found' : data && nameOfTopic(data.cluster));
  if (isGone) {
    return (
      <Empty icon="topics" title="Topic not found" isView>
        <p>
          <a href={linkTo('topics')}>All topics</a>
        </p>
      </Empty>
    );
  }
  if (data === undefined) return <Waiting error={error} retry={reload} />;
  const { cluster, pages } = data;
  const name = nameOfTopic(cluster);
  return (
    <div class="view">
      <p class="crumb">
        <a href={linkTo('topics')}>Topics</a>
      </p>
      <ViewHead title={name} lead={`${many(cluster.size, 'page')} · ${cluster.keywords.join(', ')}`}>
        <a class="button" href={linkTo('search', '', { topic: id, 'topic-name': name })}>
          <Icon name="search" />
          Search within
        </a>
      </ViewHead>
      <ul class="page-list">
        {pages.map((page) => (
          <PageRow key={page.page_id} page={page} domain={shortUrl(page.canonical_url).split('/')[0]}>
            {page.probability !== null && page.probability < clearlyOf && (
              <span class="quiet numbers">{percent(page.probability)} sure</span>
            )}
          </PageRow>
        ))}
      </ul>
      <Fault error={error} retry={reload} />
      {pages.length < (data.total ?? 0) &&
        (limit < maxPages ? (
          <button type="button" class="button" onClick={() => setLimit(Math.min(limit + 200, maxPages))}>
            More of {count(data.total ?? 0)}
          </button>
        ) : (
          <p class="quiet">
            These are the first {count(maxPages)} of {count(data.total ?? 0)}; “Search within” finds the others.
          </p>
        ))}
    </div>
  );
}
