/**
 * The event stream: every status change of a job, in commit order. A subscription takes its snapshot and place in one
 * step, so it has no gaps or duplicates. It ends if more than `queueSize` events wait and none was read for `stallMs`
 * (shorter times mean nothing, as kernels drain sockets in lumps of a megabyte), or above `maxBacklog`.
 */
import { maxTimerMs } from '../../domain/durations.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EventSubscription, Job, JobEventData, SubscriptionEnd } from '../../domain/job.ts';
import { idOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import { jobResponseOf } from './queries.ts';
import type { LibraryParts, StartService } from './service.ts';

interface EventsDependencies extends Pick<LibraryParts, 'feed' | 'monotonic'> {
  reader: Pick<StoreReader, 'jobs' | 'counters'>;
  maxSubscribers: number;
  /** Max waiting events of a stalled subscriber. */
  queueSize: number;
  onSubscribers: (count: number) => void;
  onEnd: (reason: SubscriptionEnd) => void;
}

/** As `GET /v1/jobs` by default. */
const snapshotJobs = 100;
/** A subscriber is stalled after this time without reading, ms. */
export const stallMs = 5_000;
const lookEveryMs = 1_000;
/** Max UTF-16 code units of waiting events: some 25,000 events. */
export const maxBacklog = 8 * 1024 * 1024;
/** Code units per text of events. */
const takenLength = 64 * 1024;

interface Subscriber {
  waiting: string[];
  /** UTF-16 code units of `waiting`. */
  length: number;
  wake: (() => void) | undefined;
  /** Time of the last read, or of the start of its wait. */
  movedAt: number;
  /** The snapshot contains earlier commits. */
  from: number;
  end(reason: SubscriptionEnd): void;
}

export function eventsService(dependencies: EventsDependencies): StartService<'events.subscribe'> {
  const { reader, feed, maxSubscribers, queueSize, monotonic, onSubscribers, onEnd } = dependencies;

  const start = async () => {
    const subscribers = new Set<Subscriber>();

    const endStalled = () => {
      const now = monotonic();
      for (const { waiting, length, wake, movedAt, end } of subscribers) {
        const idle = wake === undefined && now - movedAt >= stallMs;
        if ((idle && waiting.length > queueSize) || length > maxBacklog) end('stalled');
      }
    };

    const unlisten = feed.subscribe('durable', ({ opstamp, jobs }) => {
      if (jobs.length === 0 || subscribers.size === 0) return;
      const events = jobs.map(eventText);
      const length = events.reduce((sum, event) => sum + event.length, 0);
      for (const subscriber of subscribers) {
        if (opstamp < subscriber.from) continue;
        for (const event of events) subscriber.waiting.push(event);
        subscriber.length += length;
      }
      endStalled();
      for (const { waiting, wake } of subscribers) if (waiting.length > 0) wake?.();
    });
    const looking = setInterval(endStalled, lookEveryMs);
    looking.unref();

    const subscribe = (): EventSubscription => {
      if (subscribers.size >= maxSubscribers) {
        throw new DomainError('overloaded', `the event stream has its ${maxSubscribers} subscribers already`, {
          retryAfterS: 5,
        });
      }
      // One turn of the event loop: no commit can come between the reads.
      const from = reader.counters.peek('opstamp');
      const snapshot = { jobs: reader.jobs.list({ limit: snapshotJobs }).map(jobResponseOf) };
      let isOver = false;
      let tellEnd: (reason: SubscriptionEnd) => void;
      const ended = new Promise<SubscriptionEnd>((resolve) => {
        tellEnd = resolve;
      });
      const subscriber: Subscriber = {
        waiting: [],
        length: 0,
        wake: undefined,
        movedAt: monotonic(),
        from,
        end: (reason) => {
          if (isOver) return;
          isOver = true;
          subscribers.delete(subscriber);
          subscriber.wake?.();
          tellEnd(reason);
          onEnd(reason);
          onSubscribers(subscribers.size);
        },
      };
      subscribers.add(subscriber);
      onSubscribers(subscribers.size);
      const take = async (idleMs: number): Promise<string | null> => {
        if (!isOver && subscriber.waiting.length === 0) await somethingComes(subscriber, idleMs);
        if (isOver) return null;
        subscriber.movedAt = monotonic();
        return takeFrom(subscriber);
      };
      return { snapshot, take, leave: () => subscriber.end('left'), ended };
    };

    return {
      handlers: { 'events.subscribe': subscribe },
      stop: async () => {
        clearInterval(looking);
        unlisten();
        for (const { end } of subscribers) end('stopping');
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

/** The next events as text of about `takenLength`, or one event; empty if none. */
function takeFrom(subscriber: Subscriber): string {
  const { waiting } = subscriber;
  let count = 0;
  for (let length = 0; count < waiting.length && length < takenLength; count++) length += waiting[count].length;
  const text = waiting.splice(0, count).join('');
  subscriber.length -= text.length;
  return text;
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
