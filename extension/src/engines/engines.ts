/** The supported search engines: their result pages and queries. Pure. */

export const engineNames = ['google', 'bing', 'duckduckgo', 'brave', 'ecosia', 'kagi', 'qwant'] as const;
export type EngineName = (typeof engineNames)[number];

interface Engine {
  /** The common name in every language. */
  label: string;
  hosts: readonly string[];
  /** Path of its result pages; the parameter `q` is the query. */
  path: string;
}

const googleEndings =
  'com de at ch co.uk ie fr be nl es it pt pl se dk no fi ca com.au co.nz co.in co.jp com.br com.mx'.split(' ');

export const engines: Record<EngineName, Engine> = {
  google: { label: 'Google', hosts: googleEndings.map((ending) => `www.google.${ending}`), path: '/search' },
  bing: { label: 'Bing', hosts: ['www.bing.com'], path: '/search' },
  duckduckgo: { label: 'DuckDuckGo', hosts: ['duckduckgo.com'], path: '/' },
  brave: { label: 'Brave Search', hosts: ['search.brave.com'], path: '/search' },
  ecosia: { label: 'Ecosia', hosts: ['www.ecosia.org'], path: '/search' },
  kagi: { label: 'Kagi', hosts: ['kagi.com'], path: '/search' },
  qwant: { label: 'Qwant', hosts: ['www.qwant.com'], path: '/' },
};

/** Match patterns for permissions. */
export const originsOf = (names: readonly EngineName[]): string[] =>
  names.flatMap((name) => engines[name].hosts.map((host) => `https://${host}/*`));

/** The query of a result page of these engines, or null. */
export function engineQueryOf(href: string, names: readonly EngineName[]): string | null {
  if (!URL.canParse(href)) return null;
  const { protocol, host, pathname, searchParams } = new URL(href);
  const isResultPage = names.some((name) => engines[name].hosts.includes(host) && engines[name].path === pathname);
  const query = protocol === 'https:' && isResultPage ? (searchParams.get('q') ?? '').trim() : '';
  return query === '' ? null : query;
}
