/**
 * Signals that stop this process, and its exit. Under npm one Ctrl-C arrives twice: from the terminal and from npm. So a second
 * signal within `repeatMs` is ignored.
 */

import { spawn } from 'node:child_process';

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

/**
 * Exit with this code. If a thread of the pool never ends, Node cannot exit, and no timer of this process fires: then another process kills
 * it after `limitMs`. That process ends as soon as this one does.
 */
export function exitWithin(code: number, limitMs: number): never {
  const watch = `process.stdin.on('end', () => process.exit()).resume();
setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), ${limitMs});`;
  spawn(process.execPath, ['-e', watch], { stdio: ['pipe', 'ignore', 'ignore'] });
  process.exit(code);
}
