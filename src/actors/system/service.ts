/**
 * Services answer messages. A service starts asynchronously, handles requests concurrently, and on stop finishes requests and frees
 * resources. A request's error goes to its caller; a fatal one is reported by `crash`: the library then closes and reopens
 * (library.ts), so a service has one life.
 */
import type { Logger } from 'pino';
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

interface Envelope {
  name: SystemMessageName;
  request: unknown;
  signal: AbortSignal | undefined;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
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
  /** Report a fatal error. */
  crash(error: unknown): void;
  /** Aborted on stop or crash, also during the start. */
  ending: AbortSignal;
}

export type StartService<Names extends SystemMessageName = never> = (hooks: ServiceHooks) => Promise<Service<Names>>;

export interface RunningService {
  /** Errors: why it could not start. */
  ready: Promise<Pick<Service<never>, 'handlers'>>;
  handle(envelope: Envelope): void;
  /** Refuse new requests, answer accepted ones, free resources. Errors: a resource that could not be freed. */
  stop(): Promise<void>;
}

/** `crashed` is called at most once. */
export function runService<Names extends SystemMessageName>(
  start: StartService<Names>,
  crashed: (error: unknown) => void,
): RunningService {
  const held = new Map<Envelope, Promise<void>>();
  const ending = new AbortController();
  let refusal: DomainError | null = null;
  let hasCrashed = false;

  const crash = (error: unknown) => {
    if (hasCrashed) return;
    hasCrashed = true;
    ending.abort();
    refusal = new DomainError('store_unavailable', 'a part of the library has failed', { retryAfterS: 1 });
    for (const envelope of held.keys()) envelope.reject(refusal);
    held.clear();
    crashed(error);
  };
  const started = Promise.resolve().then(() => start({ crash, ending: ending.signal }));
  started.catch(() => {}); // told by `ready`, and to each who asks

  const serve = async (envelope: Envelope) => {
    try {
      const { handlers } = await started;
      if (hasCrashed) return; // refused meanwhile
      envelope.signal?.throwIfAborted();
      const handle = handlers[envelope.name as Names] as (request: unknown, signal?: AbortSignal) => unknown;
      envelope.resolve(await handle(envelope.request, envelope.signal));
    } catch (error) {
      envelope.reject(error);
    } finally {
      held.delete(envelope);
    }
  };

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    refusal ??= new DomainError('shutting_down', 'the service is stopping');
    ending.abort();
    const service = await started.catch(() => null); // of one that did not start nothing is left
    await Promise.all(held.values());
    await service?.stop?.();
  };
  return {
    ready: started,
    handle: (envelope) => {
      if (refusal !== null) envelope.reject(refusal);
      else held.set(envelope, serve(envelope));
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
