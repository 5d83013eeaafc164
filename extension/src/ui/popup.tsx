/** The popup: connection, the page's state, related pages, and search. Also the side panel, and a separate page for searches from the menu. */
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageResult } from '../../../src/domain/search.ts';
import { pageAddress } from '../capture/page-address.ts';
import { ask, askTab, type CaptureOutcome, type PageState } from '../messages.ts';
import type { SendState } from '../queue/database.ts';
import { problemKindOf } from '../queue/send.ts';
import { captureModeOf } from '../rules/capture-mode.ts';
import { siteOf } from '../rules/decide.ts';
import { type Outcome, ServiceClient } from '../service/client.ts';
import type { Connection } from '../service/connection.ts';
import { readSettings, type Settings } from '../settings.ts';
import { Annotations } from './annotations.tsx';
import {
  dateOf,
  describeDocument,
  Notice,
  numberOf,
  outcomeText,
  Results,
  refusalText,
  ruleText,
  t,
  useLoaded,
} from './parts.tsx';
import { SearchBox } from './search-box.tsx';

const hourMs = 3600_000;
const maxRelated = 3;

interface Tab {
  id: number;
  windowId: number;
  url: string;
  title: string;
  about: string;
  /** Whether it shows a secret field, or may show one. */
  secretField: boolean;
  /** Reported by its content script. */
  outcome: CaptureOutcome | null;
}

const parameters = new URLSearchParams(location.search);
/** It stays open, and follows the tab that is shown. */
const isPanel = document.body.classList.contains('panel');

/** Null for a separate search page, and on browser pages. */
async function currentTab(): Promise<Tab | null> {
  if (parameters.has('search')) return null;
  const given = Number(parameters.get('tab'));
  const tab =
    given > 0 ? await chrome.tabs.get(given) : (await chrome.tabs.query({ active: true, currentWindow: true }))[0];
  if (tab?.id === undefined) return null;
  const here = await askTab(tab.id, 'where');
  const url = here?.url ?? tab.url ?? '';
  if (!/^https?:/.test(url)) return null;
  const { title = tab.title ?? '', about = '', outcome = null } = here ?? {};
  const secretField = here?.secretField ?? captureModeOf(url) === 'html';
  return { id: tab.id, windowId: tab.windowId, url, title, about, secretField, outcome };
}

const openedAt = Date.now();

/** Whether a newer answer of the service disproves the last problem. */
const isDisproved = ({ problem, notedAt }: SendState, now: Outcome<unknown> | undefined): boolean =>
  now?.problem === null && notedAt < openedAt && (problem?.kind === 'unreachable' || problem?.kind === 'unauthorized');

/** The last or current problem of sending. */
function connectionOf(
  before: SendState,
  now: Outcome<unknown> | undefined,
  connection: Connection,
): { kind: 'good' | 'warn' | 'bad'; text: string } {
  const past = isDisproved(before, now) ? null : before.problem?.kind;
  const problem = past ?? (now === undefined || now.problem === null ? null : problemKindOf[now.problem]);
  if (problem === null) return { kind: 'good', text: t('connected', connection.library ?? connection.name) };
  const severe = problem === 'unauthorized' || problem === 'forbidden' || problem === 'full';
  return { kind: severe ? 'bad' : 'warn', text: t(`problem_${problem}`) };
}

function stateText(
  { exclusion, item, sent }: PageState,
  { outcome }: Tab,
): { kind: 'good' | 'warn' | 'quiet' | 'bad'; text: string } {
  if (item?.state === 'refused') return { kind: 'bad', text: t('page_refused', refusalText(item.reason)) };
  if (item) return { kind: 'warn', text: t('page_queued') };
  if (exclusion) return { kind: 'quiet', text: ruleText(exclusion) };
  if (sent) return { kind: 'good', text: t('page_sent', dateOf(sent.visitedAt)) };
  if (outcome?.outcome === 'excluded' && outcome.rule.rule === 'secret_field')
    return { kind: 'quiet', text: outcomeText(outcome) };
  if (outcome?.outcome === 'no_room' || outcome?.outcome === 'failed')
    return { kind: 'bad', text: outcomeText(outcome) };
  return { kind: 'quiet', text: t('page_not_yet') };
}

/** The result of a click, for display. */
interface Said {
  kind: 'good' | 'bad';
  text: string;
}

const focus = (button: HTMLButtonElement | null) => button?.focus();

function Undo({ state, tab, done }: { state: PageState; tab: Tab; done: () => void }) {
  const { exclusion, item } = state;
  const site = siteOf(tab.url);
  const click = (work: () => Promise<unknown>) => () => void work().then(done);
  if (item) {
    return (
      <button type="button" onClick={click(() => ask('deleteItem', { id: item.id }))}>
        {t('undo_queued')}
      </button>
    );
  }
  if (exclusion?.rule === 'paused') {
    return (
      <button type="button" onClick={click(() => ask('changeSettings', { pausedUntil: null }))}>
        {t('resume')}
      </button>
    );
  }
  if (site !== null && isOverruled(state)) {
    return (
      <button type="button" onClick={click(() => ask('switchSite', { site, to: 'on' }))}>
        {t('allow_site', site)}
      </button>
    );
  }
  return null;
}

/** A site excluded by the lists is not "switched off"; `Undo` allows it. */
const isOverruled = ({ exclusion }: PageState): boolean =>
  exclusion?.rule === 'local' || exclusion?.rule === 'kind' || exclusion?.rule === 'only_allowed';

function SiteSwitch({ site, settings, done }: { site: string; settings: Settings; done: () => void }) {
  const [on, setOn] = useState(settings.sites[site] !== 'off');
  const turn = (to: boolean) => {
    setOn(to);
    void ask('switchSite', { site, to: to ? null : 'off' }).then(done);
  };
  return (
    <label class="switch">
      <input type="checkbox" checked={on} onChange={({ currentTarget }) => turn(currentTarget.checked)} />
      {t('capture_site', site)}
    </label>
  );
}

function Forget({ tab, done }: { tab: Tab; done: (said: Said) => void }) {
  const [asking, setAsking] = useState<'page' | 'site' | null>(null);
  const [busy, setBusy] = useState(false);
  const wasAsked = useRef(false);
  const site = siteOf(tab.url) ?? '';
  const question = (about: 'page' | 'site') => () => {
    wasAsked.current = true;
    setAsking(about);
  };
  const forget = async () => {
    setBusy(true);
    const target = asking === 'site' ? { domain: site } : { url: pageAddress(tab.url) };
    const failed = (why: string): Said => ({ kind: 'bad', text: t('forget_failed', why) });
    const said = await ask('forget', target).then(
      (answer): Said =>
        'pages' in answer ? { kind: 'good', text: t('forgotten', numberOf(answer.pages)) } : failed(answer.problem),
      (error: unknown) => failed(String(error)),
    );
    setBusy(false);
    setAsking(null);
    done(said);
  };
  if (asking !== null) {
    return (
      <div key="question" class="confirm" role="alertdialog" aria-label={t('forget')}>
        <p>{asking === 'site' ? t('forget_site_sure', site) : t('forget_page_sure')}</p>
        <button type="button" class="danger" disabled={busy} onClick={() => void forget()}>
          {t('forget')}
        </button>
        <button type="button" ref={focus} disabled={busy} onClick={() => setAsking(null)}>
          {t('cancel')}
        </button>
      </div>
    );
  }
  return (
    <div key="choice" class="row">
      <button type="button" class="plain" ref={wasAsked.current ? focus : null} onClick={question('page')}>
        {t('forget_page')}
      </button>
      <button type="button" class="plain" onClick={question('site')}>
        {t('forget_site', site)}
      </button>
    </div>
  );
}

/** Whether the service may know of this page. For excluded pages neither address nor title is sent. */
function mayTell({ exclusion }: PageState, { secretField, outcome }: Tab): boolean {
  return (exclusion === null || exclusion.rule === 'paused') && !secretField && outcome?.outcome !== 'excluded';
}

function ThisPage({
  tab,
  client,
  state,
  settings,
  changed,
}: {
  tab: Tab;
  client: ServiceClient;
  state: PageState;
  settings: Settings;
  changed: () => void;
}) {
  const [said, setSaid] = useState<Said | null>(null);
  const page = useLoaded(
    async () => (mayTell(state, tab) ? client.pageOf(pageAddress(tab.url)) : null),
    [tab.url, state],
  );
  const known = page && page.problem === null ? page.body.pages.at(0) : undefined;
  // A parent domain's switch includes its subdomains.
  const site = state.exclusion?.rule === 'site' ? state.exclusion.site : siteOf(tab.url);
  const { kind, text } = stateText(state, tab);
  const done = (words: Said | null) => {
    setSaid(words);
    changed();
  };
  const save = async () => {
    const failed: CaptureOutcome = { outcome: 'failed' };
    const outcome = await ask('saveTab', { tabId: tab.id, url: tab.url, title: tab.title }).catch(() => failed);
    const isSaved = outcome.outcome === 'queued' || outcome.outcome === 'same_visit';
    done({ kind: isSaved ? 'good' : 'bad', text: outcomeText(outcome) });
  };
  return (
    <section class="card" aria-label={t('this_page')}>
      <h2>{tab.title || tab.url}</h2>
      <Notice kind={kind}>{text}</Notice>
      {mayTell(state, tab) && (
        <p class="visits">
          {known &&
            (known.visit_count === 1
              ? t('read_once', dateOf(known.first_seen_at))
              : t('read_times', numberOf(known.visit_count), dateOf(known.first_seen_at)))}
        </p>
      )}
      {said !== null && <Notice kind={said.kind}>{said.text}</Notice>}
      <div class="row">
        {!state.item && (
          <button type="button" class="main" onClick={() => void save()}>
            {t('save_now')}
          </button>
        )}
        <Undo state={state} tab={tab} done={() => done(null)} />
      </div>
      {site !== null && !isOverruled(state) && (
        <SiteSwitch key={site} site={site} settings={settings} done={() => done(null)} />
      )}
      <Forget tab={tab} done={done} />
    </section>
  );
}

/** Removes highlights of generated queries, which would cover the text. */
const withoutMarks = (result: PageResult): PageResult => ({
  ...result,
  chunks: result.chunks.map((chunk) => ({ ...chunk, highlights: [] })),
});

function Related({ tab, client }: { tab: Tab; client: ServiceClient }) {
  const answer = useLoaded(() => client.search(`${tab.title || tab.url} ${tab.about}`, maxRelated + 1), [tab.url]);
  if (answer?.problem !== null) return null;
  const others = answer.body.results.filter(
    ({ canonical_url, title }) => canonical_url !== tab.url && title !== tab.title,
  );
  if (others.length === 0) return null;
  return (
    <section aria-label={t('related')}>
      <h2>{t('related')}</h2>
      <Results results={others.slice(0, maxRelated).map(withoutMarks)} label={t('related')} />
    </section>
  );
}

function Pause({ settings, changed }: { settings: Settings; changed: () => void }) {
  const pause = (pausedUntil: Settings['pausedUntil']) => void ask('changeSettings', { pausedUntil }).then(changed);
  const { pausedUntil } = settings;
  if (pausedUntil === 'forever' || (pausedUntil !== null && pausedUntil > Date.now())) {
    return (
      <button type="button" onClick={() => pause(null)}>
        {t('resume')}
      </button>
    );
  }
  return (
    <>
      <button type="button" onClick={() => pause(Date.now() + hourMs)}>
        {t('pause_hour')}
      </button>
      <button type="button" onClick={() => pause('forever')}>
        {t('pause')}
      </button>
    </>
  );
}

async function openPanel({ windowId }: Tab): Promise<void> {
  await chrome.sidePanel.open({ windowId });
  close();
}

function Popup() {
  const [changes, setChanges] = useState(0);
  const changed = () => setChanges((n) => n + 1);
  useEffect(() => {
    if (!isPanel) return;
    chrome.tabs.onActivated.addListener(changed);
    chrome.tabs.onUpdated.addListener((_id, { status }) => status === 'complete' && changed());
  }, []);
  const loaded = useLoaded(async () => {
    const [connection, tab, settings] = await Promise.all([ask('connection', null), currentTab(), readSettings()]);
    const state = tab === null ? undefined : await ask('pageState', { url: tab.url });
    const queue = state ?? (await ask('queueOverview', null));
    return { connection, tab, settings, state, queue, client: connection && new ServiceClient(connection) };
  }, [changes]);
  const reached = useLoaded(async () => {
    const answer = await loaded?.client?.whoami();
    // If it fails again, the failure is recorded and not retried here.
    if (loaded && isDisproved(loaded.queue.send, answer)) void ask('sendNow', null).then(changed);
    return answer;
  }, [loaded]);
  if (loaded === undefined) return null;
  const { connection, tab, settings, state, queue, client } = loaded;
  if (connection === null || client === null) {
    return (
      <main>
        <h1 class="unseen">readback</h1>
        <Notice kind="bad">{t('not_paired')}</Notice>
        <a class="button main" href="welcome.html" target="_blank" rel="noopener">
          {t('pair_now')}
        </a>
      </main>
    );
  }
  const { kind, text } = connectionOf(queue.send, reached, connection);
  return (
    <main>
      <h1 class="unseen">readback</h1>
      <header>
        <Notice kind={kind}>{text}</Notice>
        {queue.totals.items > 0 && (
          <a href="options.html#queue" target="_blank" rel="noopener">
            {t('in_queue', numberOf(queue.totals.items))}
          </a>
        )}
      </header>
      <SearchBox client={client} initial={parameters.get('search') ?? ''} />
      {tab && state && <ThisPage tab={tab} client={client} state={state} settings={settings} changed={changed} />}
      <footer>
        <Pause settings={settings} changed={changed} />
        {tab && !isPanel && 'sidePanel' in chrome && (
          <button type="button" onClick={() => void openPanel(tab)}>
            {t('side_panel')}
          </button>
        )}
        <a href="options.html" target="_blank" rel="noopener">
          {t('options')}
        </a>
      </footer>
      {/* These come last, for they come late: nothing that is clicked on moves. */}
      {tab && state && mayTell(state, tab) && <Annotations url={pageAddress(tab.url)} client={client} again={loaded} />}
      {tab && state && mayTell(state, tab) && <Related tab={tab} client={client} />}
    </main>
  );
}

describeDocument('readback');
render(<Popup />, document.getElementById('app') as HTMLElement);
