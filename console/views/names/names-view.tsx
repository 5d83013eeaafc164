/** Names: people, places, organisations that the pages mention; merges of names, with undo. */
import { useState } from 'preact/hooks';
import type {
  EntityDetailResponse,
  EntityMergeListResponse,
  EntitySummary,
  PageEntitiesResponse,
} from '../../../src/domain/entity.ts';
import type { PageListResponse, PageResponse } from '../../../src/domain/page.ts';
import { ApiError, call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { go, linkTo, route } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { dateOf, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Badge, Empty, Fault, ViewHead } from '../../ui/parts.tsx';
import { nameOf, SiteMark } from '../../ui/text.tsx';

export function NamesView() {
  const { part } = route.value;
  return part === '' ? <NameList /> : <NamePages key={part} reference={part} />;
}

const looksThrough = 30;
const atOnce = 6;

/** There is no list of all names: those of the newest pages, most mentioned first. */
async function namesOfNewest(signal: AbortSignal): Promise<EntitySummary[]> {
  const { pages } = await get<PageListResponse>('/v1/pages', { limit: looksThrough, status: 'indexed' }, signal);
  const names = new Map<string, EntitySummary>();
  for (let at = 0; at < pages.length; at += atOnce) {
    const answers = await Promise.all(
      pages
        .slice(at, at + atOnce)
        .map(({ page_id }) =>
          get<PageEntitiesResponse>(`/v1/pages/${encodeURIComponent(page_id)}/entities`, {}, signal),
        ),
    );
    for (const each of answers.flatMap(({ entities }) => entities)) names.set(each.id, each);
  }
  return [...names.values()]
    .filter(({ type }) => !left.has(type))
    .sort((a, b) => b.page_count - a.page_count || b.mention_count - a.mention_count)
    .slice(0, 120);
}

function NameList() {
  const [wanted, setWanted] = useState('');
  const { data, error, reload } = useLoad(namesOfNewest, []);
  const order = Object.keys(typeWords);
  const placeOf = (type: string) => (order.indexOf(type) + order.length + 1) % (order.length + 1);
  const types = [...new Set(data?.map(({ type }) => type))].sort((a, b) => placeOf(a) - placeOf(b));
  return (
    <div class="view">
      <ViewHead title="Names" lead="People, places, organisations and works in what you read." />
      <form
        class="search-box search-box-small"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted.trim() !== '') go(linkTo('names', wanted.trim()));
        }}
      >
        <Icon name="search" />
        <input
          type="search"
          aria-label="Look a name up"
          placeholder="Look a name up, then Enter"
          maxLength={1024}
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      </form>
      <Fault error={error} retry={reload} />
      {data?.length === 0 && (
        <Empty icon="names" title="No names yet">
          <p>They are found after a page is indexed, when there is time.</p>
        </Empty>
      )}
      {types.map((type) => (
        <section key={type} class="block">
          <h2>{typeWords[type] ?? type}</h2>
          <ul class="tags name-tags">
            {data
              ?.filter((each) => each.type === type)
              .map(({ id, canonical_form, page_count }) => (
                <li key={id}>
                  <a class="tag" href={linkTo('names', id)}>
                    <bdi>{canonical_form}</bdi> <span class="numbers quiet">{page_count}</span>
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
      <Merges />
    </div>
  );
}

/** In this order; a type that is not here comes last. */
const typeWords: Record<string, string> = {
  person: 'People',
  organization: 'Organisations',
  place: 'Places',
  group: 'Groups',
  work: 'Works',
  event: 'Events',
};
/** Dates and amounts are no names that one looks up. */
const left = new Set(['amount', 'date', 'time']);

function Merges() {
  const { data, error, reload } = useLoad(
    (signal) => get<EntityMergeListResponse>('/v1/admin/entity-merges', {}, signal),
    [],
  );
  if (data === undefined) return <Fault error={error} retry={reload} />;
  if (data.merges.length === 0) return null;
  const latest = data.merges.find(({ undone_at }) => undone_at === null);
  const undo = (id: string) =>
    attempt(async () => {
      await call('POST', `/v1/entities/merges/${encodeURIComponent(id)}/undo`);
      notify('They are two names again.');
      reload();
    });
  return (
    <section class="block" aria-labelledby="merges">
      <h2 id="merges">Names taken for one</h2>
      <p class="quiet">The newest can be undone, then the one before.</p>
      <ul class="rows">
        {data.merges.slice(0, 100).map((merge) => (
          <li key={merge.merge_id} class="row">
            <Badge kind={merge.undone_at === null ? 'plain' : 'warn'}>
              {merge.undone_at === null ? merge.type : 'undone'}
            </Badge>
            <div class="row-main">
              <p class="row-title">
                <bdi>{merge.merged_form}</bdi> → <bdi>{merge.kept_form}</bdi>
              </p>
            </div>
            <div class="row-end">
              <time dateTime={merge.merged_at}>{dateOf(merge.merged_at)}</time>
              {mayWrite() && merge === latest && (
                <button type="button" class="button button-small" onClick={() => undo(merge.merge_id)}>
                  Undo
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

const shownPages = 40;

function NamePages({ reference }: { reference: string }) {
  const { data, error, reload } = useLoad(
    (signal) => get<EntityDetailResponse>(`/v1/entities/${encodeURIComponent(reference)}`, {}, signal),
    [reference],
  );
  const pages = useLoad(
    (signal) =>
      Promise.all(
        (data?.page_ids ?? [])
          .slice(0, shownPages)
          .map((id) => get<PageResponse>(`/v1/pages/${encodeURIComponent(id)}`, { offset: 0, length: 1 }, signal)),
      ),
    [data?.entity.id ?? null],
  );
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Empty icon="names" title="No page mentions this name">
        <p>
          <a href={linkTo('search', '', { q: reference })}>Search for the words instead</a>
        </p>
      </Empty>
    );
  }
  if (data === undefined)
    return error === undefined ? <div class="waiting" aria-busy="true" /> : <Fault error={error} retry={reload} />;
  const { entity, aliases } = data;
  const others = aliases.filter((alias) => alias !== entity.canonical_form);
  return (
    <div class="view">
      <p class="crumb">
        <a href={linkTo('names')}>Names</a>
      </p>
      <ViewHead
        title={entity.canonical_form}
        lead={`${entity.type} · ${many(entity.mention_count, 'mention')} in ${many(entity.page_count, 'page')}${others.length > 0 ? ` · also ${others.slice(0, 8).join(', ')}` : ''}`}
      >
        <a class="button" href={linkTo('search', '', { q: entity.canonical_form, name: entity.id })}>
          <Icon name="search" />
          Search within
        </a>
      </ViewHead>
      <Fault error={pages.error} retry={pages.reload} />
      <ul class="page-list">
        {pages.data?.map((page) => (
          <li key={page.page_id}>
            <a class="page-row" href={linkTo('page', page.page_id)}>
              <SiteMark domain={page.domain} />
              <span class="page-row-text">
                <bdi class="page-row-title">{nameOf(page)}</bdi>
                <bdi class="page-row-site">{page.domain}</bdi>
              </span>
              <time dateTime={page.last_seen_at}>{dateOf(page.last_seen_at)}</time>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
