/**
 * Services answer messages. A service starts asynchronously, handles requests concurrently, and on stop finishes requests and frees
 * resources. A request's error goes to its caller; a fatal one is reported by `crash`: the library then closes and reopens
 * (library.ts), so a service has one life.
 */
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { unlessAborted } from '../../compute/unless-aborted.ts';
import type { CanonicalizeSettings } from '../../compute/web/canonical-url.ts';
import { DomainError } from '../../domain/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import type { CommitFeed } from './commit-feed.ts';
import type { CommitCommand, SystemAsk, SystemMessageName, SystemReplyOf, SystemRequestOf } from './system-messages.ts';

/** What services and handlers of jobs have in common. */
export interface LibraryParts {
  ask: SystemAsk;
  reader: StoreReader;
  commit: CommitCommand;
  feed: CommitFeed;
  metrics: LibraryMetrics;
  canonicalize: CanonicalizeSettings;
  /** Of new jobs. */
  maxAttempts: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Monotonic, ms. */
  monotonic: () => number;
}

export type Handlers<Names extends SystemMessageName> = {
  [Name in Names]: (
    request: SystemRequestOf<Name>,
    signal: AbortSignal | undefined,
  ) => SystemReplyOf<Name> | Promise<SystemReplyOf<Name>>;
};

export interface Service<Names extends SystemMessageName> {
  handlers: Handlers<Names>;
  /** Frees every resource; called once, after the last request. */
  stop?(): Promise<void>;
}

export interface ServiceHooks {
  crash(error: unknown): void;
  /** Aborted on stop or crash, also during the start. */
  ending: AbortSignal;
}

export type StartService<Names extends SystemMessageName = never> = (hooks: ServiceHooks) => Promise<Service<Names>>;

export interface RunningService {
  /** Errors: why it could not start. */
  ready: Promise<Pick<Service<never>, 'handlers'>>;
  /** Errors: those of the handler; DomainError `store_unavailable` after a crash, `shutting_down` after a stop. */
  handle(name: SystemMessageName, request: unknown, signal: AbortSignal | undefined): Promise<unknown>;
  /** Refuse new requests, answer accepted ones, free resources. Errors: a resource that could not be freed. */
  stop(): Promise<void>;
}

/** `crashed` is called at most once. */
export function runService<Names extends SystemMessageName>(
  start: StartService<Names>,
  crashed: (error: unknown) => void,
): RunningService {
  const held = new Set<Promise<unknown>>();
  const ending = new AbortController();
  /** Its reason refuses held requests and later ones. */
  const crashing = new AbortController();
  setMaxListeners(0, crashing.signal);

  const crash = (error: unknown) => {
    if (crashing.signal.aborted) return;
    crashing.abort(new DomainError('store_unavailable', 'a part of the library has failed', { retryAfterS: 1 }));
    ending.abort();
    crashed(error);
  };
  const started = Promise.resolve().then(() => start({ crash, ending: ending.signal }));
  started.catch(() => {}); // told by `ready`, and to each who asks

  const serve = async (name: SystemMessageName, request: unknown, signal: AbortSignal | undefined) => {
    const { handlers } = await started;
    crashing.signal.throwIfAborted(); // refused meanwhile
    signal?.throwIfAborted();
    const handle = handlers[name as Names] as (request: unknown, signal?: AbortSignal) => unknown;
    return handle(request, signal);
  };

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    ending.abort();
    const service = await started.catch(() => null); // of one that did not start nothing is left
    await Promise.allSettled(held);
    await service?.stop?.();
  };
  return {
    ready: started,
    handle: async (name, request, signal) => {
      crashing.signal.throwIfAborted();
      if (ending.signal.aborted) throw new DomainError('shutting_down', 'the service is stopping');
      const served = unlessAborted(serve(name, request, signal), crashing.signal);
      held.add(served);
      try {
        return await served;
      } finally {
        held.delete(served);
      }
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
