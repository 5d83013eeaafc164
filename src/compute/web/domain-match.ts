/** Domains: lower-case ASCII host names without port, compared by whole labels from the right. */
/** RFC 1035, 2.3.4: characters of a host, and of a label. */
const maxHostLength = 253;
const maxLabelLength = 63;
/** Max characters as written: with all letters escaped, no valid host is longer. Parsing takes quadratic time. */
const maxWrittenLength = 1024;
/** Used at the end of an error message about hosts. */
export const tooLong = { invalid: `of at most ${maxHostLength} characters` };

/** `a.example.com` matches `example.com`, `notexample.com` does not. */
export function domainMatches(domain: string, pattern: string): boolean {
  if (!domain.endsWith(pattern) || pattern === '') return false;
  return domain.length === pattern.length || domain[domain.length - pattern.length - 1] === '.';
}

/** A site or address as typed, such as `example.com/private`, in lower case with a final slash. Else null. */
function placeOf(place: string): { domain: string; path: string } | null {
  const bare = place.trim().replace(/^https?:\/\//i, '');
  const [host] = bare.split('/', 1);
  const domain = normalizeDomain(host);
  if (typeof domain !== 'string' || /[?#*@]/.test(bare)) return null;
  const { pathname } = new URL(`http://h/${bare.slice(host.length + 1)}`);
  return { domain, path: pathname.toLowerCase().replace(/(?<!\/)\/*$/, '/') };
}

export const isPlace = (place: string): boolean => placeOf(place) !== null;

/** Whether a page is below one of these sites or addresses. Each must pass `isPlace`. */
export function isPageUnder({ canonical_url }: { canonical_url: string }, places: readonly string[]): boolean {
  if (places.length === 0) return false;
  const { hostname, pathname } = new URL(canonical_url);
  return places.some((typed) => {
    const place = placeOf(typed);
    if (place === null) return false;
    return domainMatches(hostname, place.domain) && `${pathname.toLowerCase()}/`.startsWith(place.path);
  });
}

/** A domain and its parents, longest first. Skips those too long for a host. */
export function* domainSuffixes(domain: string): Generator<string> {
  for (let at = 0; ; ) {
    if (domain.length - at <= maxHostLength) yield domain.slice(at);
    const dot = domain.indexOf('.', at);
    if (dot === -1) return;
    at = dot + 1;
  }
}

/** A typed domain in lower case and punycode, without port and final dot. Errors: `{invalid}` with the cause. */
export function normalizeDomain(input: string): string | { invalid: string } {
  const typed = input.trim();
  if (typed === '') return { invalid: 'domain must not be empty' };
  if (/[/?#@\\\s]/.test(typed)) return { invalid: 'domain must be a host name, without scheme, path or spaces' };
  if (typed.includes('*')) return { invalid: 'domain must not contain *: subdomains are included' };
  const address = `http://${typed}`;
  if (isTooLongToRead(typed)) return { invalid: `domain must be a host ${tooLong.invalid}` };
  if (!URL.canParse(address)) return { invalid: 'domain must be a valid host name' };
  const host = normalizeHost(new URL(address).hostname);
  return typeof host === 'string' ? host : { invalid: `domain must be a host ${host.invalid}` };
}

export function isTooLongToRead(host: string): boolean {
  return host.length > maxWrittenLength;
}

/** Lower case, without the final dot. `hostname`: of the URL parser. `{invalid}`: the end of an error message. */
export function normalizeHost(hostname: string): string | { invalid: string } {
  const lower = hostname.toLowerCase();
  const host = lower.endsWith('.') ? lower.slice(0, -1) : lower;
  if (host.length > maxHostLength) return tooLong;
  const labels = host.split('.');
  if (labels.includes('')) return { invalid: 'without empty labels' };
  if (labels.some(({ length }) => length > maxLabelLength)) {
    return { invalid: `whose labels have at most ${maxLabelLength} characters` };
  }
  return host;
}
