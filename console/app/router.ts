/** The location: the fragment `#/view/part?name=value`. Scroll position and kept state return with the browser's buttons while the page is loaded. */
import { batch, computed, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  view: string;
  /** An id after the view. */
  part: string;
  params: URLSearchParams;
}

/** A passing place is written to the address after this time, ms. */
const settleMs = 500;

/** An entry of the browser's history, with its kept state. */
interface Place {
  id: number;
  /** Steps back within the console. */
  depth: number;
  /** The depth at which this view or part was opened. */
  since: number;
}

/** The followed link: its index among links with the same target. */
export interface LeftBy {
  href: string;
  at: number;
}

export const linksTo = (href: string): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>(`a[href="${CSS.escape(href)}"]`),
];

type Memory = Map<string, unknown>;
const maxMemories = 50;
/** Key of the kept address that was not yet written when the user left. */
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
/** Counts returns to earlier places. */
export const returns = signal(0);

history.scrollRestoration = 'manual'; // browsers would scroll while the views are still empty
addEventListener('popstate', () => {
  // The address of the passing place was not yet written.
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

/** The current entry. A followed link may have created one without our state. */
function placeOf(made: Place): Place {
  const { state } = history as { state: Place | null };
  if (typeof state?.since === 'number') return state;
  history.replaceState(made, '');
  return made;
}

/** The next entry, at `address`. */
function after(address: string): Place {
  const [now, next] = [pathOf(fragment.value), pathOf(address)];
  const depth = here.depth + 1;
  return newPlace(depth, now === next ? here.since : depth);
}

const memoryOf = ({ id }: Place): Memory => {
  const memory = memories.get(id) ?? new Map();
  memories.delete(id);
  memories.set(id, memory);
  for (const oldest of memories.keys()) if (memories.size > maxMemories) memories.delete(oldest);
  return memory;
};

function leave(): void {
  keep('scroll', scrollY);
  const href = document.activeElement?.getAttribute('href') ?? null;
  const at = href === null ? -1 : linksTo(href).indexOf(document.activeElement as HTMLElement);
  keep('link', href === null ? null : ({ href, at } satisfies LeftBy));
}

/** Keep `value` for returns to this place. */
export const keep = (name: string, value: unknown): void => void memoryOf(here).set(name, value);

export const kept = <Value>(name: string): Value | undefined => memories.get(here.id)?.get(name) as Value | undefined;

/** Drop a kept name everywhere. */
export function dropKept(name: string): void {
  for (const memory of memories.values()) memory.delete(name);
}

/** State of a view that returns restore; `initial` in a new entry. */
export function useKept<Value>(name: string, initial: Value): [Value, (value: Value) => void] {
  const [, redraw] = useState({});
  const set = (value: Value) => {
    keep(name, value);
    redraw({});
  };
  return [kept<Value>(name) ?? initial, set];
}

export const stepNow = (): number => here.id;

/** Close the current view: back to the previous place, or the search. */
export function leaveBack(): void {
  if (here.since > 0) history.go(here.since - 1 - here.depth);
  else go(linkTo('search'), { replace: true });
}

/** The one-time code of a link, or null. */
export const codeInAddress = (): string | null => {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  return code === undefined ? null : decode(code);
};

function pathOf(address: string): string {
  return address.replace(/^#\/?/, '').split('?', 1)[0];
}

export const route = computed<Route>(() => {
  const path = pathOf(fragment.value);
  const query = fragment.value.split('?').slice(1).join('?');
  const [view, part = ''] = path.split('/', 2);
  return { view: view === '' ? 'search' : view, part: decode(part), params: new URLSearchParams(query) };
});

/** Only the view, for components that would rerender with every change. */
export const currentView = computed(() => route.value.view);
export const currentPart = computed(() => route.value.part);

/** For the browser's tab and history. */
export function setTitle(title: string): void {
  document.title = `${title} · readback`;
}

/** Set the title once the view has loaded. */
export const useTitle = (title: string | undefined): void =>
  useEffect(() => {
    if (title !== undefined) setTitle(title);
  }, [title]);

/** Typed addresses may be undecodable: such text stays as it is. */
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
 * Navigate; `replace` adds no history step. A `passing` place adds none either, and enters the address after
 * `settleMs`: each address change costs a browser some 10 ms.
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

/** Write a passing place to the address now. */
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
