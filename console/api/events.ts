/**
 * Job changes for all listeners: one event stream while there are listeners and the page is visible. It reconnects with
 * growing pauses; each connection begins with a snapshot, so nothing is lost.
 */
import { effect, signal } from '@preact/signals';
import type { JobEventData, JobListResponse } from '../../src/domain/job.ts';
import { connection, epoch } from './client.ts';

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

/** Returns the unsubscription. */
export function listenToJobs(listener: JobListener): () => void {
  listeners.add(listener);
  // A later listener also needs the snapshot.
  if (source !== null) close();
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) close();
  };
}

/** Browsers have six connections for all pages of a service, so hidden pages disconnect. */
document.addEventListener('visibilitychange', () => {
  if (listeners.size === 0) return;
  if (document.hidden) close();
  else open();
});

/** Reconnect at once when the service is back. */
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
    timer = setTimeout(() => connection.peek() === 'ok' && open(), pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  });
}

function close(): void {
  clearTimeout(timer);
  source?.close();
  source = null;
  streamState.value = 'off';
}
