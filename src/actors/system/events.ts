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
import type { LibraryParts, StartService } from './service.ts';

interface EventsDependencies extends Pick<LibraryParts, 'feed' | 'monotonic'> {
  reader: Pick<StoreReader, 'jobs' | 'counters'>;
  maxSubscribers: number;
  /** Waiting events of a stalled subscriber. */
  queueSize: number;
  onSubscribers: (count: number) => void;
  onEnd: (reason: SubscriptionEnd) => void;
}

/** As `GET /v1/jobs` by default. */
const snapshotJobs = 100;
/** Stalled after this time, ms. */
export const stallMs = 5_000;
const lookEveryMs = 1_000;
/** UTF-16 code units of all stored events: some 25,000. */
export const maxBacklog = 8 * 1024 * 1024;
/** Per text. */
const takenLength = 64 * 1024;

interface Subscriber {
  place: Place;
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

/**
 * Events waiting for readers of the stream: each stored once as text, with a position per reader, and dropped when every reader has it.
 * No clock.
 */

/** Number of the reader's next event. */
interface Place {
  next: number;
}

/** Dropped entries at the front before the list is compacted. */
const cutEvery = 1024;

export class EventBacklog {
  readonly #places = new Set<Place>();
  #events: string[] = [];
  #first = 0;
  #dropped = 0;
  /** UTF-16 code units. */
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(events: readonly string[]): void {
    if (this.#places.size === 0) return;
    for (const event of events) {
      this.#events.push(event);
      this.#length += event.length;
    }
  }

  /** Receives events appended from now on. */
  join(): Place {
    const place = { next: this.#end };
    this.#places.add(place);
    return place;
  }

  leave(place: Place): void {
    this.#places.delete(place);
    this.#dropRead();
  }

  waiting({ next }: Place): number {
    return this.#end - next;
  }

  /** The next events as text of about `maxLength` or one event; empty if none. Advances the reader. */
  take(place: Place, maxLength: number): string {
    const from = place.next - this.#first;
    let to = from;
    for (let length = 0; to < this.#events.length && (to === from || length < maxLength); to++) {
      length += this.#events[to].length;
    }
    const text = this.#events.slice(from, to).join('');
    place.next += to - from;
    this.#dropRead();
    return text;
  }

  /** Skip events that the reader already has. */
  skip(place: Place, events: number): void {
    place.next += events;
    this.#dropRead();
  }

  slowest(): Place | undefined {
    let slowest: Place | undefined;
    for (const place of this.#places) if (slowest === undefined || place.next < slowest.next) slowest = place;
    return slowest;
  }

  get #end(): number {
    return this.#first + this.#events.length;
  }

  #dropRead(): void {
    const read = (this.slowest()?.next ?? this.#end) - this.#first;
    for (; this.#dropped < read; this.#dropped++) {
      this.#length -= this.#events[this.#dropped].length;
      this.#events[this.#dropped] = '';
    }
    if (read < cutEvery && read < this.#events.length) return;
    this.#events = this.#events.slice(read);
    this.#first += read;
    this.#dropped = 0;
  }
}
