/**
 * Supervises a library: opens it, and reopens it after a failure, until it is closed. Requests meanwhile get a retryable error.
 *
 *   closed ─ open ─▶ opening ─▶ serving ─ stop ─▶ closing ─▶ closed
 *                     ▲   │        │
 *                     │   │      breaks
 *                     │   ▼        ▼
 *                    failed ◀─ breaking ─▶ over
 *
 * opening   folder, store, index and services start, in the order of their dependence
 * serving   messages are answered
 * closing   a stop was requested: services finish in the reverse order
 * breaking  a service failed: all stop
 * failed    nothing runs; reopened after a wait that doubles with each failure in a row, up to `maxBackoffMs`
 * over      not reopened by this process, which would not help (the store is damaged or of an unknown format, too many
 *           files were left open, eight failed writes in a row, another process has the only library's folder), or
 *           the broken library did not close within `closeWithinMs`
 *
 * A stop while opening or breaking is remembered and follows at its end.
 */
import type { Logger } from 'pino';
import { DomainError, FatalError, LeaseEndedError, OperatorError, ServedElsewhereError } from '../../domain/errors.ts';
import type { SystemAsk } from './system-messages.ts';

export interface OpenedLibrary {
  ask: SystemAsk;
  /** Resolves with the reason of a failure. */
  broken: Promise<unknown>;
  close(): Promise<void>;
  /** For libraries closed when idle: when it must be open, ms since the epoch; null for never. */
  dueAt?: () => number | null;
}

export interface LibraryOptions {
  /** `again`: reopened in this process. `ending` aborts the opening. Errors: why it cannot open. */
  open(again: boolean, ending: AbortSignal): Promise<OpenedLibrary>;
  log: Logger;
  /** The process's only library: if it cannot be reopened, the process ends. One of several also waits for its folder. */
  isAlone: boolean;
  /** Longest wait between failed openings, ms; default a minute. */
  maxBackoffMs?: number;
  clock?: Clock;
}

interface Clock {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

export type LibraryState = 'closed' | 'opening' | 'serving' | 'closing' | 'breaking' | 'failed' | 'over';

export interface Library {
  /** Errors: those of the service; DomainError `store_unavailable` while closed. */
  ask: SystemAsk;
  state(): LibraryState;
  /** As of OpenedLibrary; null for never. */
  dueAt(): number | null;
  /** Resolves when it first serves. Errors: why the first opening failed; it may still open later. */
  opened: Promise<void>;
  /** Resolves with the reason when it will not be reopened. */
  over: Promise<unknown>;
  /** Close permanently. Idempotent. */
  close(): Promise<void>;
}

const backoffMs = 100;
const closeWithinMs = 30_000;
/** After serving this long, failures count from 0 again, ms. */
const steadyMs = 60_000;
/** Consecutive openings of a sound store that cannot be written: a new process may succeed. */
const maxUnwritable = 8;

export function superviseLibrary(options: LibraryOptions): Library {
  const { open, log, isAlone, maxBackoffMs = 60_000, clock = { setTimeout, clearTimeout } } = options;
  const ending = new AbortController();
  const listeners = new Set<() => void>();
  let state: LibraryState = 'closed';
  let library: OpenedLibrary | null = null;
  let wasOpen = false;
  let failures = 0;
  let reason: unknown;
  /** Of the present state. */
  let timer: unknown;

  const become = (next: LibraryState) => {
    clock.clearTimeout(timer);
    state = next;
    if (reason instanceof LeaseEndedError || reason instanceof ServedElsewhereError) {
      if (state === 'breaking') log.warn({ reason: reason.message }, 'the library is not served here any more');
    } else if (state === 'breaking') log.error({ err: reason }, 'the library cannot continue and is closed');
    // `opened` reports the failure of a single library.
    else if (state === 'failed' && (wasOpen || !isAlone))
      log.error({ err: reason, failures }, 'the library is not open');
    else if (state === 'over' && !isAlone)
      log.error({ err: reason }, 'the library is not opened again before the next start');
    if (state === 'serving' && failures > 0) log.warn({}, 'the library is open again');
    for (const listener of listeners) listener();
  };
  const reached = (...states: LibraryState[]) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!states.includes(state)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });

  const start = async () => {
    become('opening');
    try {
      library = await open(wasOpen, ending.signal);
    } catch (error) {
      return failed(error);
    }
    wasOpen = true;
    if (ending.signal.aborted) return close(library);
    become('serving');
    timer = clock.setTimeout(() => {
      failures = 0;
      reason = undefined;
    }, steadyMs);
    const cause = await library.broken;
    if (state === 'serving') await breakUp(library, cause);
  };
  const breakUp = async (broken: OpenedLibrary, cause: unknown) => {
    reason = cause;
    become('breaking');
    timer = clock.setTimeout(() => become('over'), closeWithinMs);
    await broken.close().catch(() => {});
    if (state === 'breaking') failed(cause);
  };
  const failed = (error: unknown) => {
    if (ending.signal.aborted) return become('closed');
    reason = error;
    if (isFinal(error)) return become('over');
    failures++;
    become('failed');
    timer = clock.setTimeout(start, Math.min(maxBackoffMs, backoffMs * 2 ** (failures - 1)));
  };
  const close = async (opened: OpenedLibrary) => {
    become('closing');
    await opened.close().catch((error) => {
      reason = error;
    });
    become('closed');
  };

  /** Whether the operator must repair it. */
  const isFinal = (error: unknown): boolean => {
    if (error instanceof FatalError) return error.isFinal;
    if (!(error instanceof OperatorError)) return false;
    if (error.code === 'store_unwritable') return failures >= maxUnwritable;
    return ['store_damaged', 'store_format'].includes(error.code) || (error.code === 'data_folder' && isAlone);
  };

  void start();
  const opened = reached('serving', 'failed', 'closed', 'over').then(() => {
    if (state !== 'serving') throw reason ?? new DomainError('shutting_down', 'the library is being closed');
  });
  opened.catch(() => {}); // whoever does not wait for it reads the log
  return {
    ask: (name, request, options) => {
      if (state === 'serving' && library !== null) return library.ask(name, request, options);
      const refusal = ending.signal.aborted
        ? new DomainError('shutting_down', 'the service is stopping')
        : new DomainError('store_unavailable', 'the library is not open', { retryAfterS: 1 });
      return Promise.reject(refusal);
    },
    state: () => state,
    dueAt: () => (state === 'serving' ? (library?.dueAt?.() ?? null) : null),
    opened,
    over: reached('over').then(() => reason),
    async close() {
      ending.abort(new DomainError('shutting_down', 'the library is being closed'));
      if (state === 'serving' && library !== null) await close(library);
      else if (state === 'failed') become('closed');
      await reached('closed', 'over');
    },
  };
}
