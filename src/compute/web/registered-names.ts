/**
 * Which names people register, by the public suffix list that is built into tldts. Apart from `domain-match.ts`, which also runs in the
 * browser extension: the list is 110 KB. Called by queries, names in texts and forgetting.
 */
import { parse } from 'tldts';

/** True for a name that is registered under a public suffix, and those below it: `forbes.com`, `www.bbc.co.uk`; not `co.uk`, `node.js`. */
export function isRegisteredName(domain: string): boolean {
  const { domain: registered, isIcann } = parse(domain);
  return registered !== null && isIcann === true;
}

/** True for a domain under which anybody may register names (`com`, `co.uk`, `github.io`), by the list built into tldts. */
export function isPublicSuffix(domain: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true });
  return publicSuffix === domain && (isIcann === true || isPrivate === true);
}
