/**
 * Which addresses of the network pages may be fetched from: those that are public, and those that the operator lists. Decides
 * over addresses only; who resolves names and connects is src/providers/web-fetch.ts, and it asks for every one.
 */
import ipaddr from 'ipaddr.js';
import { normalizeDomain } from './domain-match.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface AddressPolicy {
  /** True for a host, as the URL parser gives it, that the operator lists by name or address. */
  lists(hostname: string): boolean;
  /** True where a connection to this address, in any of its forms, may be made; false for what is no address. */
  allows(address: string): boolean;
}

type HostRule = { name: string } | { range: [Address, number] };

/**
 * The addresses that the internet routes to somebody: all of IPv4 but the special ranges, of IPv6 what is handed out (2000::/3)
 * but the ranges that stand for IPv4 addresses, tunnels and documentation.
 * Source: the special-purpose registries of RFC 6890 as ipaddr.js knows them; RFC 4291, section 2.4.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Read `fetch.allow_private_hosts`.
 * Shapes: each entry is a host name (that name alone, not those below it), an address, or a CIDR range.
 * Errors: an entry that is none of these is left out; `isHostRule` tells beforehand.
 */
export function addressPolicy(allowPrivateHosts: readonly string[]): AddressPolicy {
  const rules = allowPrivateHosts.map(parseRule).filter((rule) => rule !== null);
  const names = new Set(rules.flatMap((rule) => ('name' in rule ? [rule.name] : [])));
  const ranges = rules.flatMap((rule) => ('range' in rule ? [rule.range] : []));
  const isListed = (address: Address) =>
    ranges.some(([base, bits]) => base.kind() === address.kind() && matches(address, base, bits));
  return {
    lists: (hostname) => {
      const address = addressOf(hostname);
      if (address !== null) return isListed(address);
      const name = normalizeDomain(hostname);
      return typeof name === 'string' && names.has(name);
    },
    allows: (text) => {
      const address = addressOf(text);
      return address !== null && (isListed(address) || isPublic(address));
    },
  };
}

/** True for an entry that `fetch.allow_private_hosts` may have. */
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

/** An address in its plain form, an IPv4 address inside an IPv6 one taken out; null for anything else. Brackets are allowed. */
function addressOf(text: string): Address | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return isPlain(bare) ? ipaddr.process(bare) : null;
}

/**
 * `127.1`, `0x7f000001` and their like are addresses to some and names to others: the URL parser has made them plain. `::1.2.3.4`, which
 * nobody has (RFC 4291, 2.5.5.1), is to ipaddr.js the same as `::ffff:1.2.3.4`.
 */
function isPlain(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !/^::\d+\./.test(text));
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(globalUnicast);
}

function matches(address: Address, base: Address, bits: number): boolean {
  if (address instanceof ipaddr.IPv4 && base instanceof ipaddr.IPv4) return address.match(base, bits);
  return address instanceof ipaddr.IPv6 && base instanceof ipaddr.IPv6 && address.match(base, bits);
}
