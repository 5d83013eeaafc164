/**
 * A library under its chart (src/machines/library.ts): opened, and opened again when it breaks, until it is closed. Whoever asks it
 * meanwhile is told to come back.
 */
import type { Logger } from 'pino';
import { type ActorOptions, type AnyActorLogic, createActor, fromPromise, type StateValueFrom, waitFor } from 'xstate';
import { DomainError, LeaseEndedError, ServedElsewhereError } from '../../domain/errors.ts';
import { libraryMachine, type Opened } from '../../machines/library.ts';
import type { SystemAsk } from './system-messages.ts';

/** A library that serves. */
export interface OpenedLibrary extends Opened {
  ask: SystemAsk;
  /** When it has to be open though nobody asks, ms since the epoch; null for never. Of those that are closed when idle. */
  dueAt?: () => number | null;
}

export interface LibraryOptions {
  /** `again`: it was open before in this process. When `ending` is aborted, opening gives up. Errors: why it cannot be opened. */
  open(again: boolean, ending: AbortSignal): Promise<OpenedLibrary>;
  log: Logger;
  /** The process has no other: where it cannot be opened again, the process ends. One of several waits for its folder, too. */
  isAlone: boolean;
  /** Of the waits between openings that fail, ms; a minute unless given. */
  maxBackoffMs?: number;
  /** Times the waits; the system's own unless given. */
  clock?: ActorOptions<AnyActorLogic>['clock'];
}

export type LibraryState = StateValueFrom<typeof libraryMachine>;

export interface Library {
  /** Errors: those of the one that answers; DomainError `store_unavailable` while it does not serve. */
  ask: SystemAsk;
  state(): LibraryState;
  /** Of a library that serves and may be closed when idle: when it has to be open though nobody asks, ms; null for never. */
  dueAt(): number | null;
  /** Resolves when it serves for the first time. Errors: why the first opening failed; unless it is over, it is opened again. */
  opened: Promise<void>;
  /** Resolves with the reason when this process does not open it again. */
  over: Promise<unknown>;
  /** Close it in order; it is not opened again. However often it is asked for, that is done once. */
  close(): Promise<void>;
}

const policy = { backoffMs: 100, maxBackoffMs: 60_000, steadyMs: 60_000, closeWithinMs: 30_000 };

/** Open a library and keep it open. */
export function superviseLibrary({ open, log, isAlone, maxBackoffMs, clock }: LibraryOptions): Library {
  const ending = new AbortController();
  let serving: OpenedLibrary | null = null;
  let wasOpen = false;
  const machine = libraryMachine.provide({
    actors: {
      open: fromPromise<Opened>(async () => {
        const opened = await open(wasOpen, ending.signal);
        wasOpen = true;
        serving = opened;
        return opened;
      }),
    },
  });
  const actor = createActor(machine, {
    input: {
      policy: { ...policy, ...(maxBackoffMs !== undefined && { maxBackoffMs }), waitsForFolder: !isAlone },
    },
    ...(clock === undefined ? {} : { clock }),
  });
  let before: LibraryState = 'closed';
  actor.subscribe(({ value, context }) => {
    if (value === before) return;
    before = value;
    if (value !== 'serving') serving = null;
    const { reason: err, failures } = context;
    if (err instanceof LeaseEndedError || err instanceof ServedElsewhereError) {
      if (value === 'breaking') log.warn({ reason: err.message }, 'the library is not served here any more');
    } else if (value === 'breaking') log.error({ err }, 'the library cannot go on and is closed');
    // Who opens the only one is told by `opened`.
    else if (value === 'failed' && (wasOpen || !isAlone)) log.error({ err, failures }, 'the library is not open');
    else if (value === 'over' && !isAlone) log.error({ err }, 'the library is not opened again before the next start');
    if (value === 'serving' && context.failures > 0) log.warn({}, 'the library is open again');
  });
  const settled = (...states: LibraryState[]) =>
    waitFor(actor, ({ value, status }) => states.includes(value) || status !== 'active', {
      timeout: Number.POSITIVE_INFINITY,
    });
  const reason = () => actor.getSnapshot().context.reason;
  actor.start();
  actor.send({ type: 'open' });
  const opened = settled('serving', 'failed', 'closed').then(({ value }) => {
    if (value !== 'serving') throw reason() ?? new DomainError('shutting_down', 'the library is being closed');
  });
  opened.catch(() => {}); // whoever does not wait for it reads the log
  const over = new Promise<unknown>((resolve) => {
    actor.subscribe({ complete: () => resolve(reason()) });
  });
  return {
    ask: (name, request, options) => {
      if (serving !== null) return serving.ask(name, request, options);
      const refusal = ending.signal.aborted
        ? new DomainError('shutting_down', 'the service is stopping')
        : new DomainError('store_unavailable', 'the library is not open', { retryAfterS: 1 });
      return Promise.reject(refusal);
    },
    state: () => actor.getSnapshot().value,
    dueAt: () => serving?.dueAt?.() ?? null,
    opened,
    over,
    async close() {
      ending.abort(new DomainError('shutting_down', 'the library is being closed'));
      actor.send({ type: 'stop' });
      await settled('closed');
    },
  };
}
