/**
 * Canonical URLs identify pages: lower-case scheme and host; no default port, user name, password, fragment (except `#!` and `#/`) or
 * tracking parameters; path and parameter order as given.
 */
import { domainMatches, isTooLongToRead, normalizeHost, tooLong } from './domain-match.ts';

export interface CanonicalizeSettings {
  /** Parameters to drop, case-insensitive; a trailing `*` matches any ending. */
  tracking_params: readonly string[];
  /** Domain → the only parameters kept there and on subdomains; the longest matching domain counts. */
  keep_params: Readonly<Record<string, readonly string[]>>;
}

/** Contract, "Ingest semantics": the default set. */
export const defaultTrackingParams = ['utm_*', 'fbclid', 'gclid', 'ref', 'si'];

/** Hosts where few of many parameters identify the page. A time in a video is no page. */
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
/** Schemes of scripts or inline content. */
const noPage = /^(?:javascript|vbscript|data|blob):/i;
const keptFragment = /^#[!/]/;

/**
 * Canonicalise any URL; idempotent.
 * Errors: `{invalid}` with the cause.
 * Source: contract "Canonicalization"; the WHATWG URL standard.
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

/** Canonical URLs that people consider equal: http or https, with or without `www.` and a final slash. At most 7; none for other schemes. */
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

/** With its `?`, or '' if empty. Keeps order and spelling. */
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

/** Cached by the setting's list, which never changes. */
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

/** `%e4` and `%E4` are the same octet (RFC 3986, 6.2.2.1). Decodes nothing: some servers distinguish. */
function upperCaseEscapes(text: string): string {
  return text.includes('%') ? text.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase()) : text;
}

/** An address from a header in ASCII: Node decodes headers as Latin-1, so other bytes are percent-encoded unchanged for the server. */
export function addressInHeader(value: string): string {
  return value.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
