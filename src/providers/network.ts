/**
 * Whether this machine has a network: some host or name server answers. Failures without a network are `offline`. A few
 * in a row open the breaker `network`, which allows one attempt after each cooldown (actors/system/scheduler.ts).
 */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { AddressPolicy } from '../compute/web/address-policy.ts';
import { errorCode } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { FetchError } from './fetch-error.ts';
import { BreakerOpenError, type CircuitBreaker } from './resilient-call.ts';

export const networkName = 'network';

export interface NetworkOptions {
  breaker: CircuitBreaker;
  /** Whether anything outside this machine answers. */
  probe: () => Promise<boolean>;
  clock: Pick<Clock, 'monotonic'>;
}

export type Network = ReturnType<typeof openNetwork>;

/** Retry time if there is no network, ms. */
const againAfterMs = 30_000;

export function openNetwork({ breaker, probe, clock }: NetworkOptions) {
  let provenAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | null = null;

  const ask = (): Promise<boolean> => {
    asking ??= (async () => {
      const at = clock.monotonic();
      try {
        const isUp = await probe();
        if (isUp) provenAt = Math.max(provenAt, at);
        return isUp;
      } finally {
        asking = null;
      }
    })();
    return asking;
  };

  const judged = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const began = clock.monotonic();
    try {
      const result = await run();
      provenAt = clock.monotonic();
      return result;
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      if (error.wasAnswered) provenAt = clock.monotonic();
      if (!error.mayBeOffline || provenAt > began || (await ask())) throw error;
      const message = `no network: ${error.message}`;
      throw new FetchError('offline', message, { retryAfterMs: againAfterMs, cause: error });
    }
  };

  return {
    /**
     * Runs `run`, which must end when a host has answered.
     * Errors: those of `run`; FetchError `offline` instead of an unreachable or internal host if there is no network.
     */
    async contact<Result>(run: () => Promise<Result>): Promise<Result> {
      try {
        return await breaker.call(() => judged(run));
      } catch (error) {
        if (!(error instanceof BreakerOpenError)) throw error;
        throw new FetchError('offline', 'no network', { retryAfterMs: error.retryAfterMs, cause: error });
      }
    },
  };
}

/** Attributes every fault to the host. */
export const unjudgedNetwork: Network = { contact: (run) => run() };

/** ms per attempt, two attempts. */
const probeTimeoutMs = 2000;
const probeTries = 2;
/** A name server of `com`. A resolver that denies it denies every name. */
const lastingName = 'a.gtld-servers.net';

/**
 * Asks for a random name and for one that always exists. The random name is in no cache, so a denial comes from
 * outside, unless the second name is denied too. A captive portal or router that answers everything gives the random
 * name an internal address, or the second name's; any other address is a provider's advertising page. Errors: none;
 * false.
 */
export async function nameServerAnswers(
  { allows }: Pick<AddressPolicy, 'allows'>,
  resolve4: (name: string) => Promise<string[]> = askNameServer,
): Promise<boolean> {
  const addressesOf = (name: string): Promise<string[] | null> =>
    resolve4(name).catch((error: unknown) => {
      const code = errorCode(error);
      return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null;
    });
  const madeUpName = `${randomBytes(12).toString('hex')}.com`;
  const [lasting, madeUp] = await Promise.all([addressesOf(lastingName), addressesOf(madeUpName)]);
  if (lasting === null || madeUp === null || !lasting.some(allows)) return false;
  return madeUp.length === 0 || (madeUp.some(allows) && !madeUp.some((address) => lasting.includes(address)));
}

function askNameServer(name: string): Promise<string[]> {
  // A new resolver each time, to read the current name servers.
  return new Resolver({ timeout: probeTimeoutMs, tries: probeTries }).resolve4(name);
}
