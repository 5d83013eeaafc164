/**
 * Whether a page may be captured, and by which rule not (docs/extension.md, "Never captured"). Pure: called before a page is
 * serialised, when it is queued, for the popup, and for each entry of an import.
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
  /** A person asked for this page: only the blacklist and the scheme count. */
  byHand?: boolean;
}

const canonicalization = { tracking_params: defaultTrackingParams, keep_params: presetKeepParams };

/** The address under which the service keeps a page, by its default settings; null for what it would refuse. */
export function canonicalAddress(url: string): { url: string; domain: string } | null {
  const canonical = canonicalizeUrl(url, canonicalization);
  return 'invalid' in canonical ? null : { url: canonical.canonical_url, domain: canonical.domain };
}

/** The name of a site in the list of switches: its host without `www.`. */
export function siteOf(url: string): string | null {
  return canonicalAddress(url)?.domain.replace(/^www\./, '') ?? null;
}

/** The switch that counts for a host: that of the longest listed name that it is or lies below. */
function switchOf(domain: string, sites: Settings['sites']): { site: string; to: SiteSwitch } | null {
  let longest: string | null = null;
  for (const site of Object.keys(sites)) {
    if (domainMatches(domain, site) && site.length > (longest?.length ?? 0)) longest = site;
  }
  return longest === null ? null : { site: longest, to: sites[longest] };
}

/** Whether a rule of the blacklist is about a page. */
export const isNamedBy = ({ kind, pattern }: BlacklistRule, page: { url: string; domain: string }): boolean =>
  kind === 'url' ? pattern === page.url : domainMatches(page.domain, pattern);

/** The first rule that keeps a page from being captured; null where it may be. */
export function exclusionOf(
  url: string,
  { settings, blacklist, now, byHand = false }: RuleContext,
): ExclusionRule | null {
  const canonical = /^https?:/i.test(url) ? canonicalAddress(url) : null;
  if (canonical === null) return { rule: 'scheme' };
  const { domain } = canonical;
  const listed = blacklist.find((rule) => isNamedBy(rule, canonical));
  if (listed !== undefined) return { rule: 'blacklist', pattern: listed.pattern };
  if (byHand) return null;
  const chosen = switchOf(domain, settings.sites);
  if (chosen?.to === 'off') return { rule: 'site', site: chosen.site };
  if (chosen?.to !== 'on') {
    if (isLocalHost(domain)) return { rule: 'local' };
    const kind = defaultKindOf(new URL(canonical.url), settings.defaultKinds);
    if (kind !== null) return { rule: 'kind', kind };
    if (settings.onlyAllowed) return { rule: 'only_allowed' };
  }
  // Last, as the popup asks the service only about pages that nothing but the pause excludes.
  const { pausedUntil } = settings;
  return pausedUntil !== null && isPaused(settings, now) ? { rule: 'paused', until: pausedUntil } : null;
}
