/** Where you are: the fragment of the address, `#/view/part?name=value`. */
import { computed, signal } from '@preact/signals';

export interface Route {
  view: string;
  /** What follows the view: an id. */
  part: string;
  params: URLSearchParams;
}

/** After the last of passing places, ms: then the address has it. */
const settleMs = 500;

const fragment = signal(location.hash);
let settling: ReturnType<typeof setTimeout> | undefined;
addEventListener('hashchange', () => {
  dropPassing();
  if (codeInAddress() === null) fragment.value = location.hash;
});

/** The one-time code of a link, which is no place to be; null where there is none. */
export const codeInAddress = (): string | null => {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  return code === undefined ? null : decode(code);
};

export const route = computed<Route>(() => {
  const [path, query = ''] = fragment.value.replace(/^#\/?/, '').split('?', 2);
  const [view, part = ''] = path.split('/', 2);
  return { view: view === '' ? 'search' : view, part: decode(part), params: new URLSearchParams(query) };
});

/** Of the route alone, for those who would be drawn anew with each change of the rest. */
export const currentView = computed(() => route.value.view);

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
 * Go there; `replace` leaves no step to come back to. One that is `passing`, too, comes into the address when nothing follows it for a while: for each address
 * a browser takes some 10 ms of processor time, to note it and to draw the page's icon again (bench/results/2026-11-console.md).
 */
export function go(to: string, { replace = false, passing = false } = {}): void {
  if (!replace) settle();
  dropPassing();
  fragment.value = to;
  if (passing) settling = setTimeout(settle, settleMs);
  else if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
}

/** The address has the passing place now. */
export function settle(): void {
  if (settling === undefined) return;
  dropPassing();
  history.replaceState(null, '', fragment.value);
}

function dropPassing(): void {
  clearTimeout(settling);
  settling = undefined;
}
