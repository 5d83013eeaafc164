/** Where you are: the fragment of the address, `#/view/part?name=value`. */
import { computed, signal } from '@preact/signals';

export interface Route {
  view: string;
  /** What follows the view: an id. */
  part: string;
  params: URLSearchParams;
}

const fragment = signal(location.hash);
addEventListener('hashchange', () => {
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

/** Go there; `replace` leaves no step to come back to. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  fragment.value = to;
}
