/**
 * Changes of jobs as they happen, for everybody who listens: one event stream while there is at least one and the page is looked at. A stream that ends is opened again with
 * growing pauses; each begins with a snapshot, so nothing is missed that still matters.
 */
import { effect, signal } from '@preact/signals';
import type { JobEventData } from '../../src/domain/events.ts';
import type { JobListResponse } from '../../src/domain/job.ts';
import { epoch } from './client.ts';

export interface JobListener {
  snapshot?: (list: JobListResponse) => void;
  job: (job: JobEventData) => void;
}

export const streamState = signal<'off' | 'connecting' | 'live'>('off');

const firstPauseMs = 500;
const longestPauseMs = 15_000;
const listeners = new Set<JobListener>();
let source: EventSource | null = null;
let pauseMs = firstPauseMs;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Listen until the returned function is called. */
export function listenToJobs(listener: JobListener): () => void {
  listeners.add(listener);
  // A listener that comes later wants the snapshot, too.
  if (source !== null) close();
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) close();
  };
}

/** A browser has six connections for all pages of a service: one that nobody looks at holds none. */
document.addEventListener('visibilitychange', () => {
  if (listeners.size === 0) return;
  if (document.hidden) close();
  else open();
});

/** Once the service is back, nothing is waited for. */
effect(() => {
  if (epoch.value > 0 && streamState.peek() === 'connecting' && source?.readyState === EventSource.CLOSED) open();
});

function open(): void {
  clearTimeout(timer);
  if (document.hidden) return;
  streamState.value = 'connecting';
  const stream = new EventSource('/v1/events');
  source = stream;
  stream.addEventListener('snapshot', ({ data }) => {
    streamState.value = 'live';
    pauseMs = firstPauseMs;
    const list = JSON.parse(data) as JobListResponse;
    for (const { snapshot } of listeners) snapshot?.(list);
  });
  stream.addEventListener('job', ({ data }) => {
    const job = JSON.parse(data) as JobEventData;
    for (const listener of listeners) listener.job(job);
  });
  stream.addEventListener('error', () => {
    if (source !== stream) return;
    stream.close();
    streamState.value = 'connecting';
    timer = setTimeout(open, pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  });
}

function close(): void {
  clearTimeout(timer);
  source?.close();
  source = null;
  streamState.value = 'off';
}
