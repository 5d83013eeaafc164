/**
 * Whether a page may be captured, or the rule that prevents it (docs/extension.md, "Never captured"). Pure: called
 * before serialising, when queueing, for the popup, and for imported entries.
 */
import { canonicalizeUrl, defaultTrackingParams, presetKeepParams } from '../../../src/compute/web/canonical-url.ts';
import { domainMatches } from '../../../src/compute/web/domain-match.ts';
import { isPaused, type Settings, type SiteSwitch } from '../settings.ts';
import { type DefaultKind, defaultKindOf } from './default-sites.ts';
import { isLocalHost } from './local-address.ts';

export interface BlacklistRule {
  kind: 'url' | 'domain';
  pattern: string;
}

export type ExclusionRule =
  | { rule: 'scheme' }
  | { rule: 'blacklist'; pattern: string }
  | { rule: 'paused'; until: number | 'forever' }
  | { rule: 'site'; site: string }
  | { rule: 'local' }
  | { rule: 'kind'; kind: DefaultKind }
  | { rule: 'only_allowed' }
  | { rule: 'secret_field' };

export interface RuleContext {
  settings: Settings;
  blacklist: readonly BlacklistRule[];
  /** Ms since the epoch. */
  now: number;
  /** Requested by the user: then only the block list and the scheme count. */
  byHand?: boolean;
}

const canonicalization = { tracking_params: defaultTrackingParams, keep_params: presetKeepParams };

export interface PageAddress {
  /** The service's canonical address by its default settings, and its host. */
  url: string;
  domain: string;
  /** The address on the visited site, such as an archive, and its host. */
  visited: { url: string; domain: string };
}

/** Null if the service refuses it. */
export function canonicalAddress(url: string): PageAddress | null {
  const canonical = canonicalizeUrl(url, { ...canonicalization, known_addresses: true });
  const visited = canonicalizeUrl(url, canonicalization);
  if ('invalid' in canonical || 'invalid' in visited) return null;
  return {
    url: canonical.canonical_url,
    domain: canonical.domain,
    visited: { url: visited.canonical_url, domain: visited.domain },
  };
}

/** A site's name in the list of switches: its host without `www.`. */
export function siteOf(url: string): string | null {
  return canonicalAddress(url)?.visited.domain.replace(/^www\./, '') ?? null;
}

/** The switch of a host: that of the longest matching name in the list. */
function switchOf(domain: string, sites: Settings['sites']): { site: string; to: SiteSwitch } | null {
  let longest: string | null = null;
  for (const site of Object.keys(sites)) {
    if (domainMatches(domain, site) && site.length > (longest?.length ?? 0)) longest = site;
  }
  return longest === null ? null : { site: longest, to: sites[longest] };
}

/** Whether a blocking rule matches a page. */
export const isNamedBy = ({ kind, pattern }: BlacklistRule, page: PageAddress): boolean =>
  [page, page.visited].some(({ url, domain }) => (kind === 'url' ? pattern === url : domainMatches(domain, pattern)));

/** The first rule that prevents a capture, or null. */
export function exclusionOf(
  url: string,
  { settings, blacklist, now, byHand = false }: RuleContext,
): ExclusionRule | null {
  const canonical = /^https?:/i.test(url) ? canonicalAddress(url) : null;
  if (canonical === null) return { rule: 'scheme' };
  const { domain } = canonical.visited;
  const listed = blacklist.find((rule) => isNamedBy(rule, canonical));
  if (listed !== undefined) return { rule: 'blacklist', pattern: listed.pattern };
  if (byHand) return null;
  const chosen = switchOf(domain, settings.sites);
  if (chosen?.to === 'off') return { rule: 'site', site: chosen.site };
  if (chosen?.to !== 'on') {
    if (isLocalHost(domain)) return { rule: 'local' };
    const kind = defaultKindOf(new URL(canonical.visited.url), settings.defaultKinds);
    if (kind !== null) return { rule: 'kind', kind };
    if (settings.onlyAllowed) return { rule: 'only_allowed' };
  }
  // Comes last: the popup only sends pages to the service that nothing but the pause excludes.
  const { pausedUntil } = settings;
  return pausedUntil !== null && isPaused(settings, now) ? { rule: 'paused', until: pausedUntil } : null;
}
