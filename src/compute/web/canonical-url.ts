/**
 * The URL that identifies a page: without default port, user name, password, tracking parameters and fragment (except
 * `#!` and `#/`); path and order as given. With `known_addresses`, the known forms of a page get one address.
 */
import known from '../../../models/known-addresses.json' with { type: 'json' };
import { memoizedByObject } from '../structures/memoized.ts';
import { isTooLongToRead, normalizeHost, tooLong } from './domain-match.ts';
import {
  knownTrackingParams,
  placesLike,
  selectingParamsAt,
  trackingParamsAt,
  usualAddress,
} from './known-addresses.ts';

export interface CanonicalizeSettings {
  /** Parameters to drop, ignoring case. A trailing `*` matches any ending. */
  tracking_params: readonly string[];
  /** Domain, or domain and path prefix → the only parameters kept there and below; longest domain first, then path. */
  keep_params: Readonly<Record<string, readonly string[]>>;
  /** Also apply known-addresses.ts. Missing in rules of earlier versions. */
  known_addresses?: boolean | undefined;
}

/** Contract, "Ingest semantics": the default set. */
export const defaultTrackingParams = ['utm_*', 'fbclid', 'gclid', 'ref', 'si'];

/** For sites where few of many parameters identify a page. A start time in a video does not identify a page. */
export const presetKeepParams: Record<string, readonly string[]> = known.preset_keep_params;

export type CanonicalUrl = { canonical_url: string; domain: string };

const schemeAndHost = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]+)/i;
/** Schemes of scripts or inline content, which do not address a page. */
const noPage = /^(?:javascript|vbscript|data|blob):/i;
const keptFragment = /^#[!/]/;

/** Idempotent. Errors: `{invalid}` with the cause. Source: contract "Canonicalization"; the WHATWG URL standard. */
export function canonicalizeUrl(url: string, settings: CanonicalizeSettings): CanonicalUrl | { invalid: string } {
  const authority = schemeAndHost.exec(url.trimStart())?.[1];
  if (authority === undefined) return { invalid: 'url must have a scheme and a host' };
  if (noPage.test(url.trimStart())) return { invalid: 'url must have a scheme that names a page' };
  const written = authority.slice(authority.lastIndexOf('@') + 1);
  if (isTooLongToRead(written)) return { invalid: `url must have a host ${tooLong.invalid}` };
  if (!URL.canParse(url)) return { invalid: 'url must have a valid host' };
  const given = new URL(url);
  const host = normalizeHost(given.hostname);
  if (typeof host !== 'string') return { invalid: `url must have a host ${host.invalid}` };
  given.hostname = host;
  const usual = settings.known_addresses ? usualAddress(given) : given;
  const usualDomain = normalizeHost(usual.hostname);
  const [parsed, domain] = typeof usualDomain === 'string' ? [usual, usualDomain] : [given, host];
  const port = parsed.port === '' ? '' : `:${parsed.port}`;
  const fragment = keptFragment.test(parsed.hash) ? parsed.hash : '';
  const query = keptQuery(parsed, domain, settings);
  const rest = upperCaseEscapes(`${parsed.pathname}${query}${fragment}`);
  return { canonical_url: `${parsed.protocol}//${domain}${port}${rest}`, domain };
}

/** Keeps fragments that belong to the address (`#!`, `#/`). */
export function withoutQuery(url: string): string {
  return url.replace(/^([^?#]*)\?[^#]*/, '$1');
}

/** The address to fetch: the form that was read, such as an archived copy, without tracking; or the canonical URL. */
export function addressToFetch(
  { canonical_url, original_url }: { canonical_url: string; original_url: string },
  settings: CanonicalizeSettings,
): string {
  const canonical = canonicalizeUrl(original_url, settings);
  if ('invalid' in canonical || canonical.canonical_url !== canonical_url) return canonical_url;
  const tracking_params = [...settings.tracking_params, ...(settings.known_addresses ? knownTrackingParams : [])];
  const read = canonicalizeUrl(original_url, { ...settings, tracking_params, known_addresses: false });
  return 'invalid' in read || read.domain === canonical.domain ? canonical_url : read.canonical_url;
}

/** The host as given, normalized for comparison; '' if the text is not an address. */
export function hostOf(url: string): string {
  const written = canonicalizeUrl(url, { tracking_params: [], keep_params: {} });
  return 'invalid' in written ? '' : written.domain;
}

/** URLs that users treat as equal: http or https, with or without `www.` and a last slash; at most 7. */
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

/** The query with its `?`, or '' if it is empty. Keeps order and spelling. */
function keptQuery({ search, pathname }: URL, domain: string, settings: CanonicalizeSettings): string {
  if (search === '') return '';
  const onlyKept = keptParams(domain, pathname, settings.keep_params);
  const isKnown = settings.known_addresses === true;
  const tracking = isKnown ? trackingParamsAt(domain, pathname) : [];
  const selecting = isKnown ? selectingParamsAt(domain, pathname) : [];
  const isTracking = (parameter: string, name: string): boolean => {
    if (matchesAny(name, selecting)) return false;
    if (matchesAny(name, settings.tracking_params)) return true;
    return isKnown && parameter.includes('=') && (matchesAny(name, knownTrackingParams) || matchesAny(name, tracking));
  };
  const kept = search
    .slice(1)
    .split('&')
    .filter((parameter) => {
      if (parameter === '') return false;
      const name = parameterName(parameter);
      return onlyKept === undefined ? !isTracking(parameter, name) : matchesAny(name, onlyKept);
    });
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function keptParams(
  domain: string,
  path: string,
  keep: CanonicalizeSettings['keep_params'],
): readonly string[] | undefined {
  const [longest] = placesLike(keep, domain, path).sort(
    (a, b) => domainLength(b) - domainLength(a) || b.length - a.length,
  );
  return longest === undefined ? undefined : keep[longest];
}

function domainLength(place: string): number {
  const slash = place.indexOf('/');
  return slash === -1 ? place.length : slash;
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  const { whole, beginnings } = foldedPatterns(patterns);
  const lower = name.toLowerCase();
  return whole.has(lower) || beginnings.some((beginning) => lower.startsWith(beginning));
}

const foldedPatterns = memoizedByObject((patterns: readonly string[]) => {
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  const [whole, open] = [false, true].map((isOpen) => lower.filter((pattern) => pattern.endsWith('*') === isOpen));
  return { whole: new Set(whole), beginnings: open.map((pattern) => pattern.slice(0, -1)) };
});

function parameterName(parameter: string): string {
  const equals = parameter.indexOf('=');
  const name = equals === -1 ? parameter : parameter.slice(0, equals);
  if (!name.includes('%')) return name;
  return new URLSearchParams(name).keys().next().value ?? name;
}

/** `%e4` and `%E4` are the same octet (RFC 3986, 6.2.2.1). Decodes nothing, as some servers distinguish the forms. */
function upperCaseEscapes(text: string): string {
  return text.includes('%') ? text.replace(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase()) : text;
}

/** An address from a header. Node decodes headers as Latin-1, so bytes other than ASCII are percent-encoded. */
export function addressInHeader(value: string): string {
  return value.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
