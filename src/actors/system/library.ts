/** Supervises a library (machines/library.ts): reopens it after failures. Meanwhile requests get a retryable error. */
import type { Logger } from 'pino';
import { type ActorOptions, type AnyActorLogic, createActor, fromPromise, type StateValueFrom, waitFor } from 'xstate';
import { DomainError, LeaseEndedError, ServedElsewhereError } from '../../domain/errors.ts';
import { libraryMachine, type Opened } from '../../machines/library.ts';
import type { SystemAsk } from './service.ts';

export interface OpenedLibrary extends Opened {
  ask: SystemAsk;
  /** For libraries that close when idle: time at which they must be open, ms since the epoch; null: no time. */
  dueAt?: () => number | null;
}

export interface LibraryOptions {
  /** `again`: it was open in this process before. `ending` aborts the opening. Errors: why it cannot open. */
  open(again: boolean, ending: AbortSignal): Promise<OpenedLibrary>;
  log: Logger;
  /** The process's only library: if it cannot be reopened, the process ends. Otherwise it also waits for its folder. */
  isAlone: boolean;
  /** Longest wait between failed openings, ms; default a minute. */
  maxBackoffMs?: number;
  clock?: ActorOptions<AnyActorLogic>['clock'];
}

export type LibraryState = StateValueFrom<typeof libraryMachine>;

export type Library = ReturnType<typeof superviseLibrary>;

const policy = { backoffMs: 100, maxBackoffMs: 60_000, steadyMs: 60_000, closeWithinMs: 30_000 };

export function superviseLibrary({ open, log, isAlone, maxBackoffMs, clock }: LibraryOptions) {
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
      if (value === 'breaking') log.warn({ reason: err.message }, 'this host no longer serves the library');
    } else if (value === 'breaking') log.error({ err }, 'the library cannot continue and is closed');
    // `opened` reports the failure of a single library.
    else if (value === 'failed' && (wasOpen || !isAlone)) log.error({ err, failures }, 'the library cannot open');
    else if (value === 'over' && !isAlone) log.error({ err }, 'the library stays closed until the next start');
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
  opened.catch(() => {}); // callers that do not wait for it read the log
  const over = new Promise<unknown>((resolve) => {
    actor.subscribe({ complete: () => resolve(reason()) });
  });
  const ask: SystemAsk = (name, request, options) => {
    if (serving !== null) return serving.ask(name, request, options);
    const refusal = ending.signal.aborted
      ? new DomainError('shutting_down', 'the service is stopping')
      : new DomainError('store_unavailable', 'the library is not open', { retryAfterS: 1 });
    return Promise.reject(refusal);
  };
  return {
    /** Errors: those of the service; DomainError `store_unavailable` while closed. */
    ask,
    state: (): LibraryState => actor.getSnapshot().value,
    dueAt: () => serving?.dueAt?.() ?? null,
    /** Resolves when it first serves. Errors: why the first opening failed; a later opening may still succeed. */
    opened,
    /** Resolves with the reason when it will not be reopened. */
    over,
    async close(): Promise<void> {
      ending.abort(new DomainError('shutting_down', 'the library is being closed'));
      actor.send({ type: 'stop' });
      await settled('closed');
    },
  };
}
