/**
 * Starts the polls that are due: every minute, and when it is told that a change may have made a watch due. It looks at the wall clock
 * and the rows, never at how much time a timer says has passed: a machine that slept wakes to one poll a watch.
 */
import type { Logger } from 'pino';
import { drawInSchedules, startDuePolls } from '../../commands/change-watches.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background, type Every } from '../system/background.ts';
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
  const { reader, commit, tickEnabled, maxDuePerTick, maxAttempts, log, now, every } = dependencies;
  const background = new Background(log, every);
  /** Polls that may still be started before the next tick. */
  let allowance = maxDuePerTick;
  /** The wall clock at the last tick; before the first, the clock may have been set while no process ran. */
  let lastTickAt = Number.POSITIVE_INFINITY;

  const startDue = async () => {
    const at = now();
    if (!tickEnabled || allowance === 0 || reader.watches.dueAt(at, 1).length === 0) return;
    const limit = allowance;
    allowance = 0;
    allowance = limit - (await commit(startDuePolls(limit, { at, max_attempts: maxAttempts })));
  };
  const drawIn = async () => {
    const at = now();
    const before = lastTickAt;
    lastTickAt = at;
    if (!tickEnabled || at >= before) return;
    await background.slices(0, (after: number) => commit(drawInSchedules(at, after, drawnInPerCommit)));
  };
  const renewAllowance = async () => {
    allowance = maxDuePerTick;
    await startDue();
  };

  // One after the other, so that the allowance is right.
  const notPolled = 'due watches could not be polled';
  const tick = async () => {
    background.soon('the schedules of watches could not be looked at', drawIn);
    background.soon(notPolled, renewAllowance);
  };
  background.soon(notPolled, tick);
  background.every(tickMs, notPolled, tick);
  return {
    lookSoon: () => background.soon(notPolled, startDue),
    stop: () => background.stop(),
  };
}
