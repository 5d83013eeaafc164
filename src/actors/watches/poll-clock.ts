/**
 * Starts due polls every minute, and after changes that may make a watch due. Uses the wall clock and the rows, not elapsed time: after
 * a machine's sleep there is one poll per watch.
 */
import type { Logger } from 'pino';
import { drawInSchedules, startDuePolls } from '../../commands/change-watches.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background, type Every } from '../system/background.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface PollClockDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  /** `watch.poll_tick_enabled`; without it only users start polls. */
  tickEnabled: boolean;
  maxDuePerTick: number;
  maxAttempts: number;
  log: Logger;
  now: () => number;
  every?: Every;
}

export interface PollClock {
  /** Start what is due now, within this minute's allowance. */
  lookSoon(): void;
  stop(): Promise<void>;
}

const tickMs = 60_000;
/** Watches rescheduled per commit after the clock was set: a few ms. */
const drawnInPerCommit = 100;

/** Looks at once. */
export function startPollClock(dependencies: PollClockDependencies): PollClock {
  const { reader, commit, tickEnabled, maxDuePerTick, maxAttempts, log, now, every } = dependencies;
  const background = new Background(log, every);
  /** Polls left until the next tick. */
  let allowance = maxDuePerTick;
  /** Wall clock at the last tick; Infinity, as the clock may have been set before the start. */
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

  // Sequential, to respect the allowance.
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
