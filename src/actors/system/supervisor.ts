/**
 * Hosts the supervisor's chart with the real children, and is the door through which every message goes: it looks up which
 * child answers a message and hands the envelope over. It decides nothing else.
 */
import type { Logger } from 'pino';
import { type ActorOptions, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate';
import { DomainError } from '../../domain/errors.ts';
import { type ChildName, childNames, type RestartPolicy, supervisorMachine } from '../../machines/supervisor.ts';
import { presentContext, traced } from '../../tracing/span.ts';
import type { Envelope } from './service.ts';
import type { SystemAsk, SystemMessageName } from './system-messages.ts';

/** Which child answers which message. */
const answeredBy: Record<SystemMessageName, ChildName> = {
  'page.ingest': 'intake',
  'page.ingestBatch': 'intake',
  'page.get': 'queries',
  'page.text': 'queries',
  'page.chunks': 'queries',
  'page.status': 'queries',
  'page.statusBatch': 'queries',
  'page.entities': 'entities',
  'entity.get': 'entities',
  'entity.undoMerge': 'entities',
  'entity.merges': 'entities',
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
  'search.query': 'retriever',
  'search.batch': 'retriever',
  'search.similar': 'retriever',
  'search.compare': 'retriever',
  'search.rank': 'retriever',
  'queryLog.list': 'journal',
  'queryLog.get': 'journal',
  'feedback.give': 'journal',
  'eval.score': 'journal',
  'eval.startReplay': 'journal',
  'eval.replay': 'journal',
  'cluster.list': 'clusters',
  'cluster.runs': 'clusters',
  'cluster.get': 'clusters',
  'cluster.projection': 'clusters',
  'cluster.recompute': 'clusters',
  'watch.list': 'watches',
  'watch.get': 'watches',
  'watch.create': 'watches',
  'watch.update': 'watches',
  'watch.delete': 'watches',
  'watch.run': 'watches',
  'model.list': 'models',
  'model.register': 'models',
  'model.activate': 'models',
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
  'index.settled': 'indexes',
  'index.locatePhrases': 'indexes',
  'index.pagesUnder': 'indexes',
  'index.pagesWithoutChunks': 'indexes',
  'index.state': 'indexes',
  'index.remove': 'indexes',
  'index.heldAtStart': 'indexes',
  'index.purge': 'indexes',
};

/** Five crashes within a minute are no accident any more. */
const restartPolicy: RestartPolicy = { maxRestarts: 5, withinMs: 60_000, backoffMs: 100 };

/** `failure` is null after an orderly stop. */
export interface Ending {
  failure: unknown;
}

export interface Supervisor {
  ask: SystemAsk;
  /** Resolves when every child has said it is ready for the first time; rejects when the system fails before. */
  ready: Promise<void>;
  /** Resolves when the system has stopped, with the reason when it gave up by itself. */
  ended: Promise<Ending>;
  /** Stop the children, innermost first. */
  stop(): void;
}

export type ChildLogics = Record<ChildName, AnyActorLogic>;

/** `clock` times the restarts; the system's own unless given. */
export function startSupervisor(
  childLogics: (ask: SystemAsk) => ChildLogics,
  log: Logger,
  clock?: ActorOptions<AnyActorLogic>['clock'],
): Supervisor {
  const ask: SystemAsk = (name, request, options) => traced(`ask ${name}`, {}, () => send(name, request, options));
  const send: SystemAsk = (name, request, options) =>
    new Promise((resolve, reject) => {
      const children: Record<string, AnyActorRef | undefined> = actor.getSnapshot().children;
      const child = children[answeredBy[name]];
      if (child === undefined) {
        reject(new DomainError('store_unavailable', `${answeredBy[name]} is not running`, { retryAfterS: 1 }));
        return;
      }
      const envelope: Envelope = {
        type: 'request',
        name,
        request,
        signal: options?.signal,
        within: presentContext(),
        resolve: (reply) => resolve(reply as never),
        reject,
      };
      child.send(envelope);
    });

  const machine = supervisorMachine.provide({
    actors: childLogics(ask),
    actions: {
      reportCrash: ({ event }, { child }) => {
        log.error({ err: 'error' in event ? event.error : undefined, child }, 'a part of the system crashed');
      },
    },
  });
  const actor = createActor(machine, {
    input: { policy: restartPolicy },
    ...(clock === undefined ? {} : { clock }),
  });

  const ready = new Promise<void>((resolve, reject) => {
    actor.subscribe({
      next: (snapshot) => {
        if (snapshot.context.serving.length === childNames.length) resolve();
      },
      complete: () => reject(new Error('the system ended before it was ready', { cause: failureOf() })),
      error: reject,
    });
  });
  ready.catch(() => {}); // whoever does not wait for it learns the same from `ended`
  const ended = new Promise<Ending>((resolve) => {
    actor.subscribe({ complete: () => resolve({ failure: failureOf() }), error: (failure) => resolve({ failure }) });
  });
  const failureOf = () => {
    const snapshot = actor.getSnapshot();
    return snapshot.value === 'failed' ? (snapshot.context.reason ?? new Error('the system failed')) : null;
  };
  actor.start();
  return { ask, ready, ended, stop: () => actor.send({ type: 'stop' }) };
}
