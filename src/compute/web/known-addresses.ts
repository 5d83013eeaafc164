/** Tracking parameters, and equivalent addresses of pages on known sites. No rule may give two pages one address. */
import known from '../../../models/known-addresses.json' with { type: 'json' };
import { domainMatches, normalizeHost } from './domain-match.ts';
import { unescaped } from './unescaped.ts';

/** Identify a click, campaign or reader; `*`: any ending. Dropped only with a value: `?dm_i` may select a page. */
export const knownTrackingParams = Object.values(known.tracking_params).flat();

/** Domain, or domain and path prefix → further parameters that select nothing there. All matching entries count. */
const trackingParamsOf: Readonly<Record<string, readonly string[]>> = known.tracking_params_at;

/** Where a default tracking parameter selects content. GitLab's and Gitea's hosts often begin with their name. */
const keptParamsOf: Readonly<Record<string, readonly string[]>> = known.selecting_params_at;
const codeHost = /^(?:git|gitlab|gitea|forgejo)\./;

/** Entries of a table that match a place. A key is a domain, or a domain and whole path segments. */
export function placesLike(table: Readonly<Record<string, unknown>>, domain: string, path: string): string[] {
  return Object.keys(table).filter((place) => {
    const slash = place.indexOf('/');
    if (slash === -1) return domainMatches(domain, place);
    const below = place.slice(slash);
    const isBelow = path === below || path.startsWith(below.endsWith('/') ? below : `${below}/`);
    return isBelow && domainMatches(domain, place.slice(0, slash));
  });
}

export function trackingParamsAt(domain: string, path: string): string[] {
  return placesLike(trackingParamsOf, domain, path).flatMap((place) => trackingParamsOf[place]);
}

/** Parameters that select content there, although parameters of that name usually track readers. */
export function selectingParamsAt(domain: string, path: string): string[] {
  if (codeHost.test(domain)) return ['ref'];
  return placesLike(keptParamsOf, domain, path).flatMap((place) => keptParamsOf[place]);
}

/** Max nested copies, such as an archived page of an AMP cache. */
const maxSteps = 8;

/** The usual form of an address: the archived page's, the site's usual host, the video's; or the address itself. */
export function usualAddress(address: URL): URL {
  if (!/^https?:$/.test(address.protocol)) return address;
  let found = address;
  for (let step = 0; step < maxSteps; step++) {
    const forms = [archivedPage, ampPage, usualHost, video];
    const next = forms.map((form) => form(found)).find((form) => form !== null && form.href !== found.href);
    if (next == null) break;
    found = next;
  }
  return found;
}

/** Domains with addresses that `usualAddress` moves to another domain. */
export const movedDomains = known.moved_domains;

/** Whether pages submitted under a domain may be stored under another one. */
export function mayMove(domain: string): boolean {
  return movedDomains.some((moved) => domainMatches(domain, moved) || domainMatches(moved, domain));
}

const waybackHost = /^(?:web\.|wayback\.|www\.)?archive\.org$/;
/** A date with at least a year and the kind of the copy, or neither for the latest copy. A listing has `*`. */
const waybackPath = /^\/(?:web|wayback)\/(?:\d{4,14}(?:[a-z]{2}_)?\/)?(?=https?(?::|%3a))/i;
const bareWaybackPath = /^\/web\/\d{4,14}(?:[a-z]{2}_)?\/(?=[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[:/?]|$))/i;
const archiveTodayHost = /^archive\.(?:today|ph|is|li|vn|md|fo)$/;
const archiveTodayPath = /^\/(?:(?:newest|oldest|\d{4,14})\/)(?=https?:)/i;

function archivedPage(address: URL): URL | null {
  const { hostname, pathname, search, hash } = address;
  const isWayback = waybackHost.test(hostname);
  if (!isWayback && !archiveTodayHost.test(hostname)) return null;
  const paths = isWayback ? [waybackPath, bareWaybackPath] : [archiveTodayPath];
  const prefix = paths.map((path) => path.exec(pathname)?.[0]).find((found) => found !== undefined);
  if (prefix === undefined) return null;
  const rest = pathname.slice(prefix.length);
  const isEscaped = /^https?%3a/i.test(rest);
  return pageWritten(isEscaped ? unescaped(rest, '') : `${rest}${search}${hash}`);
}

/** Reads an address inside a path. The slashes of `http://` are often collapsed there. */
function pageWritten(written: string): URL | null {
  const whole = /^https?:/i.test(written) ? written.replace(/^(https?):\/*/i, '$1://') : `http://${written}`;
  if (!URL.canParse(whole)) return null;
  const page = new URL(whole);
  const host = normalizeHost(page.hostname);
  if (typeof host !== 'string' || !host.includes('.') || host.includes('*')) return null;
  return moved(page, { hostname: host });
}

const cacheKinds = /^\/[a-z]{1,2}\/(s\/)?(?=[^/]+\.[^/]+)/;
const viewerPath = /^\/amp\/(s\/)?(?=[^/]+\.[^/]+)/;
/** Sites whose AMP pages have these addresses; `$1` is the page's path. */
const ampPaths = known.amp_paths.map(({ hosts, path }) => ({ hosts: new RegExp(hosts), path: new RegExp(path) }));

function ampPage(address: URL): URL | null {
  const { hostname, pathname, search } = address;
  const isCache = domainMatches(hostname, 'cdn.ampproject.org');
  const isViewer = /^(?:www\.)?(?:google\.com|bing\.com)$/.test(hostname);
  const prefix = isCache ? cacheKinds.exec(pathname) : isViewer ? viewerPath.exec(pathname) : null;
  if (prefix !== null) {
    const scheme = prefix[1] === undefined ? 'http' : 'https';
    const page = pageWritten(`${scheme}://${pathname.slice(prefix[0].length)}${search}`);
    return page === null ? null : withoutAmp(page);
  }
  if (hostname === 'amp.theguardian.com') return moved(address, { hostname: 'www.theguardian.com' });
  for (const { hosts, path } of ampPaths) {
    const page = hosts.test(hostname) ? path.exec(pathname) : null;
    if (page !== null) return moved(address, { pathname: page[1] });
  }
  return null;
}

/** A page of an AMP cache is an AMP page, so these parts of its address select nothing else. */
function withoutAmp(page: URL): URL {
  const pathname = page.pathname.replace(/(.)\/amp\/?$/, '$1').replace(/\.amp(\.html)?$/, '$1');
  const others = page.search
    .slice(1)
    .split('&')
    .filter((parameter) => !/^(?:amp(?:=(?:1|true)?)?|outputtype=amp)$/i.test(parameter));
  return moved(page, { pathname, search: others.join('&') });
}

/** Hosts that have the same paths as another host. */
const usualHosts = known.usual_hosts.map(({ hosts, usual, paths }) => ({
  hosts: new RegExp(hosts),
  usual,
  paths: new RegExp(paths),
}));

function usualHost(address: URL): URL | null {
  if (address.port !== '') return null;
  for (const { hosts, usual, paths } of usualHosts) {
    if (!hosts.test(address.hostname) || !paths.test(address.pathname)) continue;
    return moved(address, { protocol: 'https:', hostname: address.hostname.replace(hosts, usual) });
  }
  return null;
}

const youtubeHost = /^(?:www\.)?youtube(?:-nocookie)?\.com$/;
const videoPath = /^\/(?:shorts|embed|live|v|e)\/([\w-]{11})\/?$/;
const videoId = /^[\w-]{11}$/;
/** Words in list addresses that have the length of a video id. */
const noVideos = ['videoseries', 'live_stream'];
/** Parameters for the position in a list from which the video was played. */
const playedIn = ['list', 'index', 'start_radio', 'v'];

function video(address: URL): URL | null {
  const { hostname, pathname, searchParams } = address;
  const isWatched = pathname === '/watch' && youtubeHost.test(hostname);
  const path = youtubeHost.test(hostname) ? videoPath.exec(pathname)?.[1] : undefined;
  const short = hostname === 'youtu.be' ? pathname.replace(/^\/|\/$/g, '') : undefined;
  const id = isWatched ? (searchParams.get('v') ?? '') : (path ?? short ?? '');
  if (!videoId.test(id) || noVideos.includes(id)) return null;
  const others = address.search.slice(1).split('&');
  const kept = others.filter((parameter) => parameter !== '' && !playedIn.includes(parameter.replace(/=.*/s, '')));
  return moved(address, {
    protocol: 'https:',
    hostname: 'www.youtube.com',
    pathname: '/watch',
    search: [`v=${id}`, ...kept].join('&'),
  });
}

type Parts = Partial<Pick<URL, 'protocol' | 'hostname' | 'pathname' | 'search'>>;

function moved(address: URL, parts: Parts): URL {
  return Object.assign(new URL(address), parts);
}
