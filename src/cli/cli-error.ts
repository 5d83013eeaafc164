import { damagedExitCode } from '../store/look-apart.ts';

/** Exit codes. A CliError is a line for the user; any other error is a bug. */
export const exitCodes = {
  done: 0,
  failed: 1,
  misuse: 2,
  unreachable: 3,
  inUse: 4,
  partly: 5,
  damaged: damagedExitCode,
  interrupted: 130,
} as const;

export const exitMeanings: readonly (readonly [number, string])[] = [
  [exitCodes.done, 'done'],
  [exitCodes.failed, 'failed, or a check found faults'],
  [exitCodes.misuse, 'arguments or settings are wrong'],
  [exitCodes.unreachable, 'the service is not running'],
  [exitCodes.inUse, 'the data folder is in use: stop the service first'],
  [exitCodes.partly, 'done in part: some items failed'],
  [exitCodes.damaged, 'the store is damaged: restore a backup'],
  [exitCodes.interrupted, 'interrupted; completed work is kept'],
];

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
