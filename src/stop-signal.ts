/**
 * Signals that stop this process. Under npm one Ctrl-C arrives twice: from the terminal and from npm. So a second
 * signal within `repeatMs` is ignored.
 */

const repeatMs = 2000;

export interface StopSignalOptions {
  signals: readonly NodeJS.Signals[];
  /** After the first signal: begin an orderly stop. */
  stop: (signal: NodeJS.Signals) => void;
  /** After a signal `repeatMs` or more after the first: end at once. */
  leave: (signal: NodeJS.Signals) => void;
}

export function onStopSignal({ signals, stop, leave }: StopSignalOptions): void {
  let firstAt: number | null = null;
  for (const signal of signals) {
    process.on(signal, () => {
      if (firstAt === null) {
        firstAt = performance.now();
        stop(signal);
      } else if (performance.now() - firstAt >= repeatMs) leave(signal);
    });
  }
}
