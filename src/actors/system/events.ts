/**
 * The event stream: every status change of a job, in commit order. A projection of the commit feed.
 *
 * No gaps or duplicates: a subscription takes its position and snapshot in one step; commits below the snapshot's opstamp are skipped
 * when published.
 *
 * Memory: events are stored once for all. A subscriber with more than `queueSize` waiting events that took nothing for `stallMs` is
 * ended; a slow one may continue. Kernels drain full sockets in lumps of up to a megabyte, so shorter times mean nothing. Above
 * `maxBacklog` the slowest is ended in any case; it may reconnect and gets a snapshot.
 */
import { maxTimerMs } from '../../domain/durations.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EventSubscription, JobEventData, SubscriptionEnd } from '../../domain/events.ts';
import { idOf } from '../../domain/ids.ts';
import type { Job } from '../../domain/job.ts';
import type { StoreReader } from '../../store/store.ts';
import { jobResponseOf } from '../jobs/queries.ts';
import type { CommitFeed } from './commit-feed.ts';
import { EventBacklog, type Place } from './event-backlog.ts';
import type { StartService } from './service.ts';

export interface EventsDependencies {
  reader: Pick<StoreReader, 'jobs' | 'counters'>;
  feed: CommitFeed;
  maxSubscribers: number;
  /** Waiting events of a stalled subscriber. */
  queueSize: number;
  /** Monotonic, ms. */
  monotonic: () => number;
  /** Called with the count, and at each end. */
  onSubscribers: (count: number) => void;
  onEnd: (reason: SubscriptionEnd) => void;
}

/** As `GET /v1/jobs` by default. */
const snapshotJobs = 100;
/** Stalled after this time, ms. */
export const stallMs = 5_000;
/** Check interval, ms. */
const lookEveryMs = 1_000;
/** UTF-16 code units of all stored events: some 25,000. */
export const maxBacklog = 8 * 1024 * 1024;
/** Per text. */
const takenLength = 64 * 1024;

interface Subscriber {
  place: Place;
  /** Wakes `take`. */
  wake: (() => void) | undefined;
  /** When it last took or waited for events. */
  movedAt: number;
  /** Earlier commits are in its snapshot. */
  from: number;
  end(reason: SubscriptionEnd): void;
}

export function eventsService(dependencies: EventsDependencies): StartService<'events.subscribe'> {
  const { reader, feed, maxSubscribers, queueSize, monotonic, onSubscribers, onEnd } = dependencies;

  const start = async () => {
    const backlog = new EventBacklog();
    const subscribers = new Map<Place, Subscriber>();

    const endStalled = () => {
      const now = monotonic();
      for (const subscriber of subscribers.values()) {
        const idle = subscriber.wake === undefined && now - subscriber.movedAt >= stallMs;
        if (idle && backlog.waiting(subscriber.place) > queueSize) subscriber.end('stalled');
      }
      while (backlog.length > maxBacklog) {
        const slowest = backlog.slowest();
        if (slowest === undefined) return;
        subscribers.get(slowest)?.end('stalled');
      }
    };

    const unlisten = feed.subscribe('durable', ({ opstamp, jobs }) => {
      if (jobs.length === 0 || subscribers.size === 0) return;
      backlog.append(jobs.map(eventText));
      for (const { place, from } of subscribers.values()) if (opstamp < from) backlog.skip(place, jobs.length);
      endStalled();
      for (const { place, wake } of subscribers.values()) if (backlog.waiting(place) > 0) wake?.();
    });
    const looking = setInterval(endStalled, lookEveryMs);
    looking.unref();

    const subscribe = (): EventSubscription => {
      if (subscribers.size >= maxSubscribers) {
        throw new DomainError('overloaded', `the event stream has its ${maxSubscribers} subscribers already`, {
          retryAfterS: 5,
        });
      }
      // One read: nothing is committed within a turn of the event loop.
      const from = reader.counters.peek('opstamp');
      const snapshot = { jobs: reader.jobs.list({ limit: snapshotJobs }).map(jobResponseOf) };
      const place = backlog.join();
      let isOver = false;
      let tellEnd: (reason: SubscriptionEnd) => void;
      const ended = new Promise<SubscriptionEnd>((resolve) => {
        tellEnd = resolve;
      });
      const subscriber: Subscriber = {
        place,
        wake: undefined,
        movedAt: monotonic(),
        from,
        end: (reason) => {
          if (isOver) return;
          isOver = true;
          backlog.leave(place);
          subscribers.delete(place);
          subscriber.wake?.();
          tellEnd(reason);
          onEnd(reason);
          onSubscribers(subscribers.size);
        },
      };
      subscribers.set(place, subscriber);
      onSubscribers(subscribers.size);
      const take = async (idleMs: number): Promise<string | null> => {
        if (!isOver && backlog.waiting(place) === 0) await somethingComes(subscriber, idleMs);
        if (isOver) return null;
        subscriber.movedAt = monotonic();
        return backlog.take(place, takenLength);
      };
      return { snapshot, take, leave: () => subscriber.end('left'), ended };
    };

    return {
      handlers: { 'events.subscribe': subscribe },
      stop: async () => {
        clearInterval(looking);
        unlisten();
        for (const subscriber of subscribers.values()) subscriber.end('stopping');
      },
    };
  };
  return start;
}

/** Resolves when woken, or after `idleMs`. */
function somethingComes(subscriber: Subscriber, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => wake(), Math.min(idleMs, maxTimerMs));
    const wake = () => {
      clearTimeout(timer);
      subscriber.wake = undefined;
      resolve();
    };
    subscriber.wake = wake;
  });
}

/** JSON has no line breaks, so the data is one line. */
export function streamEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function eventText(job: Job): string {
  const event: JobEventData = jobResponseOf(job);
  if (job.page_no !== null) event.page_id = idOf('page', job.page_no);
  return streamEvent('job', event);
}
