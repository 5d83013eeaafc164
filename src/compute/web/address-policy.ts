/** Decides whether a resolved address may be fetched: public addresses, and those that the operator lists. */
import ipaddr from 'ipaddr.js';
import { normalizeDomain } from './domain-match.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type AddressPolicy = ReturnType<typeof addressPolicy>;

type HostRule = { name: string } | { range: [Address, number] };

/** Globally routed (RFC 4291, 2.4). ipaddr.js excludes tunnels, embedded IPv4 and other special ranges (RFC 6890). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Parse `fetch.allow_private_hosts`.
 * Shapes: host names (exact), addresses, or CIDR ranges.
 * Errors: invalid entries are ignored; check with `isHostRule`.
 */
export function addressPolicy(allowPrivateHosts: readonly string[]) {
  const rules = allowPrivateHosts.map(parseRule).filter((rule) => rule !== null);
  const names = new Set(rules.flatMap((rule) => ('name' in rule ? [rule.name] : [])));
  const ranges = rules.flatMap((rule) => ('range' in rule ? [rule.range] : []));
  const isListed = (address: Address) => ipaddr.subnetMatch(address, { listed: ranges }) === 'listed';
  return {
    /** Whether the operator lists this host name or address (in the URL parser's form). */
    lists: (hostname: string): boolean => {
      const address = addressOf(hostname);
      if (address !== null) return isListed(address);
      const name = normalizeDomain(hostname);
      return typeof name === 'string' && names.has(name);
    },
    /** Whether connections to this address, in any form, are allowed; false if invalid. */
    allows: (text: string): boolean => {
      const address = addressOf(text);
      return address !== null && (isListed(address) || isPublic(address));
    },
  };
}

export function isHostRule(entry: string): boolean {
  return parseRule(entry) !== null;
}

function parseRule(entry: string): HostRule | null {
  const text = entry.trim().replace(/^\[(.*)\]$/, '$1');
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text) || !isPlain(text.slice(0, text.indexOf('/')))) return null;
    const [base, bits] = ipaddr.parseCIDR(text);
    return { range: [base, bits] };
  }
  const address = addressOf(text);
  if (address !== null) return { range: [address, address.kind() === 'ipv4' ? 32 : 128] };
  const name = normalizeDomain(text);
  return typeof name === 'string' ? { name } : null;
}

/** The plain form of an address, with embedded IPv4 extracted; null otherwise. Brackets are allowed. */
function addressOf(text: string): Address | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return isPlain(bare) ? ipaddr.process(bare) : null;
}

/** Not a form that the URL parser rewrites (`127.1`), nor `::1.2.3.4`, which ipaddr.js reads as `::ffff:1.2.3.4`. */
function isPlain(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !/^::\d+\./.test(text));
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(globalUnicast);
}
