/**
 * Services: what answers messages. A service starts asynchronously, handles requests as they come (concurrently), and when it is stopped
 * finishes what it holds and lets go of what it has. It never dies of a request: an error goes to the one who asked. What it cannot live
 * with it reports with `crash`: its library is closed then and opened again (src/machines/library.ts), so a service has one life.
 */
import { DomainError } from '../../domain/errors.ts';
import type { SystemMessageName, SystemReplyOf, SystemRequestOf } from './system-messages.ts';

/** A request on its way: who waits for the reply is in it. */
export interface Envelope {
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

/** A service that has started. */
export interface Service<Names extends SystemMessageName> {
  handlers: Handlers<Names>;
  /** Finish what is held and let go of every resource; called once, after the last request was answered. */
  stop?(): Promise<void>;
}

export interface ServiceHooks {
  /** Report an error that the service cannot live with. */
  crash(error: unknown): void;
  /** Aborted when the service is to stop or has crashed: a start that takes long gives up what it can. */
  ending: AbortSignal;
}

/** Starts a service. Errors: why it cannot start. */
export type StartService<Names extends SystemMessageName = never> = (hooks: ServiceHooks) => Promise<Service<Names>>;

export interface RunningService {
  /** Resolves when it has started. Errors: why it could not. */
  ready: Promise<unknown>;
  /** Answer a request, once the service has started. */
  handle(envelope: Envelope): void;
  /** Refuse what comes from now on, answer what is held, let go. Errors: what could not be let go of. */
  stop(): Promise<void>;
}

/** Start a service; `crashed` hears, once, what it cannot live with. */
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
