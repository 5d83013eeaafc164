/** The content script: detects whether the page is read, and sends it once. Idle while hidden. Keeps only the state of the current view. */
import { ask, type CaptureOutcome, type Envelope } from '../messages.ts';
import { pageAddress } from './page-address.ts';
import { pageTitle } from './page-title.ts';
import { readingRule } from './reading-rule.ts';
import { type ReadingRule, ReadingTimer } from './reading-timer.ts';
import { type Limits, mayAskForSecret, type Serialized, serialize } from './serialize.ts';
import { withoutNames } from './without-names.ts';

/**
 * The service's limits: three bytes a unit stay below the 16 MiB of a body (docs/api.md), and below the 400,000
 * elements and 800,000 nodes of src/compute/extraction/parse-page.ts.
 */
const limits: Limits = { units: 5_000_000, elements: 390_000, nodes: 780_000 };
/** Max blocking time of serializing, ms. */
const sliceMs = 4;
/** Max wait for an idle page, ms. */
const longestIdleMs = 200;
const stepMs = 1000;
/** Max tries while a page changes during capture. The last is kept, although its parts may differ in age. */
const maxTries = 5;
/** The background program's limit. */
const longestTitle = 1000;
/** Max elements of a kind that are considered for a title. */
const maxTitles = 10;
/** A page shorter than this many windows counts as read by time alone. */
const minWindows = 1.5;

/** A page can clear our `setTimeout`, since timer numbers are shared. */
declare const scheduler: {
  postTask(work: () => void, options: { delay?: number; signal?: AbortSignal }): Promise<void>;
};

const page = withoutNames(document);

class View {
  readonly timer: ReadingTimer;
  readonly address = pageAddress(location.href);
  /** Captured, excluded or in progress: nothing more to do for this view. */
  settled = false;
  outcome: CaptureOutcome | null = null;
  /** Wait before the next try, ms; doubles after a failure. */
  retryMs = stepMs;
  notBefore = 0;

  /** `before`: the view before the address changed. */
  constructor(before?: View) {
    this.timer = new ReadingTimer(Date.now(), before?.timer);
  }
}

let view = new View();
let following: AbortController | undefined;
let rule: ReadingRule | undefined;
/** Whether the page was scrolled since the last step. */
let hasScrolled = false;

/** Live lists: scanning a large page each second would block it. */
const medias = (['video', 'audio'] as const).map((name) => page.getElementsByTagName(name));

const mediaPlaying = (): boolean =>
  medias.some((list) => [...list].some(({ paused, ended, muted }) => !paused && !ended && !muted));

/** The next idle time, or soon. */
const nextSlice = (): Promise<void> =>
  new Promise((resolve) => {
    requestIdleCallback(() => resolve());
    void scheduler.postTask(resolve, { delay: longestIdleMs });
  });

/** Looked up lazily, for faster page loads. Firefox has an element property instead. */
let chromiumDom: typeof chrome.dom | undefined;
/** Closed roots are only checked for secret fields. */
function rootOf(element: Element): ShadowRoot | null {
  if ('openOrClosedShadowRoot' in element) return element.openOrClosedShadowRoot as ShadowRoot | null; // Firefox
  chromiumDom ??= chrome.dom;
  return chromiumDom.openOrClosedShadowRoot(element as HTMLElement);
}

async function serializeInSlices(): Promise<Serialized> {
  const work = serialize(document, limits, rootOf);
  for (;;) {
    await nextSlice();
    const until = performance.now() + sliceMs;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < until);
  }
}

/** Null if the page changed meanwhile. A rewritten page (`document.open`) restarts it, a limited number of times. */
async function serializeShown(of: View): Promise<Serialized | null> {
  for (let tries = 1; ; tries++) {
    const { body } = page;
    const serialized = await serializeInSlices();
    if (pageAddress(location.href) !== of.address) return null;
    if (page.body === body || tries === maxTries) return serialized;
  }
}

function titleNow(): string {
  const first = (selector: string) => Array.from(page.querySelectorAll(selector)).slice(0, maxTitles);
  const named = (name: string) =>
    first(`meta[property="${name}"], meta[name="${name}"]`).map((meta) => meta.getAttribute('content') ?? '');
  const loaded = performance.getEntriesByType('navigation')[0]?.name ?? location.href;
  const title = pageTitle({
    title: page.title,
    shared: named('og:title'),
    siteName: named('og:site_name')[0] ?? '',
    sharedAddress: named('og:url')[0] ?? '',
    headings: first('h1').map(({ textContent }) => (textContent ?? '').slice(0, longestTitle)),
    address: location.href,
    hasMoved: pageAddress(loaded) !== pageAddress(location.href),
  });
  return title.slice(0, longestTitle);
}

function metadataOf(of: View, serialized: Serialized | null): Record<string, string | number | boolean> {
  const language = page.documentElement?.lang;
  const canonical = page.querySelector<HTMLLinkElement>('link[rel="canonical"]')?.href;
  return {
    active_seconds: Math.round(of.timer.activeMs / 1000),
    ...(language && { language: language.slice(0, 50) }),
    ...(canonical && { canonical_link: canonical.slice(0, 2000) }),
    ...(serialized?.cut && { cut: true }),
  };
}

/** Send the tab's page; null if the page changed meanwhile. */
async function capture(of: View, byHand: boolean): Promise<CaptureOutcome | null> {
  const url = of.address;
  const answer = await ask('mayCapture', { url, byHand });
  if (!('allowed' in answer)) return answer;
  const isText = answer.allowed === 'html' && page.contentType !== 'application/pdf';
  const serialized = isText ? await serializeShown(of) : null;
  if (isText && serialized === null) return null;
  if (serialized?.secretField) return { outcome: 'excluded', rule: { rule: 'secret_field' } };
  const metadata = metadataOf(of, serialized);
  const html = serialized?.html ?? null;
  const title = titleNow();
  return ask('captured', { url, title, visitedAt: of.timer.startedAt, html, metadata, byHand });
}

async function settleRead(of: View): Promise<void> {
  of.settled = true;
  try {
    of.outcome = await capture(of, false);
  } catch {
    // The background program was replaced or could not store: try again. After an extension update nothing answers.
    if (chrome.runtime?.id === undefined) stop();
    of.settled = false;
    of.outcome = { outcome: 'failed' };
    of.retryMs *= 2;
    of.notBefore = Date.now() + of.retryMs;
  }
}

/** A new address is a new view. The change does not count as user activity. */
function followAddress(): void {
  if (pageAddress(location.href) !== view.address) view = new View(view);
}

async function step(): Promise<void> {
  followAddress();
  const of = view;
  // A page may temporarily have no elements.
  if (of.settled || page.documentElement === null) return;
  of.timer.step(Date.now(), {
    visible: page.visibilityState === 'visible',
    focused: page.hasFocus(),
    mediaPlaying: mediaPlaying(),
  });
  if (hasScrolled) noteScrolled(of);
  rule ??= await readingRule();
  if (!of.settled && Date.now() >= of.notBefore && of.timer.isRead(rule)) await settleRead(of);
}

/** The page's self-description, to find related pages. */
function aboutPage(): string {
  const description = page.querySelector('meta[name="description"]')?.getAttribute('content');
  return (description ?? page.querySelector('article p, main p')?.textContent ?? '').trim().slice(0, 300);
}

function stop(): void {
  following?.abort();
  following = undefined;
}

/** Runs steps while the page is visible, with the settings of that time. */
async function follow(): Promise<void> {
  stop();
  rule = undefined;
  if (page.visibilityState !== 'visible') return;
  following = new AbortController();
  const { signal } = following;
  while (!signal.aborted) {
    await scheduler.postTask(() => void step().catch(stop), { delay: stepMs, signal }).catch(() => undefined); // the end
  }
}

/** Measured per step: measuring per event would force layouts. */
function noteScrolled(of: View): void {
  hasScrolled = false;
  const { scrollHeight } = page.documentElement;
  if (scrollHeight >= minWindows * innerHeight) of.timer.scrolled((scrollY + innerHeight) / scrollHeight);
}

const active = () => view.timer.activity(Date.now());
const heard: Record<string, (event: Event) => void> = {
  keydown: active,
  pointermove: active,
  pointerdown: active,
  wheel: active,
  touchmove: active,
  scroll: () => {
    if (view.timer.scrolling(Date.now())) hasScrolled = true;
  },
  visibilitychange: follow,
  // Restored from the page cache: a new view.
  pageshow: (event) => {
    if ((event as PageTransitionEvent).persisted) view = new View();
  },
};

/** Only trusted events count, because pages may dispatch synthetic ones. */
const hear = (event: Event) => {
  if (event.isTrusted) heard[event.type](event);
};

/** Idempotent; `document.open` removes all listeners. */
function listen(): void {
  for (const name of Object.keys(heard)) addEventListener(name, hear, { passive: true, capture: true });
}

function start(): void {
  listen();
  new MutationObserver(listen).observe(document, { childList: true });
  chrome.runtime.onMessage.addListener((message: Envelope, _sender, answer) => {
    followAddress();
    if (message.name === 'where') {
      const secretField = mayAskForSecret(document, rootOf);
      answer({ url: location.href, title: titleNow(), about: aboutPage(), secretField, outcome: view.outcome });
    }
    if (message.name !== 'captureNow') return false;
    const failed: CaptureOutcome = { outcome: 'failed' };
    capture(view, true).then(
      (outcome) => answer(outcome ?? failed),
      () => answer(failed),
    );
    return true;
  });
  void follow();
}

// Saving by hand injects the script into tabs older than the installation. An element of this name proves nothing.
const isThere = 'readbackCaptures';
if (!Object.hasOwn(globalThis, isThere)) {
  Object.defineProperty(globalThis, isThere, { value: true });
  start();
}
