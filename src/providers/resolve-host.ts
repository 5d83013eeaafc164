/** Resolves an untrusted host once per connection, which uses only the checked addresses and never looks up again. */
import { lookup as lookupAddresses } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import type { AddressPolicy } from '../compute/web/address-policy.ts';
import { shownCode } from '../domain/errors.ts';
import { FetchError } from './fetch-error.ts';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Returns every address of a name. Errors: as of node:dns. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Max look-ups that wait for the system's resolver, which runs one or two at a time. */
const maxLookups = 64;
/** The message names the setting that allows the address. */
const blockedAddress = 'blocked address: fetch.allow_private_hosts does not list it';
/** Time before the next address is tried; Node's 250 ms are too short for far hosts (nodejs/node#54359). */
const nextAddressAfterMs = 1000;

const noSuchName: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NODATA', 'EAI_NONAME']);

/**
 * Resolves names to allowed addresses. `isForgeable`: an interceptor may have redirected here.
 * Errors: FetchError `no_such_name`, `dns`, `blocked_address`, `blocked_name`, `blocked_redirect`.
 */
export function hostResolver(
  policy: AddressPolicy,
  lookup: Lookup = (hostname) => lookupAddresses(hostname, { all: true }),
) {
  const looking = new Map<string, Promise<readonly ResolvedAddress[]>>();

  /** Concurrent callers share one lookup per name, so a hanging resolver is asked once. */
  const look = (hostname: string): Promise<readonly ResolvedAddress[]> => {
    const known = looking.get(hostname);
    if (known !== undefined) return known;
    if (looking.size >= maxLookups) throw new FetchError('dns', 'DNS failure: too many look-ups are waiting');
    const asked = lookup(hostname)
      .catch((error: unknown) => {
        const code = shownCode(error);
        const fault = noSuchName.has(code) ? 'no_such_name' : 'dns';
        throw new FetchError(fault, `DNS failure (${code})`, { cause: error });
      })
      .finally(() => looking.delete(hostname));
    looking.set(hostname, asked);
    return asked;
  };

  return async (hostname: string, isForgeable = false): Promise<readonly ResolvedAddress[]> => {
    const literal = /^\[(.*)\]$/.exec(hostname)?.[1] ?? (/^[\d.]+$/.test(hostname) ? hostname : null);
    const found =
      literal === null ? await look(hostname) : [{ address: literal, family: literal.includes(':') ? 6 : 4 }];
    // A name that the operator lists may have any address.
    const allowed = policy.lists(hostname) ? found : found.filter(({ address }) => policy.allows(address));
    if (found.length === 0) throw new FetchError('no_such_name', 'DNS failure: the name has no address');
    if (allowed.length === 0) {
      const fault = literal === null ? 'blocked_name' : 'blocked_address';
      throw new FetchError(isForgeable ? 'blocked_redirect' : fault, blockedAddress);
    }
    return allowed;
  };
}

/** Options of a connection to these addresses. Its lookup is not called for literals, which are checked before. */
export function connectionTo(addresses: readonly ResolvedAddress[]) {
  const lookup: LookupFunction = (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: nextAddressAfterMs };
}
