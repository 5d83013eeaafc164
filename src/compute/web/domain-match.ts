/**
 * Domains as the service compares them: lower-case ASCII host names without port, matched by whole labels from the right.
 * Called by canonicalisation, the blacklist, forgetting and search filters.
 */
/** Characters of a host, and of a label of it: RFC 1035, 2.3.4. */
const maxHostLength = 253;
const maxLabelLength = 63;
/** Characters of a host as it is written: with each of its letters escaped, no host comes to so many. Reading them takes quadratic time. */
const maxWrittenLength = 1024;
/** Ends a sentence about what a host must be. */
export const tooLong = { invalid: `of at most ${maxHostLength} characters` };

/** True where `domain` is `pattern` or lies below it: `a.example.com` matches `example.com`, `notexample.com` does not. */
export function domainMatches(domain: string, pattern: string): boolean {
  if (!domain.endsWith(pattern) || pattern === '') return false;
  return domain.length === pattern.length || domain[domain.length - pattern.length - 1] === '.';
}

/** A domain and those above it, longest first; none that is too long for a host. */
export function* domainSuffixes(domain: string): Generator<string> {
  for (let at = 0; ; ) {
    if (domain.length - at <= maxHostLength) yield domain.slice(at);
    const dot = domain.indexOf('.', at);
    if (dot === -1) return;
    at = dot + 1;
  }
}

/**
 * The comparable form of a domain that somebody typed: lower case, punycode, without port and without the root's dot.
 * Errors: `{invalid}` with a sentence naming the cause, for anything that is more or less than a host. A `*` is refused, although the
 * URL parser takes it: a pattern that nothing matches would look like one that forgets everything below.
 */
export function normalizeDomain(input: string): string | { invalid: string } {
  const typed = input.trim();
  if (typed === '') return { invalid: 'domain must not be empty' };
  if (/[/?#@\\\s]/.test(typed)) return { invalid: 'domain must be a host name, without scheme, path or spaces' };
  if (typed.includes('*')) return { invalid: 'domain must be without *: what is below it is meant, too' };
  const address = `http://${typed}`;
  if (isTooLongToRead(typed)) return { invalid: `domain must be a host ${tooLong.invalid}` };
  if (!URL.canParse(address)) return { invalid: 'domain must be a valid host name' };
  const host = normalizeHost(new URL(address).hostname);
  return typeof host === 'string' ? host : { invalid: `domain must be a host ${host.invalid}` };
}

/** Whether a host, as it is written, is so long that the URL parser should not be asked. */
export function isTooLongToRead(host: string): boolean {
  return host.length > maxWrittenLength;
}

/**
 * Lower-case, with the root's dot dropped. Takes a host as the URL parser gives it.
 * Errors: `{invalid}`, which ends a sentence about what a host must be, for one that no name server could be asked for.
 */
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
