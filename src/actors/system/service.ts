/**
 * Services: the actors that answer messages. A service starts asynchronously, says it is ready, handles requests one by one as
 * they come (concurrently), and on `stop` finishes what it holds and says it has stopped. It never dies of a request: an error
 * goes to the one who asked. What it cannot live with, it reports with `crash`, and the supervisor starts it again.
 */
import { fromCallback } from 'xstate';
import { DomainError } from '../../domain/errors.ts';
import type { SystemMessageName, SystemReplyOf, SystemRequestOf } from './system-messages.ts';

/** A request on its way: who waits for the reply is in it. */
export interface Envelope {
  type: 'request';
  name: SystemMessageName;
  request: unknown;
  signal: AbortSignal | undefined;
  /** Runs work in the context of the one who asks; where absent, work runs where it is. */
  within?: <Result>(work: () => Result) => Result;
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
  /** Finish what is held and let go of every resource; called once, after the last request was answered. */
  stop?(): Promise<void>;
}

export interface ServiceHooks {
  /** Report an error that the service cannot live with. */
  crash(error: unknown): void;
  /** Aborted when this life is to stop or has ended: a start that takes long gives up what it can. */
  ending: AbortSignal;
}

export type ServiceCommand = Envelope | { type: 'stop' };

/**
 * The actor logic of a service: `name` is how the supervisor's chart calls it. However a life of the service ends, what it has
 * is let go of, and the next life starts after that.
 */
export function serviceLogic<Names extends SystemMessageName>(
  name: string,
  start: (hooks: ServiceHooks) => Promise<Service<Names>>,
) {
  let previousIsGone: Promise<void> = Promise.resolve();

  return fromCallback<ServiceCommand>(({ sendBack, receive }) => {
    const held = new Map<Envelope, Promise<void>>();
    const ending = new AbortController();
    let refusal: DomainError | null = null;
    let ended = false;
    let gone: Promise<void> | undefined;

    const letGo = () => {
      gone ??= started.then(
        (service) => service.stop?.(),
        () => {}, // there is nothing to let go of, and why is already told
      );
      return gone;
    };
    const end = () => {
      if (ended) return;
      ended = true;
      ending.abort();
      refusal = new DomainError('store_unavailable', `${name} is restarting`, { retryAfterS: 1 });
      for (const envelope of held.keys()) envelope.reject(refusal);
      held.clear();
      previousIsGone = letGo();
      previousIsGone.catch(() => {}); // told by the next life, which cannot start then
    };
    const crash = (error: unknown) => {
      if (ended) return;
      end();
      sendBack({ type: `crashed.${name}`, error });
    };
    const started = previousIsGone.then(() => start({ crash, ending: ending.signal }));
    started.then(() => sendBack({ type: `ready.${name}` }), crash);

    const serve = async (envelope: Envelope) => {
      try {
        const { handlers } = await started;
        if (ended) return; // refused meanwhile
        const handle = handlers[envelope.name as Names] as (request: unknown, signal?: AbortSignal) => unknown;
        const work = () => handle(envelope.request, envelope.signal);
        envelope.resolve(await (envelope.within === undefined ? work() : envelope.within(work)));
      } catch (error) {
        envelope.reject(error);
      } finally {
        held.delete(envelope);
      }
    };
    const stop = async () => {
      refusal = new DomainError('shutting_down', 'the service is stopping');
      ending.abort();
      try {
        await started;
        await Promise.all(held.values());
        await letGo();
        end();
        sendBack({ type: `stopped.${name}` });
      } catch (error) {
        crash(error);
      }
    };

    receive((command) => {
      if (command.type === 'stop') void stop();
      else if (refusal !== null) command.reject(refusal);
      else held.set(command, serve(command));
    });
    return end;
  });
}
