/** The start page: recently read pages, or how to fill an empty library. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { demoDomain } from '../../../src/domain/demo.ts';
import type { DemoRemovedResponse, PageListResponse } from '../../../src/domain/page.ts';
import { call, epoch, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify, useAttempt } from '../../app/notices.tsx';
import { linkTo } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { ago, dateOf, many } from '../../ui/format.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { PageRow } from '../../ui/page-row.tsx';
import { ActButton, Badge, FormFault, Waiting } from '../../ui/parts.tsx';
import { typedAddress } from '../../ui/text.tsx';
import { KnownAddress } from '../sources/address-check.tsx';
import { SavedSearches } from './saved-searches.tsx';
import { dropKeptSearches } from './use-search.ts';

const shownPages = 12;
const lookAgainMs = 3000;
const demoQuery = 'why do tomatoes crack after heavy rain';

export function Landing() {
  const newest = useLoad((signal) => get<PageListResponse>('/v1/pages', { limit: shownPages }, signal), []);
  const { data, error, reload } = newest;
  const demo = useLoad((signal) => get<PageListResponse>('/v1/pages', { domain: demoDomain, limit: 1 }, signal), []);
  const isEmpty = data?.pages.length === 0;
  const isBusy = data?.pages.some(({ status }) => status === 'queued' || status === 'indexing') ?? false;
  useRepeat([newest, demo], lookAgainMs, isEmpty || isBusy);
  if (data === undefined) return <Waiting error={error} retry={reload} />;
  if (isEmpty) return <Welcome reload={reload} />;
  return (
    <>
      <SavedSearches />
      <section class="recent" aria-labelledby="recent">
        {demo.data !== undefined && demo.data.pages.length > 0 && (
          <DemoBar label="Remove demo pages" act={removeDemo}>
            This library contains demo pages. Search for{' '}
            <a href={linkTo('search', '', { q: demoQuery })}>{demoQuery}</a>, in any language.
          </DemoBar>
        )}
        <div class="section-head">
          <h2 id="recent">Recently added</h2>
          <a href={linkTo('time')} class="quiet-link">
            All by time
            <Icon name="chevron" />
          </a>
        </div>
        <ul class="page-list">
          {data.pages.map((page) => (
            <PageRow key={page.page_id} page={page} domain={page.domain}>
              {page.status !== 'indexed' && (
                <Badge kind={page.status === 'dead' ? 'bad' : 'live'}>{stateWords[page.status]}</Badge>
              )}
              <time dateTime={page.last_seen_at} title={dateOf(page.last_seen_at)}>
                {ago(page.last_seen_at)}
              </time>
            </PageRow>
          ))}
        </ul>
      </section>
    </>
  );
}

async function addDemo(): Promise<void> {
  await call('POST', '/v1/demo');
  epoch.value++;
}

async function removeDemo(): Promise<void> {
  const { pages_purged } = await call<DemoRemovedResponse>('DELETE', '/v1/demo');
  dropKeptSearches();
  epoch.value++;
  notify(`Deleted ${many(pages_purged, 'demo page')}`);
}

interface DemoBarProps {
  label: string;
  act: () => Promise<void>;
  children: ComponentChildren;
}

function DemoBar({ label, act, children }: DemoBarProps) {
  return (
    <div class="bar bar-fill">
      <Icon name="why" />
      <span>{children}</span>
      {mayWrite() && (
        <ActButton class="button button-small" act={act}>
          {label}
        </ActButton>
      )}
    </div>
  );
}

export const stateWords = {
  queued: 'waiting',
  indexing: 'indexing',
  indexed: 'searchable',
  failed: 'retrying soon',
  dead: 'failed',
} as const;

const ways: readonly { icon: IconName; title: string; text: string; view: string; label: string }[] = [
  {
    icon: 'file',
    title: 'Import your history',
    text: 'A browser history, bookmarks, or an export of Pocket, Instapaper, Wallabag, Readwise, Zotero and others.',
    view: 'sources',
    label: 'Import a file',
  },
  {
    icon: 'plug',
    title: 'Save what you read',
    text: 'The browser extension saves each page that you read, as you saw it.',
    view: 'system',
    label: 'Pair the extension',
  },
  {
    icon: 'sources',
    title: 'Follow feeds',
    text: 'New items of feeds, podcasts and video channels are added automatically.',
    view: 'sources',
    label: 'Add a feed',
  },
];

function Welcome({ reload }: { reload: () => void }) {
  return (
    <section class="welcome" aria-labelledby="welcome">
      <h2 id="welcome">Your library is empty</h2>
      <p class="quiet">Search finds pages by words and by meaning. Three ways to add pages:</p>
      <ul class="ways">
        {ways.map(({ icon, title, text, view, label }) => (
          <li key={title} class="card">
            <span class="empty-icon">
              <Icon name={icon} />
            </span>
            <h3>{title}</h3>
            <p class="quiet">{text}</p>
            <a class="button" href={linkTo(view)}>
              {label}
            </a>
          </li>
        ))}
      </ul>
      {mayWrite() && (
        <DemoBar label="Add demo pages" act={addDemo}>
          Or look around first, in demo pages that one click removes.
        </DemoBar>
      )}
      {mayWrite() && <AddAddress added={reload} />}
    </section>
  );
}

/** Adds one page by address; the service fetches it. */
export function AddAddress({ added, label = 'Or add one page by address' }: { added: () => void; label?: string }) {
  const [url, setUrl] = useState('');
  const [turn, setTurn] = useState(0);
  const { busy, said, attempt } = useAttempt();
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = { url: typedAddress(url), source: 'console' };
      const { revisit } = await call<{ revisit?: boolean }>('POST', '/v1/pages', { body }).finally(() =>
        setTurn((before) => before + 1),
      );
      setUrl('');
      notify(revisit ? 'You have this page: a visit was added.' : 'Added. It is being fetched and indexed.');
      added();
    });
  };
  return (
    <form class="add-address" onSubmit={submit}>
      <label class="field">
        <span>{label}</span>
        <span class="field-row">
          <input
            type="text"
            inputmode="url"
            class="input"
            required
            placeholder="https://"
            autocapitalize="off"
            spellcheck={false}
            maxLength={8192}
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          <button type="submit" class="button button-primary" aria-disabled={busy}>
            {busy ? 'Adding…' : 'Add'}
          </button>
        </span>
      </label>
      <FormFault said={said} />
      <KnownAddress typed={url} turn={turn} />
    </form>
  );
}
