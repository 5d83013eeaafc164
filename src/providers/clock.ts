import { maxTimerMs } from '../domain/durations.ts';
/** An injectable clock. */
export interface Clock {
  /** Monotonic, ms, for durations. */
  monotonic(): number;
  /** Wall clock, ms since the epoch, only to read a provider's dates. */
  wall(): number;
  /** Run once after `ms`; returns a function that cancels it. */
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
