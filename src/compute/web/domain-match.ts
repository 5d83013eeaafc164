/**
 * Domains as the service compares them: lower-case ASCII host names without port, matched by whole labels from the right.
 * Called by canonicalisation, the blacklist, forgetting and search filters.
 */
import { parse } from 'tldts';

/** True where `domain` is `pattern` or lies below it: `a.example.com` matches `example.com`, `notexample.com` does not. */
export function domainMatches(domain: string, pattern: string): boolean {
  if (!domain.endsWith(pattern) || pattern === '') return false;
  return domain.length === pattern.length || domain[domain.length - pattern.length - 1] === '.';
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
  if (!URL.canParse(address)) return { invalid: 'domain must be a valid host name' };
  return normalizeHost(new URL(address).hostname) ?? { invalid: 'domain must not have empty labels' };
}

/** Lower-case, with the root's dot dropped; undefined where a label is empty. Takes a host as the URL parser gives it. */
export function normalizeHost(hostname: string): string | undefined {
  const lower = hostname.toLowerCase();
  const host = lower.endsWith('.') ? lower.slice(0, -1) : lower;
  return host === '' || host.startsWith('.') || host.endsWith('.') || host.includes('..') ? undefined : host;
}

/** True for a domain under which anybody may register names (`com`, `co.uk`, `github.io`), by the list built into tldts. */
export function isPublicSuffix(domain: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true });
  return publicSuffix === domain && (isIcann === true || isPrivate === true);
}
