/** Names: people, places, organisations that the pages mention; merges of names, which can be split. */
import { useEffect, useState } from 'preact/hooks';
import type {
  EntityDetailResponse,
  EntityListResponse,
  EntityMergeListResponse,
  EntityMergeResponse,
  EntitySuggestion,
  EntitySuggestionListResponse,
  EntitySummary,
} from '../../../src/domain/entity.ts';
import { ApiError, call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { pageOf } from '../../api/page-facts.ts';
import { attempt, notify, useAttempt } from '../../app/notices.tsx';
import { go, linkTo, route, settle, useKept, useTitle } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { count, dateOf, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PageRow } from '../../ui/page-row.tsx';
import { ActButton, Badge, Dialog, Empty, Fault, FormFault, Rows, ViewHead, Waiting } from '../../ui/parts.tsx';
import { isolated } from '../../ui/text.tsx';
import { dropKeptSearches } from '../search/use-search.ts';

export function NamesView() {
  const { part } = route.value;
  return part === '' ? <NameList /> : <NamePages key={part} reference={part} />;
}

/** Earlier versions also stored dates and amounts, which searches find by their words. */
export const isName = ({ type }: EntitySummary): boolean => type !== 'date' && type !== 'amount';

/** Further names of a list, with its request. */
interface Further {
  of: string;
  entities: EntitySummary[];
  cursor: string | null;
}

const namesAtOnce = 120;
const typingPauseMs = 100;

function NameList() {
  const { params } = route.value;
  const wanted = params.get('q') ?? '';
  const type = params.get('type');
  const setWanted = (q: string) => go(linkTo('names', '', { q, type }), { passing: true });
  const setType = (chosen: string | null) => go(linkTo('names', '', { q: wanted, type: chosen }));
  const [asked, setAsked] = useState(wanted.trim());
  const [more, setMore] = useKept<Further | null>('more', null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted.trim()), typingPauseMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  const query = { q: asked, type, limit: namesAtOnce };
  const { data, error, reload } = useLoad(
    (signal) => get<EntityListResponse>('/v1/entities', query, signal),
    [type ?? ''],
    [asked],
  );
  const key = JSON.stringify(query);
  const further = more?.of === key ? more : null;
  const names = [...(data?.entities ?? []), ...(further?.entities ?? [])].filter(isName);
  const cursor = further === null ? (data?.next_cursor ?? null) : further.cursor;
  const loadMore = async () => {
    const answer = await get<EntityListResponse>('/v1/entities', { ...query, cursor });
    setMore({ of: key, entities: [...(further?.entities ?? []), ...answer.entities], cursor: answer.next_cursor });
  };
  // The list on screen may still belong to the previous text of the box.
  const openFirst = () =>
    attempt(async () => {
      const { value: asking } = route;
      const { entities } = await get<EntityListResponse>('/v1/entities', {
        q: asking.params.get('q')?.trim(),
        type,
        limit: 1,
      });
      // Stays if the user has moved to another view meanwhile.
      if (route.value === asking && entities.length > 0) go(linkTo('names', entities[0].id));
    });
  return (
    <div class="view">
      <ViewHead title="Names" lead="People, places, organisations and others in your pages, most frequent first." />
      <div class="toolbar">
        <search>
          <form
            class="search-box search-box-small"
            onSubmit={(event) => {
              event.preventDefault();
              void openFirst();
            }}
          >
            <Icon name="search" />
            <input
              type="search"
              aria-label="Find a name"
              placeholder="Find a name"
              maxLength={200}
              value={wanted}
              onInput={({ currentTarget }) => setWanted(currentTarget.value)}
              onBlur={settle}
            />
          </form>
        </search>
        <fieldset class="segments" aria-label="Kind">
          <button type="button" aria-pressed={type === null} onClick={() => setType(null)}>
            All
          </button>
          {types.map(([value, text]) => (
            <button key={value} type="button" aria-pressed={type === value} onClick={() => setType(value)}>
              {text}
            </button>
          ))}
        </fieldset>
      </div>
      <Fault error={error} retry={reload} />
      {data !== undefined && names.length === 0 && (
        <Empty icon="names" title={asked === '' ? 'No names yet' : 'Name not found'}>
          {asked === '' && <p>Names are found soon after pages are added.</p>}
        </Empty>
      )}
      <ul class="tags name-tags">
        {names.map(({ id, canonical_form, page_count, type: kind }) => (
          <li key={id}>
            <a class="tag" href={linkTo('names', id)} title={kind}>
              <bdi>{canonical_form}</bdi> <span class="numbers quiet">{count(page_count)}</span>
            </a>
          </li>
        ))}
      </ul>
      {cursor !== null && (
        <ActButton class="button" act={loadMore}>
          More names
        </ActButton>
      )}
      <Suggestions changed={reload} />
      <Merges
        changed={() => {
          setMore(null);
          reload();
        }}
      />
    </div>
  );
}

const wordFor = (type: EntitySummary['type']): string => (type === 'organization' ? 'organisation' : type);

const types = [
  ['person', 'People'],
  ['organization', 'Organisations'],
  ['place', 'Places'],
  ['other', 'Other'],
] as const;

/** Pairs of similar names. The user decides which are the same. */
function Suggestions({ changed }: { changed: () => void }) {
  const { data, error, set, reload } = useLoad(
    (signal) => get<EntitySuggestionListResponse>('/v1/admin/entity-suggestions', {}, signal),
    [],
  );
  if (data === undefined) return <Fault error={error} retry={reload} />;
  if (data.suggestions.length === 0) return null;
  const decide = async ({ entity_id, other_entity_id }: EntitySuggestion, route: 'merge' | 'reject') => {
    try {
      const path = `/v1/entities/${encodeURIComponent(entity_id)}/${route}`;
      await call('POST', path, { body: { with: other_entity_id } });
    } catch (error) {
      // Already gone, or decided elsewhere.
      if (!(error instanceof ApiError && (error.status === 409 || error.status === 404))) throw error;
    }
    set(({ suggestions }) => ({
      suggestions: suggestions.filter(
        (each) => each.entity_id !== entity_id || each.other_entity_id !== other_entity_id,
      ),
    }));
    if (route === 'reject') return;
    dropKeptSearches();
    changed();
  };
  return (
    <section class="block" aria-labelledby="suggestions">
      <h2 id="suggestions">Are these the same?</h2>
      <Rows items={data.suggestions} atOnce={20}>
        {(pair) => (
          <li key={`${pair.entity_id} ${pair.other_entity_id}`} class="row">
            <Badge kind="plain">{wordFor(pair.type)}</Badge>
            <div class="row-main">
              <p class="row-title">
                <bdi>{pair.form}</bdi> = <bdi>{pair.other_form}</bdi>
              </p>
            </div>
            {mayWrite() && (
              <div class="row-end">
                <ActButton class="button button-small" act={() => decide(pair, 'merge')}>
                  Merge
                </ActButton>
                <ActButton class="button button-small" act={() => decide(pair, 'reject')}>
                  Keep both
                </ActButton>
              </div>
            )}
          </li>
        )}
      </Rows>
    </section>
  );
}

/** All merges, or those of one name. Each can be split. */
function Merges({ entity, changed }: { entity?: EntityDetailResponse['entity']; changed: () => void }) {
  const { data, error, set, reload } = useLoad(
    (signal) => get<EntityMergeListResponse>('/v1/admin/entity-merges', { entity: entity?.id }, signal),
    [entity?.id, entity?.mention_count],
  );
  if (data === undefined) return <Fault error={error} retry={reload} />;
  // A rejected pair is stored as a merge that was undone at once.
  const merges = data.merges.filter((each) => each.made_by !== 'user' || each.undone_at !== each.merged_at);
  if (merges.length === 0) return null;
  const split = async (id: string) => {
    try {
      await call('POST', `/v1/entities/merges/${encodeURIComponent(id)}/split`);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      reload();
      throw new Error('Already split.', { cause: error });
    }
    const undone_at = new Date().toISOString();
    set(({ merges }) => ({ merges: merges.map((each) => (each.merge_id === id ? { ...each, undone_at } : each)) }));
    dropKeptSearches();
    notify('Names split.');
    changed();
  };
  return (
    <section class="block" aria-labelledby="merges">
      <h2 id="merges">Merged names</h2>
      <p class="quiet">Names that differ only in how they are written are merged automatically.</p>
      <Rows items={merges} atOnce={20}>
        {(merge) => (
          <li key={merge.merge_id} class="row">
            <Badge kind={merge.undone_at === null ? 'plain' : 'warn'}>
              {merge.undone_at === null ? wordFor(merge.type) : 'split'}
            </Badge>
            <div class="row-main">
              <p class="row-title">
                <bdi>{merge.merged_form}</bdi> → <bdi>{merge.kept_form}</bdi>
              </p>
              {merge.made_by === 'user' && <p class="quiet">merged by you</p>}
            </div>
            <div class="row-end">
              <time dateTime={merge.merged_at}>{dateOf(merge.merged_at)}</time>
              {mayWrite() && merge.undone_at === null && (
                <ActButton class="button button-small" act={() => split(merge.merge_id)}>
                  Split
                </ActButton>
              )}
            </div>
          </li>
        )}
      </Rows>
    </section>
  );
}

const offered = 8;

/** Merges a name with one that the user chooses. The choice is the confirmation. */
function MergeDialog({ entity, onClose, merged }: { entity: EntitySummary; onClose: () => void; merged: () => void }) {
  const [wanted, setWanted] = useState('');
  const { busy, said, attempt } = useAttempt();
  const q = wanted.trim();
  const { data, error, reload } = useLoad(
    (signal) => get<EntityListResponse>('/v1/entities', { q, type: entity.type, limit: offered + 1 }, signal),
    [],
    [q === '' ? null : q],
  );
  const others = q === '' ? [] : (data?.entities ?? []).filter(({ id }) => id !== entity.id).slice(0, offered);
  const merge = (other: EntitySummary) =>
    attempt(async () => {
      const path = `/v1/entities/${encodeURIComponent(entity.id)}/merge`;
      const { kept_form } = await call<EntityMergeResponse>('POST', path, { body: { with: other.id } });
      notify(`Merged into ${isolated(kept_form)}.`);
      dropKeptSearches();
      onClose();
      merged();
    });
  return (
    <Dialog title={`Merge “${isolated(entity.canonical_form)}” with…`} onClose={busy ? null : onClose}>
      <div class="stack">
        <label class="field">
          <span>Other name of the same kind</span>
          <input
            type="search"
            class="input"
            maxLength={200}
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </label>
        <ul class="tags" aria-label="Names to merge with" aria-live="polite">
          {others.map((other) => (
            <li key={other.id}>
              <button type="button" class="tag" disabled={busy} onClick={() => merge(other)}>
                <bdi>{other.canonical_form}</bdi> <span class="numbers quiet">{count(other.page_count)}</span>
              </button>
            </li>
          ))}
        </ul>
        {q !== '' && <Fault error={error} retry={reload} />}
        {q !== '' && error === undefined && data !== undefined && others.length === 0 && (
          <p class="quiet">No matching name.</p>
        )}
        <FormFault said={said} />
        <p class="quiet">Either name then finds the pages of both. You can split them again at any time.</p>
      </div>
    </Dialog>
  );
}

const pagesAtOnce = 40;

function NamePages({ reference }: { reference: string }) {
  const [shown, setShown] = useKept('shown', pagesAtOnce);
  const [isMerging, setMerging] = useState(false);
  const { data, error, reload } = useLoad(
    (signal) => get<EntityDetailResponse>(`/v1/entities/${encodeURIComponent(reference)}`, {}, signal),
    [reference],
  );
  const pages = useLoad(
    async (signal) => {
      const asked = (data?.page_ids ?? []).slice(0, shown).map((id) => pageOf(id, signal));
      return (await Promise.all(asked)).filter((page) => page !== null);
    },
    [data?.page_ids.join(' ') ?? null],
    [shown],
  );
  const isGone = error instanceof ApiError && error.status === 404;
  useTitle(isGone ? 'Name not found' : data?.entity.canonical_form);
  if (isGone) {
    return (
      <Empty icon="names" title="No page mentions this name" isView>
        <p>
          <a href={linkTo('names')}>All names</a>
        </p>
        <p>
          <a href={linkTo('search', '', { q: reference })}>Search for the words instead</a>
        </p>
      </Empty>
    );
  }
  if (data === undefined) return <Waiting error={error} retry={reload} />;
  const { entity, aliases } = data;
  const others = aliases.filter((alias) => alias !== entity.canonical_form);
  return (
    <div class="view">
      <p class="crumb">
        <a href={linkTo('names')}>Names</a>
      </p>
      <ViewHead
        title={entity.canonical_form}
        lead={`${wordFor(entity.type)} · ${many(entity.mention_count, 'mention')} in ${many(entity.page_count, 'page')}${others.length > 0 ? ` · also ${others.slice(0, 8).join(', ')}` : ''}`}
      >
        {mayWrite() && (
          <button type="button" class="button" onClick={() => setMerging(true)}>
            Merge with…
          </button>
        )}
        <a
          class="button"
          href={linkTo('search', '', { q: entity.canonical_form, name: entity.id, 'name-text': entity.canonical_form })}
        >
          <Icon name="search" />
          Search within
        </a>
      </ViewHead>
      {isMerging && <MergeDialog entity={entity} onClose={() => setMerging(false)} merged={reload} />}
      <Fault error={pages.error} retry={pages.reload} />
      <ul class="page-list">
        {pages.data?.map((page) => (
          <PageRow key={page.page_id} page={page} domain={page.domain}>
            <time dateTime={page.last_seen_at}>{dateOf(page.last_seen_at)}</time>
          </PageRow>
        ))}
      </ul>
      {pages.data !== undefined && shown < data.page_ids.length && (
        <button type="button" class="button" disabled={pages.loading} onClick={() => setShown(shown + pagesAtOnce)}>
          More of {count(data.page_ids.length)}
        </button>
      )}
      <Merges entity={entity} changed={reload} />
    </div>
  );
}
