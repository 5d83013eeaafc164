/**
 * The content script: watches whether the page of its tab is read, and hands it to the background program once. Does nothing while
 * the page is hidden but wait. Keeps no state but that of the present view.
 */
import { ask, type CaptureOutcome, type Envelope } from '../messages.ts';
import { pageAddress } from './page-address.ts';
import { readingRule } from './reading-rule.ts';
import { type ReadingRule, ReadingTimer } from './reading-timer.ts';
import { type Limits, mayAskForSecret, type Serialized, serialize } from './serialize.ts';
import { withoutNames } from './without-names.ts';

/**
 * What the service takes: at three bytes a unit below the 16 MiB of a body (docs/api.md), and below the 400,000 elements and 800,000 nodes
 * of src/compute/extraction/extraction-limit.ts.
 */
const limits: Limits = { units: 5_000_000, elements: 390_000, nodes: 780_000 };
/** Serialising holds the page up for so long at a time, ms. */
const sliceMs = 4;
/** A page that is never idle is asked to wait after so long, ms. */
const longestIdleMs = 200;
const stepMs = 1000;
/** Tries at a page that is rewritten while it is captured; the last is kept, though its parts may differ in age. */
const mostTries = 5;
/** As the background program cuts it. */
const longestTitle = 1000;
/** A page shorter than so many windows is read by time alone. */
const leastWindows = 1.5;

/** A page can end our `setTimeout`: its scripts share our timers' numbers. */
declare const scheduler: {
  postTask(work: () => void, options: { delay?: number; signal?: AbortSignal }): Promise<void>;
};

const page = withoutNames(document);

class View {
  readonly timer: ReadingTimer;
  readonly address = pageAddress(location.href);
  /** Captured, excluded or being captured: nothing more is to be done for this view. */
  settled = false;
  /** What came of it. */
  outcome: CaptureOutcome | null = null;
  /** After a failure the next try waits twice as long as the one before, ms. */
  retryMs = stepMs;
  notBefore = 0;

  /** `before`: the view that the page changed its address from, by itself or by a person. */
  constructor(before?: View) {
    this.timer = new ReadingTimer(Date.now(), before?.timer);
  }
}

let view = new View();
let following: AbortController | undefined;
let rule: ReadingRule | undefined;
/** Since the last step. */
let hasScrolled = false;

/** The browser keeps these lists up to date; to look through a large page each second would hold it up. */
const medias = (['video', 'audio'] as const).map((name) => page.getElementsByTagName(name));

const mediaPlaying = (): boolean =>
  medias.some((list) => [...list].some(({ paused, ended, muted }) => !paused && !ended && !muted));

/** The next time at which the page has nothing to do, or soon. */
const nextSlice = (): Promise<void> =>
  new Promise((resolve) => {
    requestIdleCallback(() => resolve());
    void scheduler.postTask(resolve, { delay: longestIdleMs });
  });

/** Taken when it is needed: a page's load pays for what is looked up in it. Firefox has none, its elements have a property for it. */
let chromiumDom: typeof chrome.dom | undefined;
/** Closed roots are looked into for fields that take secrets, and for nothing else. */
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

/** Null where the page became another one meanwhile. One that is written anew (`document.open`) is begun again, but not without an end. */
async function serializeShown(of: View): Promise<Serialized | null> {
  for (let tries = 1; ; tries++) {
    const { body } = page;
    const serialized = await serializeInSlices();
    if (pageAddress(location.href) !== of.address) return null;
    if (page.body === body || tries === mostTries) return serialized;
  }
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

/** Hand in what the tab shows; null where the page became another one meanwhile. */
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
  const title = page.title.slice(0, longestTitle);
  return ask('captured', { url, title, visitedAt: of.timer.startedAt, html, metadata, byHand });
}

async function settleRead(of: View): Promise<void> {
  of.settled = true;
  try {
    of.outcome = await capture(of, false);
  } catch {
    // The background program was being replaced, or could not store the page: tried again. After an update of the extension nobody will ever answer.
    if (chrome.runtime?.id === undefined) stop();
    of.settled = false;
    of.outcome = { outcome: 'failed' };
    of.retryMs *= 2;
    of.notBefore = Date.now() + of.retryMs;
  }
}

/** A change of the address is a new view, and no sign of a person. */
function followAddress(): void {
  if (pageAddress(location.href) !== view.address) view = new View(view);
}

async function step(): Promise<void> {
  followAddress();
  const of = view;
  // A page may be without elements for a while, and then has nothing to read.
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

/** What the page says that it is about: by it others are found that were read. */
function aboutPage(): string {
  const description = page.querySelector('meta[name="description"]')?.getAttribute('content');
  return (description ?? page.querySelector('article p, main p')?.textContent ?? '').trim().slice(0, 300);
}

function stop(): void {
  following?.abort();
  following = undefined;
}

/** Steps are taken while the page can be seen, by the settings of when it came into view. */
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

/** How far is asked at the step: to be told of it makes the browser lay the page out. */
function noteScrolled(of: View): void {
  hasScrolled = false;
  const { scrollHeight } = page.documentElement;
  if (scrollHeight >= leastWindows * innerHeight) of.timer.scrolled((scrollY + innerHeight) / scrollHeight);
}

const active = () => view.timer.activity(Date.now());
/** What is heard of a person and the browser. */
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
  // Back by the browser's cache of pages: a new view.
  pageshow: (event) => {
    if ((event as PageTransitionEvent).persisted) view = new View();
  },
};

/** A page may dispatch events of its own. */
const hear = (event: Event) => {
  if (event.isTrusted) heard[event.type](event);
};

/** Again changes nothing, but where the page was written anew (`document.open`): that takes all listeners away. */
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
      answer({ url: location.href, title: page.title, about: aboutPage(), secretField, outcome: view.outcome });
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

// Saving by hand puts the script into tabs that were open before the installation; others have it. An element of this name is no sign of it.
const isThere = 'readbackCaptures';
if (!Object.hasOwn(globalThis, isThere)) {
  Object.defineProperty(globalThis, isThere, { value: true });
  start();
}
