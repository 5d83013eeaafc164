import { maxTimerMs } from '../domain/durations.ts';
/** Time as the calls to providers need it, so that tests can turn it by hand. */
export interface Clock {
  /** Monotonic, ms: for what lasts. */
  monotonic(): number;
  /** Wall clock, ms since the epoch: only to read dates that a provider sends. */
  wall(): number;
  /** Run something once after that many ms; gives what cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, maxTimerMs));
    return () => clearTimeout(timer);
  },
};
