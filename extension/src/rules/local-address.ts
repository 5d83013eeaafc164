/** Hosts of this machine and private networks, which are never captured. */

/** Names that are never public: RFC 6761, RFC 6762, RFC 8375, and those of routers and companies. */
const localSuffixes = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'home.arpa',
  'test',
  'invalid',
  'onion',
];
/** Common router names. */
const routers = ['fritz.box', 'speedport.ip'];

/** Special-purpose ranges of RFC 6890 that are private, link-local, shared or loopback. */
function isPrivateIpv4(host: string): boolean {
  const [a, b] = host.split('.').map(Number);
  return (
    a === 0 ||
    a === 10 ||
    a === 127 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 198 && (b === 18 || b === 19)) ||
    a >= 224
  );
}

/** Allocated IPv6 (2000::/3): RFC 4291, section 2.4. */
const isPublicIpv6 = (host: string): boolean => /^\[[23][0-9a-f]{3}:/.test(host);

/** A host of the URL parser: lower case, IPv4 in four decimal parts. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  if (host.startsWith('[')) return !isPublicIpv6(host);
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPrivateIpv4(host);
  if (!host.includes('.')) return true;
  return (
    localSuffixes.some((suffix) => host.endsWith(`.${suffix}`)) ||
    routers.some((name) => host === name || host.endsWith(`.${name}`))
  );
}
