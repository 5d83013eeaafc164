/**
 * Whether this machine has a network, for all that goes out to the open web. A host that cannot be reached may be down, or nothing can
 * be reached: then no host answers, and no name server that knows the world. One that answers for every name knows none.
 *
 * What fails while nothing can be reached fails as `offline`. A few of these in a row open the breaker `network`, and then nothing is
 * tried but one contact after each cooldown: `src/actors/jobs/scheduler.ts` begins no more fetches than that.
 */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { AddressPolicy } from '../compute/web/address-policy.ts';
import { errorCode } from '../domain/error-code.ts';
import type { Clock } from './clock.ts';
import { FetchError } from './fetch-error.ts';
import { BreakerOpenError } from './provider-error.ts';
import type { CircuitBreaker } from './resilient-call.ts';

/** The breaker's name. */
export const networkName = 'network';

export interface NetworkOptions {
  breaker: CircuitBreaker;
  /** Whether anything beyond this machine answers now. */
  probe: () => Promise<boolean>;
  clock: Pick<Clock, 'monotonic'>;
}

export interface Network {
  /**
   * Get in contact with a host: `run` ends when it has answered.
   * Errors: those of `run`; FetchError `offline` instead of one that says that the host was not reached, or that its name leads
   * inside, where nothing is reached.
   */
  contact<Result>(run: () => Promise<Result>): Promise<Result>;
}

/** When whoever found no network comes back, ms. */
const againAfterMs = 30_000;

export function openNetwork({ breaker, probe, clock }: NetworkOptions): Network {
  let provenAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | null = null;

  /** Whoever asks meanwhile gets the same answer. What it proves held when it was asked. */
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
    async contact(run) {
      try {
        return await breaker.call(() => judged(run));
      } catch (error) {
        if (!(error instanceof BreakerOpenError)) throw error;
        throw new FetchError('offline', 'no network', { retryAfterMs: error.retryAfterMs, cause: error });
      }
    },
  };
}

/** Without a judge: every fault is the host's. */
export const unjudgedNetwork: Network = { contact: (run) => run() };

/** For an answer that does not come, ms; asked twice. */
const probeTimeoutMs = 2000;
const probeTries = 2;
/** A name server of `com`. A resolver that denies it denies everything. */
const lastingName = 'a.gtld-servers.net';

/**
 * Ask the system's name server for a name that nobody has, and for one that has always been there. No cache can know the first, so that it
 * is told from afar that there is none; a resolver without the world behind it that denies whatever it is asked denies the second, too,
 * and one that answers whatever it is asked (a network that wants its own page seen first, a router without a line) has an address for
 * the first: one inside, or the second's. An address elsewhere is a provider's page of advertisements, with the world behind it.
 * Errors: none; false where no such answers come.
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
  // A new one each time: it reads what the system's name servers are by now.
  return new Resolver({ timeout: probeTimeoutMs, tries: probeTries }).resolve4(name);
}
