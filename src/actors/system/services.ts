/** A library's services: started by dependency, stopped in reverse. Every message goes through here to the service that answers it. */
import type { Logger } from 'pino';
import { DomainError, LeaseEndedError } from '../../domain/errors.ts';
import { traced } from '../../tracing/span.ts';
import { type RunningService, runService, type StartService } from './service.ts';
import type { SystemAsk, SystemMessageName } from './system-messages.ts';

/** Start order: services of a row start together, after the row before. */
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

export const answeredBy = {
  'page.ingest': 'intake',
  'page.ingestBatch': 'intake',
  'import.begin': 'imports',
  'import.list': 'imports',
  'import.get': 'imports',
  'import.stop': 'imports',
  'page.list': 'queries',
  'page.get': 'queries',
  'page.text': 'queries',
  'page.chunks': 'queries',
  'page.visits': 'queries',
  'page.status': 'queries',
  'page.statusBatch': 'queries',
  'page.entities': 'entities',
  'entity.list': 'entities',
  'entity.get': 'entities',
  'entity.merge': 'entities',
  'entity.undoMerge': 'entities',
  'entity.splitMerge': 'entities',
  'entity.merges': 'entities',
  'entity.suggestions': 'entities',
  'entity.reject': 'entities',
  'page.forget': 'forgetting',
  'blacklist.list': 'forgetting',
  'blacklist.remove': 'forgetting',
  'job.list': 'queries',
  'job.retry': 'queries',
  'job.retryBatch': 'queries',
  'system.readiness': 'queries',
  'events.subscribe': 'events',
  'metrics.timeseries': 'metrics',
  'metrics.summary': 'metrics',
  'disk.usage': 'metrics',
  'search.query': 'retriever',
  'search.batch': 'retriever',
  'search.similar': 'retriever',
  'search.compare': 'retriever',
  'search.suggest': 'retriever',
  'search.rank': 'retriever',
  'queryLog.list': 'journal',
  'queryLog.get': 'journal',
  'feedback.give': 'journal',
  'eval.score': 'journal',
  'eval.startReplay': 'journal',
  'eval.replay': 'journal',
  'eval.replays': 'journal',
  'cluster.list': 'clusters',
  'cluster.runs': 'clusters',
  'cluster.get': 'clusters',
  'cluster.projection': 'clusters',
  'cluster.recompute': 'clusters',
  'cluster.place': 'clusters',
  'watch.list': 'watches',
  'watch.get': 'watches',
  'watch.create': 'watches',
  'watch.update': 'watches',
  'watch.delete': 'watches',
  'watch.run': 'watches',
  'model.list': 'models',
  'model.register': 'models',
  'model.activate': 'models',
  'model.pauseFill': 'models',
  'model.retire': 'models',
  'model.backfill': 'models',
  'model.estimateBackfill': 'models',
  'model.startBackfill': 'models',
  'store.commit': 'writer',
  'store.compact': 'writer',
  'store.trouble': 'writer',
  'index.add': 'indexes',
  'index.addVectors': 'indexes',
  'index.openSpace': 'indexes',
  'index.dropSpace': 'indexes',
  'index.retrieve': 'indexes',
  'index.nearPages': 'indexes',
  'index.relatedPages': 'indexes',
  'index.settled': 'indexes',
  'index.markPassages': 'indexes',
  'index.pagesUnder': 'indexes',
  'index.domains': 'indexes',
  'index.pagesWithoutChunks': 'indexes',
  'index.state': 'indexes',
  'index.remove': 'indexes',
  'index.heldAtStart': 'indexes',
  'index.purge': 'indexes',
} as const satisfies Record<SystemMessageName, ServiceName>;

type MessagesOf<Name extends ServiceName> = {
  [Message in SystemMessageName]: (typeof answeredBy)[Message] extends Name ? Message : never;
}[SystemMessageName];

export type ServiceStarts = { [Name in ServiceName]: StartService<MessagesOf<Name>> };

export interface Services {
  /** Errors: those of the service; DomainError `store_unavailable` or `shutting_down` if it does not run. */
  ask: SystemAsk;
  /** Resolves with the first crash. */
  crashed: Promise<unknown>;
  /** Stop in reverse order. Errors: the first failure to free a resource, after all are stopped. */
  stop(): Promise<void>;
}

/** An aborted `ending` ends the start with its reason. Errors: of a service that cannot start or crashes at once; started ones are stopped. */
export async function startServices(
  startsOf: (ask: SystemAsk) => ServiceStarts,
  { ending, log }: { ending: AbortSignal; log: Logger },
): Promise<Services> {
  const running = new Map<ServiceName, RunningService>();
  let tellCrash: (error: unknown) => void = () => {};
  const crashed = new Promise<unknown>((resolve) => {
    tellCrash = resolve;
  });
  const ask: SystemAsk = (name, request, options) =>
    traced(
      `ask ${name}`,
      {},
      () =>
        new Promise((resolve, reject) => {
          const service = running.get(answeredBy[name]);
          const answer = (reply: unknown) => resolve(reply as never);
          if (service !== undefined)
            service.handle({ name, request, signal: options?.signal, resolve: answer, reject });
          else reject(new DomainError('store_unavailable', `${answeredBy[name]} is not running`, { retryAfterS: 1 }));
        }),
    );
  const crash = crashed.then((error) => {
    throw error;
  });
  crash.catch(() => {}); // of interest while starting only
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
        .catch(() => {}); // whoever stops them in order has the error
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
      await Promise.race([crash, Promise.all(names.map((name) => running.get(name)?.ready))]);
    }
    ending.throwIfAborted();
  } catch (error) {
    await stop().catch(() => {}); // why it could not start says more
    throw error;
  } finally {
    ending.removeEventListener('abort', stopStarting);
  }
  return { ask, crashed, stop };
}
