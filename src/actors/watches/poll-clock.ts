/**
 * Starts the polls that are due: every minute, and when it is told that a change may have made a watch due. It looks at the wall clock
 * and the rows, never at how much time a timer says has passed: a machine that slept wakes to one poll a watch.
 */
import type { Logger } from 'pino';
import { drawInSchedules, startDuePolls } from '../../commands/change-watches.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Every, everyMs } from '../system/every.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface PollClockDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  /** `watch.poll_tick_enabled`; without it polls are started by people only. */
  tickEnabled: boolean;
  maxDuePerTick: number;
  maxAttempts: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Run something every so many ms; gives how to stop it. */
  every?: Every;
}

export interface PollClock {
  /** Start what is due now, within what is left of this minute's polls. */
  lookSoon(): void;
  stop(): Promise<void>;
}

const tickMs = 60_000;
/** Watches whose schedule is looked at in one commit after the clock was set: a few ms. */
const drawnInPerCommit = 100;

/** The first look is at once. */
export function startPollClock(dependencies: PollClockDependencies): PollClock {
  const { reader, commit, tickEnabled, maxDuePerTick, maxAttempts, log, now, every = everyMs } = dependencies;
  /** Polls that may still be started before the next tick. */
  let allowance = maxDuePerTick;
  /** The wall clock at the last tick; before the first, the clock may have been set while no process ran. */
  let lastTickAt = Number.POSITIVE_INFINITY;
  let stopping = false;

  const startDue = async () => {
    const at = now();
    if (!tickEnabled || stopping || allowance === 0 || reader.watches.dueAt(at, 1).length === 0) return;
    const limit = allowance;
    allowance = 0;
    try {
      allowance = limit - (await commit(startDuePolls(limit, { at, max_attempts: maxAttempts })));
    } catch (error) {
      log.warn({ err: error }, 'due watches could not be polled');
    }
  };
  const drawIn = async (at: number) => {
    try {
      for (let after: number | null = 0; after !== null && !stopping; ) {
        after = await commit(drawInSchedules(at, after, drawnInPerCommit));
      }
    } catch (error) {
      log.warn({ err: error }, 'the schedules of watches could not be looked at');
    }
  };
  const tick = async () => {
    allowance = maxDuePerTick;
    const at = now();
    if (tickEnabled && at < lastTickAt) await drawIn(at);
    lastTickAt = at;
    await startDue();
  };

  /** One after the other, so that the allowance is right. */
  let work: Promise<void> = Promise.resolve();
  const soon = (step: () => Promise<void>) => {
    work = work.then(step);
  };
  soon(tick);
  const stopTicks = every(tickMs, () => soon(tick));
  return {
    lookSoon: () => soon(startDue),
    stop: async () => {
      stopping = true;
      stopTicks();
      await work;
    },
  };
}
