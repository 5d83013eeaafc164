/** A library's services: started by dependency, stopped in reverse. `ask` sends each message to the right service. */
import type { Logger } from 'pino';
import { traced } from '../../compute/span.ts';
import { DomainError, LeaseEndedError } from '../../domain/errors.ts';
import { type RunningService, runService, type StartService, type SystemAsk } from './service.ts';

/** Start order. The services of a row start together, after the row before. */
export const startOrder = [
  ['writer'],
  ['indexes'],
  [
    'intake',
    'imports',
    'models',
    'queries',
    'retriever',
    'journal',
    'watches',
    'forgetting',
    'clusters',
    'events',
    'metrics',
    'entities',
    'scheduler',
  ],
] as const;
export type ServiceName = (typeof startOrder)[number][number];

export type ServiceStarts = Record<ServiceName, StartService>;

/** Aborting `ending` ends the start. Errors: of a service that cannot start or crashes; the others are then stopped. */
export async function startServices(
  startsOf: (ask: SystemAsk) => ServiceStarts,
  { ending, log }: { ending: AbortSignal; log: Logger },
) {
  const running = new Map<ServiceName, RunningService>();
  /** The service that answers each message. Filled as services become ready. */
  const answeredBy = new Map<string, ServiceName>();
  let registered: Promise<unknown> = Promise.resolve();
  let tellCrash: (error: unknown) => void = () => {};
  const crashed = new Promise<unknown>((resolve) => {
    tellCrash = resolve;
  });
  /** Errors: those of the service; DomainError `store_unavailable` or `shutting_down` if it does not run. */
  const ask: SystemAsk = (name, request, options) =>
    traced(`ask ${name}`, {}, async () => {
      // The answering service may start together with its caller.
      if (!answeredBy.has(name)) await registered.catch(() => {});
      const owner = answeredBy.get(name);
      const service = owner === undefined ? undefined : running.get(owner);
      if (service === undefined)
        throw new DomainError('store_unavailable', `nothing answers ${name} now`, { retryAfterS: 1 });
      return service.handle(name, request, options?.signal) as Promise<never>;
    });
  const register = async (name: ServiceName) => {
    const service = await running.get(name)?.ready;
    for (const message of Object.keys(service?.handlers ?? {})) {
      const other = answeredBy.get(message);
      if (other !== undefined && other !== name) throw new Error(`${other} and ${name} both answer ${message}`);
      answeredBy.set(message, name);
    }
  };
  const crash = crashed.then((error) => {
    throw error;
  });
  crash.catch(() => {}); // matters only during the start
  /** Stop in reverse order. Errors: the first failure to free a resource, after all are stopped. */
  const stop = async () => {
    const failures: unknown[] = [];
    for (const names of [...startOrder].reverse()) {
      const stops = await Promise.allSettled(names.map((name) => running.get(name)?.stop()));
      failures.push(...stops.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])));
      for (const name of names) running.delete(name);
    }
    if (failures.length > 0) throw failures[0];
  };
  let starting: readonly ServiceName[] = [];
  const stopStarting = () => {
    for (const name of starting)
      running
        .get(name)
        ?.stop()
        .catch(() => {}); // `stop` reports the error
  };
  ending.addEventListener('abort', stopStarting);
  try {
    const starts = startsOf(ask);
    for (const names of startOrder) {
      ending.throwIfAborted();
      starting = names;
      for (const name of names) {
        const start: StartService = starts[name];
        running.set(
          name,
          runService(start, (error) => {
            if (!(error instanceof LeaseEndedError)) log.error({ err: error, service: name }, 'a service crashed');
            tellCrash(error);
          }),
        );
      }
      registered = Promise.all(names.map(register));
      await Promise.race([crash, registered]);
    }
    ending.throwIfAborted();
  } catch (error) {
    await stop().catch(() => {}); // the reason why it could not start is more useful
    throw error;
  } finally {
    ending.removeEventListener('abort', stopStarting);
  }
  return { ask, crashed, stop };
}
