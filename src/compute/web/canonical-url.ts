/**
 * Canonical URLs: the form under which a page exists once. Lower-case scheme and host, no default port, no user name or
 * password, no fragment (except `#!` and `#/`, which are addresses of their own), no tracking parameters; path and order
 * of parameters as given. Called for every page that comes in, on the main thread.
 */
import { domainMatches, isTooLongToRead, normalizeHost, tooLong } from './domain-match.ts';

export interface CanonicalizeSettings {
  /** Names of parameters to drop, upper and lower case alike; a trailing `*` matches any ending. */
  tracking_params: readonly string[];
  /** Domain → the only parameters that it and the domains below it keep; the longest domain that matches counts. */
  keep_params: Readonly<Record<string, readonly string[]>>;
}

/** Contract, "Ingest semantics": the default set. */
export const defaultTrackingParams = ['utm_*', 'fbclid', 'gclid', 'ref', 'si'];

/** Hosts whose links carry many parameters of which few name the page. A moment in a video is not a page of its own. */
export const presetKeepParams: Record<string, readonly string[]> = {
  'bilibili.com': ['p'],
  'bitcointalk.org': ['action', 'board', 'topic'],
  'dailymotion.com': ['playlist'],
  'forums.somethingawful.com': ['forumid', 'pagenumber', 'postid', 'threadid'],
  'news.ycombinator.com': ['id', 'p', 'site'],
  'phpbb.com': ['f', 'p', 'start', 't'],
  'reddit.com': ['after', 'before', 'q', 'sort', 't', 'type'],
  'slashdot.org': ['cid', 'id', 'sid'],
  'vbulletin.com': ['f', 'p', 'page', 'showtopic', 't', 'threadid'],
  'vimeo.com': ['h'],
  'youtu.be': [],
  'youtube.com': ['list', 'search_query', 'v'],
};

export type CanonicalUrl = { canonical_url: string; domain: string };

const schemeAndHost = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]+)/i;
/** Schemes that name no page: shown as a link they would run or be the content themselves. */
const noPage = /^(?:javascript|vbscript|data|blob):/i;
const keptFragment = /^#[!/]/;

/**
 * Canonicalise a URL of any length and scheme. Doing it twice changes nothing more.
 * Errors: `{invalid}` with a sentence naming the cause.
 * Source: contract "Canonicalization"; parsing and host rules are the WHATWG URL standard's.
 */
export function canonicalizeUrl(url: string, settings: CanonicalizeSettings): CanonicalUrl | { invalid: string } {
  const authority = schemeAndHost.exec(url.trimStart())?.[1];
  if (authority === undefined) return { invalid: 'url must have a scheme and a host' };
  if (noPage.test(url.trimStart())) return { invalid: 'url must have a scheme that names a page' };
  const written = authority.slice(authority.lastIndexOf('@') + 1);
  if (isTooLongToRead(written)) return { invalid: `url must have a host ${tooLong.invalid}` };
  if (!URL.canParse(url)) return { invalid: 'url must have a valid host' };
  const parsed = new URL(url);
  const domain = normalizeHost(parsed.hostname);
  if (typeof domain !== 'string') return { invalid: `url must have a host ${domain.invalid}` };
  const port = parsed.port === '' ? '' : `:${parsed.port}`;
  const fragment = keptFragment.test(parsed.hash) ? parsed.hash : '';
  const query = keptQuery(parsed.search, domain, settings);
  const rest = upperCaseEscapes(`${parsed.pathname}${query}${fragment}`);
  return { canonical_url: `${parsed.protocol}//${domain}${port}${rest}`, domain };
}

/**
 * The other canonical URLs that people take for the same address: by the other one of http and https, with or without `www.`, with or
 * without a slash at the end of the path. At most 7; none for other schemes.
 */
export function addressesLike(canonicalUrl: string): string[] {
  const { protocol, host, pathname, search, hash } = new URL(canonicalUrl);
  if (protocol !== 'https:' && protocol !== 'http:') return [];
  const bareHost = host.replace(/^www\./, '');
  const barePath = pathname.replace(/\/$/, '');
  const paths = barePath === '' ? ['/'] : [barePath, `${barePath}/`];
  return ['https:', 'http:']
    .flatMap((scheme) => [bareHost, `www.${bareHost}`].map((name) => `${scheme}//${name}`))
    .flatMap((origin) => paths.map((path) => `${origin}${path}${search}${hash}`))
    .filter((address) => address !== canonicalUrl);
}

/** The query with its `?`, or '' where no parameter is left. Parameters keep their order and their spelling. */
function keptQuery(search: string, domain: string, settings: CanonicalizeSettings): string {
  if (search === '') return '';
  const onlyKept = keptParams(domain, settings.keep_params);
  const kept = search
    .slice(1)
    .split('&')
    .filter((parameter) => {
      if (parameter === '') return false;
      const name = parameterName(parameter);
      return onlyKept === undefined ? !matchesAny(name, settings.tracking_params) : matchesAny(name, onlyKept);
    });
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function keptParams(domain: string, keep: CanonicalizeSettings['keep_params']): readonly string[] | undefined {
  let longest: string | undefined;
  for (const pattern of Object.keys(keep)) {
    if (domainMatches(domain, pattern) && pattern.length > (longest ?? '').length) longest = pattern;
  }
  return longest === undefined ? undefined : keep[longest];
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  const { whole, beginnings } = foldedPatterns(patterns);
  const lower = name.toLowerCase();
  return whole.has(lower) || beginnings.some((beginning) => lower.startsWith(beginning));
}

interface FoldedPatterns {
  whole: ReadonlySet<string>;
  beginnings: readonly string[];
}

/** By the list of a setting, which never changes. */
const folded = new WeakMap<readonly string[], FoldedPatterns>();

function foldedPatterns(patterns: readonly string[]): FoldedPatterns {
  const known = folded.get(patterns);
  if (known !== undefined) return known;
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  const made = {
    whole: new Set(lower.filter((pattern) => !pattern.endsWith('*'))),
    beginnings: lower.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1)),
  };
  folded.set(patterns, made);
  return made;
}

function parameterName(parameter: string): string {
  const equals = parameter.indexOf('=');
  const name = equals === -1 ? parameter : parameter.slice(0, equals);
  if (!name.includes('%')) return name;
  return new URLSearchParams(name).keys().next().value ?? name;
}

/** `%e4` and `%E4` are the same octet (RFC 3986, 6.2.2.1). Nothing is decoded: some servers tell the two forms apart. */
function upperCaseEscapes(text: string): string {
  return text.includes('%') ? text.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase()) : text;
}
