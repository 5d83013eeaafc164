/**
 * The background program: a service worker in Chromium, an event page in Firefox. It owns the database and the icon and
 * answers the other parts. The browser may stop it at any time, so pending work is a row and an alarm.
 */

import { pageAddress } from './capture/page-address.ts';
import { type EngineName, engineQueryOf, engines, originsOf } from './engines/engines.ts';
import { browserSources, continueImport, pauseImport, startImport } from './import/import-browser.ts';
import {
  askTab,
  type CapturedPage,
  type CaptureOutcome,
  type Envelope,
  type MessageName,
  type OwnMatch,
  type PageState,
  type QueueOverview,
  type Reply,
  type Request,
} from './messages.ts';
import { linkToPassage, openLink, readingSuggestions } from './omnibox.ts';
import { getMeta, type ItemState, keepOpen, noSendState, noTotals, type SendState } from './queue/database.ts';
import {
  addRule,
  changeConnection,
  clearFailures,
  deleteItems,
  deleteTraces,
  dropOldVisits,
  enqueue,
  keepRules,
  retryItem,
} from './queue/queue.ts';
import { sendQueue } from './queue/send.ts';
import { captureModeOf } from './rules/capture-mode.ts';
import { type BlacklistRule, canonicalAddress, exclusionOf, isNamedBy, type RuleContext } from './rules/decide.ts';
import { ServiceClient } from './service/client.ts';
import type { Connection } from './service/connection.ts';
import { changeSettings, isPaused, readSettings, switchSite } from './settings.ts';

/** Minutes between two reads of the block list. */
const syncMinutes = 60;
/** Min retry time after a stop, minutes: the browsers' minimum. */
const retryMinutes = 0.5;
/** Max rows of each kind on the options page. */
const listed = 100;
const longestTitle = 1000;

const database = keepOpen();

async function rules(byHand = false): Promise<RuleContext> {
  const [settings, synced] = await Promise.all([readSettings(), database().then((db) => getMeta(db, 'blacklist'))]);
  return { settings, blacklist: synced?.rules ?? [], now: Date.now(), byHand };
}

const readConnection = async (): Promise<Connection | null> => (await getMeta(await database(), 'connection')) ?? null;

/** Aborts requests when the connection changes. */
let leaving = new AbortController();

async function client(): Promise<ServiceClient | null> {
  const connection = await readConnection();
  return connection === null ? null : new ServiceClient(connection, leaving.signal);
}

const mayImport = async (): Promise<boolean> => {
  const [settings, state] = await Promise.all([readSettings(), database().then((db) => getMeta(db, 'import'))]);
  return state?.status !== 'paused' && !isPaused(settings, Date.now());
};

/** Repeats until a run ends, because a run may take longer than the alarm, and be stopped. */
const keepSending = (): Promise<void> =>
  chrome.alarms.create('send', { delayInMinutes: retryMinutes, periodInMinutes: retryMinutes });

/** A lock for sending a batch, deleting items and changing the connection. */
const undisturbed = <Result>(work: () => Promise<Result>): Promise<Result> => navigator.locks.request('batch', work);

/** Send waiting items; concurrent callers share one run. */
async function send(): Promise<SendState | null> {
  return navigator.locks.request('send', async () => {
    await keepSending();
    const db = await database();
    const by = { client, now: Date.now, random: Math.random, imports: mayImport, undisturbed };
    let state: SendState | null = null;
    for (let more = true; more && state === null && (await readConnection()) !== null; ) {
      more = await continueImport(db, browserSources, rules);
      state = await sendQueue({ database: db, ...by });
    }
    if (state === null) await chrome.alarms.clear('send');
    else await chrome.alarms.create('send', { when: Math.max(state.notBefore, Date.now() + retryMinutes * 60_000) });
    await showState();
    return state;
  });
}

/** Start without waiting: the alarm retries failures. */
function sendSoon(): void {
  send().catch((error: unknown) => console.warn('sending was ended', error));
}

async function showState(): Promise<void> {
  const [connection, state, settings] = await Promise.all([
    readConnection(),
    database().then((db) => getMeta(db, 'send')),
    readSettings(),
  ]);
  const kind = state?.problem?.kind;
  const alarming = connection === null || kind === 'unauthorized' || kind === 'forbidden' || kind === 'full';
  const { pausedUntil } = settings;
  const paused = isPaused(settings, Date.now());
  if (paused && typeof pausedUntil === 'number') await chrome.alarms.create('resumed', { when: pausedUntil });
  await chrome.action.setBadgeText({ text: alarming ? '!' : paused ? 'II' : '' });
  await chrome.action.setBadgeBackgroundColor({ color: alarming ? '#b3261e' : '#6b6b6b' });
}

/** Rules added by this worker: an earlier answer may lack them. */
let rulesAdded = 0;

async function syncRules(): Promise<boolean> {
  const [asked, db] = await Promise.all([readConnection(), database()]);
  if (asked === null) return false;
  const known = rulesAdded;
  const answer = await new ServiceClient(asked, leaving.signal).blacklist();
  if (answer.problem !== null) return false;
  const entries = answer.body.entries.map(({ kind, pattern }) => ({ kind, pattern }));
  if (known !== rulesAdded) return syncRules();
  return keepRules(db, asked, entries, Date.now());
}

async function captured(page: CapturedPage): Promise<CaptureOutcome> {
  if ((await readConnection()) === null) return { outcome: 'not_paired' };
  const context = await rules(page.byHand);
  const rule = exclusionOf(page.url, context);
  const canonical = canonicalAddress(page.url)?.url;
  if (rule !== null) return { outcome: 'excluded', rule };
  if (canonical === undefined) return { outcome: 'excluded', rule: { rule: 'scheme' } };
  const { html, metadata } = page;
  const url = pageAddress(page.url);
  // A compromised page process may send anything.
  const visitedAt = page.visitedAt >= 0 && page.visitedAt <= context.now ? Math.floor(page.visitedAt) : context.now;
  const title = page.title.slice(0, longestTitle).toWellFormed();
  const outcome = await enqueue(
    await database(),
    { url, canonical, title, visitedAt, html, metadata },
    { now: context.now, maxMegabytes: context.settings.queueMegabytes },
  );
  if (outcome === 'queued') {
    await keepSending();
    sendSoon();
  }
  return { outcome };
}

async function saveTab({ tabId, url, title }: Request<'saveTab'>): Promise<CaptureOutcome> {
  const here = await askTab(tabId, 'captureNow');
  if (here !== null) return here;
  const injected = await chrome.scripting.executeScript({ target: { tabId }, files: ['content.js'] }).then(
    () => true,
    () => false, // extensions have no access to the page, such as the browser's PDF viewer
  );
  if (injected) return (await askTab(tabId, 'captureNow')) ?? { outcome: 'failed' };
  return captured({ url, title, visitedAt: Date.now(), html: null, metadata: {}, byHand: true });
}

async function pageState(url: string): Promise<PageState> {
  const db = await database();
  const canonical = canonicalAddress(url)?.url ?? '';
  const [connection, context, items, log, totals, state] = await Promise.all([
    readConnection(),
    rules(),
    db.getAllFromIndex('items', 'canonical', canonical),
    db.getAll('log'),
    getMeta(db, 'totals'),
    getMeta(db, 'send'),
  ]);
  const item = items.at(-1);
  return {
    paired: connection !== null,
    exclusion: exclusionOf(url, context),
    item: item ? { id: item.id, state: item.state, reason: item.reason, visitedAt: item.visitedAt } : null,
    sent:
      log.findLast(({ url, outcome }) => outcome !== 'blacklisted' && canonicalAddress(url)?.url === canonical) ?? null,
    totals: totals ?? noTotals,
    send: state ?? noSendState,
  };
}

async function queueOverview(): Promise<QueueOverview> {
  const db = await database();
  const of = (state: ItemState) => IDBKeyRange.bound([state, 0, 0], [state, 9, Number.MAX_SAFE_INTEGER]);
  const count = (state: ItemState) => db.countFromIndex('items', 'order', of(state));
  const some = (state: ItemState) => db.getAllFromIndex('items', 'order', of(state), listed);
  const [totals, state, waiting, refused, refusedItems, waitingItems, log] = await Promise.all([
    getMeta(db, 'totals'),
    getMeta(db, 'send'),
    count('waiting'),
    count('refused'),
    some('refused'),
    some('waiting'),
    db.getAll('log'),
  ]);
  return {
    totals: totals ?? noTotals,
    send: state ?? noSendState,
    counts: { waiting, refused },
    items: [...refusedItems, ...waitingItems],
    log: log.reverse().slice(0, listed),
  };
}

/** Own matches on result pages: their maximum number and minimum relevance (docs/models.md, "Relevance"). */
const maxMatches = 3;
const leastRelevance = 0.5;
const engineScript = 'engines';

async function ownMatches(url: string): Promise<OwnMatch[]> {
  const [settings, service] = await Promise.all([readSettings(), client()]);
  const query = engineQueryOf(url, settings.engines);
  if (query === null || service === null || isPaused(settings, Date.now())) return [];
  const answer = await service.search(query, maxMatches, { minRelevance: leastRelevance });
  if (answer.problem !== null) return [];
  const date = new Intl.DateTimeFormat(chrome.i18n.getUILanguage(), { dateStyle: 'medium' });
  return answer.body.results.map((result) => ({
    title: result.title ?? result.canonical_url,
    link: linkToPassage(result),
    site: result.domain,
    read: date.format(new Date(result.first_seen_at)),
    passage: result.chunks.at(0)?.snippet.text ?? '',
  }));
}

/** Register the box on the result pages of these engines, if permitted, and on no other page. */
async function followEngines(chosen: readonly EngineName[]): Promise<void> {
  await navigator.locks.request('engines', async () => {
    const registered = await chrome.scripting.getRegisteredContentScripts({ ids: [engineScript] });
    if (registered.length > 0) await chrome.scripting.unregisterContentScripts({ ids: [engineScript] });
    const allowed: EngineName[] = [];
    for (const name of chosen) {
      if (await chrome.permissions.contains({ origins: originsOf([name]) })) allowed.push(name);
    }
    if (allowed.length === 0) return;
    const matches = allowed.flatMap((name) =>
      engines[name].hosts.map((host) => `https://${host}${engines[name].path}*`),
    );
    await chrome.scripting.registerContentScripts([
      { id: engineScript, matches, js: ['box.js'], runAt: 'document_idle' },
    ]);
  });
}

async function forget(target: Request<'forget'>): Promise<Reply<'forget'>> {
  const service = await client();
  if (service === null) return { problem: chrome.i18n.getMessage('not_paired') };
  const answer = await service.forget(target);
  if (answer.problem !== null) return { problem: answer.detail };
  const db = await database();
  const rule: BlacklistRule =
    'url' in target
      ? { kind: 'url', pattern: canonicalAddress(target.url)?.url ?? target.url }
      : { kind: 'domain', pattern: target.domain };
  const matches = (url: string) => {
    const page = canonicalAddress(url);
    return page !== null && isNamedBy(rule, page);
  };
  rulesAdded++;
  await addRule(db, rule);
  await undisturbed(async () => {
    await deleteItems(db, ({ url }) => matches(url));
    await deleteTraces(db, matches);
  });
  void syncRules();
  return { pages: answer.body.pages_purged };
}

async function connect(made: Connection | null): Promise<void> {
  const db = await database();
  leaving.abort();
  await undisturbed(() => changeConnection(db, made)).finally(() => {
    leaving = new AbortController();
  });
  if (made !== null) void syncRules().then(sendSoon);
  await showState();
}

type Sender = chrome.runtime.MessageSender;
const handlers: { [Name in MessageName]: (request: Request<Name>, sender: Sender) => Promise<Reply<Name>> } = {
  mayCapture: async ({ url, byHand }) => {
    if ((await readConnection()) === null) return { outcome: 'not_paired' };
    const rule = exclusionOf(url, await rules(byHand));
    return rule === null ? { allowed: captureModeOf(url) } : { outcome: 'excluded', rule };
  },
  captured,
  ownMatches: async (_, { url, frameId }) => (frameId === 0 && url !== undefined ? ownMatches(url) : []),
  pageState: ({ url }) => pageState(url),
  saveTab,
  queueOverview,
  retryItem: async ({ id }) => {
    await retryItem(await database(), id);
    sendSoon();
    return null;
  },
  deleteItem: async ({ id }) => {
    const db = await database();
    return { deleted: await undisturbed(() => deleteItems(db, (item) => item.id === id)) };
  },
  sendNow: async () => {
    await clearFailures(await database());
    return send();
  },
  syncRules: async () => ({ synced: await syncRules() }),
  forget,
  connection: readConnection,
  connect: async (made) => {
    await connect(made);
    return null;
  },
  changeSettings,
  switchSite: ({ site, to }) => switchSite(site, to),
  importState: async () => (await getMeta(await database(), 'import')) ?? null,
  startImport: async ({ sources }) => {
    const state = await startImport(await database(), sources, Date.now());
    sendSoon();
    return state;
  },
  pauseImport: async ({ paused }) => {
    const state = await pauseImport(await database(), paused);
    if (!paused) sendSoon();
    return state;
  },
};

/** Whether a content script's message is about its own page; a compromised page process may send anything. */
function isOfSender(request: unknown, { url }: Sender): boolean {
  if (typeof request !== 'object' || request === null || !('url' in request)) return true;
  const { url: sent } = request;
  return (
    typeof sent === 'string' && URL.canParse(sent) && new URL(sent).origin === new URL(url ?? 'about:blank').origin
  );
}

/** Messages allowed from content scripts. All others are only for the extension's own pages. */
const askedByContent: readonly string[] = ['mayCapture', 'captured', 'ownMatches'] satisfies MessageName[];

chrome.runtime.onMessage.addListener(({ name, request }: Envelope, sender, answer) => {
  if (sender.id !== chrome.runtime.id || !Object.hasOwn(handlers, name)) return false;
  const isOwnPage = sender.url?.startsWith(chrome.runtime.getURL('')) ?? false;
  if (!isOwnPage && !(askedByContent.includes(name) && isOfSender(request, sender))) return false;
  const handle = handlers[name as MessageName] as (request: unknown, sender: Sender) => Promise<unknown>;
  handle(request, sender).then(
    (reply) => answer({ reply }),
    (error: unknown) => answer({ error: error instanceof Error ? error.message : String(error) }),
  );
  return true;
});

async function saveActiveTab(tab: chrome.tabs.Tab | undefined): Promise<void> {
  if (tab?.id === undefined) return;
  const { outcome } = await saveTab({ tabId: tab.id, url: tab.url ?? '', title: tab.title ?? '' });
  const saved = outcome === 'queued' || outcome === 'same_visit';
  await chrome.action.setBadgeText({ tabId: tab.id, text: saved ? '✓' : '✕' });
}

async function openSearch(query: string): Promise<void> {
  await chrome.tabs.create({ url: chrome.runtime.getURL(`popup.html?search=${encodeURIComponent(query)}`) });
}

chrome.commands.onCommand.addListener((command, tab) => {
  if (command === 'save-page') void saveActiveTab(tab);
});

chrome.contextMenus.onClicked.addListener((info, tab) => {
  if (info.menuItemId === 'save') void saveActiveTab(tab);
  else void openSearch(info.selectionText ?? '');
});

chrome.omnibox.onInputChanged.addListener((text, suggest) => {
  void client().then(async (service) => suggest(service === null ? [] : await readingSuggestions(service, text)));
});
chrome.omnibox.onInputEntered.addListener((text, disposition) => {
  if (/^https?:\/\//.test(text)) void openLink(text, disposition);
  else void openSearch(text);
});

const syncHourly = (): Promise<void> =>
  chrome.alarms.create('sync', { periodInMinutes: syncMinutes, delayInMinutes: 1 });

chrome.runtime.onInstalled.addListener(({ reason }) => {
  const { getMessage } = chrome.i18n;
  chrome.contextMenus.removeAll(() => {
    chrome.contextMenus.create({ id: 'search', title: getMessage('menu_search'), contexts: ['selection'] });
    chrome.contextMenus.create({ id: 'save', title: getMessage('menu_save'), contexts: ['page'] });
  });
  void syncHourly();
  void readSettings().then((present) => followEngines(present.engines));
  if (reason === 'install') void chrome.tabs.create({ url: chrome.runtime.getURL('welcome.html') });
});

chrome.runtime.onStartup.addListener(() => {
  void syncHourly(); // Firefox does not keep alarms when it closes
  sendSoon();
});

chrome.alarms.onAlarm.addListener(({ name }) => {
  if (name === 'send') sendSoon();
  if (name === 'sync') {
    void database().then((db) => dropOldVisits(db, Date.now()));
    void syncRules().then(sendSoon);
  }
  if (name === 'resumed') {
    void showState();
    sendSoon();
  }
});

chrome.storage.onChanged.addListener((changes) => {
  if (changes.settings !== undefined) {
    void readSettings().then((present) => followEngines(present.engines));
    sendSoon(); // an import stops while capturing is paused
  }
  void showState();
});
