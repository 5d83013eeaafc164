/** Which hosts are of this machine or of a private network: what is shown there is for few eyes, and no address for others. */

/** Names that are never public: RFC 6761, RFC 6762, RFC 8375, and what routers and companies use. */
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
/** What routers call themselves. */
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

/** All of IPv6 but what is handed out (2000::/3): RFC 4291, section 2.4. */
const isPublicIpv6 = (host: string): boolean => /^\[[23][0-9a-f]{3}:/.test(host);

/** Takes a host as the URL parser gives it: lower case, IPv4 addresses in four decimal parts. */
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
