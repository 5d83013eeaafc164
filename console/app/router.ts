/**
 * Where you are: the fragment of the address, `#/view/part?name=value`. What was there when one left, the scroll and what views keep, is there
 * again when one comes back by the browser's buttons, as long as the page is loaded.
 */
import { batch, computed, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  view: string;
  /** What follows the view: an id. */
  part: string;
  params: URLSearchParams;
}

/** So long after the last passing place the address takes it, ms. */
const settleMs = 500;

/** A step of the browser's history, in which it is kept. */
interface Place {
  id: number;
  /** Steps that lead back within the console. */
  depth: number;
  /** The depth at which what is looked at here, a view or a part of it, was come to. */
  since: number;
}

/** The link that a place was left by: of several that lead to the same it has this number. */
export interface LeftBy {
  href: string;
  at: number;
}

export const linksTo = (href: string): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>(`a[href="${CSS.escape(href)}"]`),
];

/** What is kept of a place. */
type Memory = Map<string, unknown>;
const mostMemories = 50;
/** What somebody was still typing when they left. */
const passingName = 'passing';
const memories = new Map<number, Memory>();

const newPlace = (depth: number, since: number): Place => ({
  id: performance.timeOrigin + performance.now(),
  depth,
  since,
});

const fragment = signal(location.hash);
let settling: ReturnType<typeof setTimeout> | undefined;
let here = placeOf(newPlace(0, 0));
/** Counts arrivals at places that were left before. */
export const returns = signal(0);

history.scrollRestoration = 'manual'; // by the time that a browser does it views are still empty
addEventListener('popstate', () => {
  // The address was to take it later.
  if (dropPassing()) keep(passingName, fragment.value);
  if (codeInAddress() !== null) return;
  leave();
  here = placeOf(after(location.hash));
  const late = kept<string>(passingName);
  if (late !== undefined) {
    memoryOf(here).delete(passingName);
    history.replaceState(here, '', late);
  }
  batch(() => {
    if (memories.has(here.id)) returns.value++;
    fragment.value = location.hash;
  });
});

/** That of the present step; a link has made one that has none yet, which is `made` then. */
function placeOf(made: Place): Place {
  const { state } = history as { state: Place | null };
  if (typeof state?.since === 'number') return state;
  history.replaceState(made, '');
  return made;
}

/** The place that follows this one, at `address`. */
function after(address: string): Place {
  const [now, next] = [pathOf(fragment.value), pathOf(address)];
  const depth = here.depth + 1;
  return newPlace(depth, now === next ? here.since : depth);
}

const memoryOf = ({ id }: Place): Memory => {
  const memory = memories.get(id) ?? new Map();
  memories.delete(id);
  memories.set(id, memory);
  for (const oldest of memories.keys()) if (memories.size > mostMemories) memories.delete(oldest);
  return memory;
};

function leave(): void {
  keep('scroll', scrollY);
  const href = document.activeElement?.getAttribute('href') ?? null;
  const at = href === null ? -1 : linksTo(href).indexOf(document.activeElement as HTMLElement);
  keep('link', href === null ? null : ({ href, at } satisfies LeftBy));
}

/** Have `value` here for who comes back to this place. */
export const keep = (name: string, value: unknown): void => void memoryOf(here).set(name, value);

/** What was kept here; undefined where nothing was. */
export const kept = <Value>(name: string): Value | undefined => memories.get(here.id)?.get(name) as Value | undefined;

/** What was kept under a name is out of date, wherever it is. */
export function dropKept(name: string): void {
  for (const memory of memories.values()) memory.delete(name);
}

/** What a view keeps of itself for who comes back; `initial` at each place that is new. */
export function useKept<Value>(name: string, initial: Value): [Value, (value: Value) => void] {
  const [, redraw] = useState({});
  const set = (value: Value) => {
    keep(name, value);
    redraw({});
  };
  return [kept<Value>(name) ?? initial, set];
}

/** Which step of the history this is. */
export const stepNow = (): number => here.id;

/** Away from what is looked at: back to where one came from; to the search for who came from nowhere. */
export function leaveBack(): void {
  if (here.since > 0) history.go(here.since - 1 - here.depth);
  else go(linkTo('search'), { replace: true });
}

/** The one-time code of a link, which is no place to be; null where there is none. */
export const codeInAddress = (): string | null => {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  return code === undefined ? null : decode(code);
};

/** View and part, as they stand in an address. */
function pathOf(address: string): string {
  return address.replace(/^#\/?/, '').split('?', 1)[0];
}

export const route = computed<Route>(() => {
  const path = pathOf(fragment.value);
  const query = fragment.value.split('?', 2)[1] ?? '';
  const [view, part = ''] = path.split('/', 2);
  return { view: view === '' ? 'search' : view, part: decode(part), params: new URLSearchParams(query) };
});

/** Of the route alone, for those who would be drawn anew with each change of the rest. */
export const currentView = computed(() => route.value.view);
export const currentPart = computed(() => route.value.part);

/** What the browser's tab and history call this place. */
export function setTitle(title: string): void {
  document.title = `${title} · readback`;
}

/** The title that a view knows once it has loaded what it shows. */
export const useTitle = (title: string | undefined): void =>
  useEffect(() => {
    if (title !== undefined) setTitle(title);
  }, [title]);

/** An address may be typed: what cannot be decoded is taken as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export type Params = Record<string, string | null | undefined>;

export function linkTo(view: string, part = '', params: Params = {}): string {
  const query = new URLSearchParams(
    Object.entries(params).filter((entry): entry is [string, string] => Boolean(entry[1])),
  ).toString();
  return `#/${view}${part === '' ? '' : `/${encodeURIComponent(part)}`}${query === '' ? '' : `?${query}`}`;
}

/**
 * Go there; `replace` leaves no step to come back to. One that is `passing` leaves none either, and comes into the address when nothing follows it for `settleMs`: for each address
 * a browser takes some 10 ms of processor time, to note it and to draw the page's icon again (bench/results/2026-11-console.md).
 */
export function go(to: string, { replace = false, passing = false } = {}): void {
  const isStep = !replace && !passing;
  if (isStep) settle();
  dropPassing();
  if (isStep && to === fragment.value) return;
  if (passing) settling = setTimeout(settle, settleMs);
  else if (!isStep) history.replaceState(here, '', to);
  else {
    leave();
    here = after(to);
    history.pushState(here, '', to);
  }
  fragment.value = to;
}

/** The address has the passing place now. */
export function settle(): void {
  if (dropPassing()) history.replaceState(here, '', fragment.value);
}

/** Whether there was a passing place. */
function dropPassing(): boolean {
  const was = settling !== undefined;
  clearTimeout(settling);
  settling = undefined;
  return was;
}
