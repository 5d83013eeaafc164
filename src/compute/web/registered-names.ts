/** Registered names, by the public suffix list of tldts (110 KB). The extension uses `domain-match.ts` instead. */
import { parse } from 'tldts';

/** Names under a public suffix: `forbes.com`, `www.bbc.co.uk`; not `co.uk`, `node.js`. */
export function isRegisteredName(domain: string): boolean {
  const { domain: registered, isIcann } = parse(domain);
  return registered !== null && isIcann === true;
}

/** `com`, `co.uk`, `github.io`. */
export function isPublicSuffix(domain: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true });
  return publicSuffix === domain && (isIcann === true || isPrivate === true);
}

/** The name that one owner has registered: `bbc.co.uk` for `www.bbc.co.uk`, `a.github.io`; or the whole host. */
export function registeredName(host: string): string {
  return parse(host, { allowPrivateDomains: true }).domain ?? host;
}
