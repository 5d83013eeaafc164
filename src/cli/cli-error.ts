import { damagedExitCode } from '../store/look-apart.ts';

/** How commands end. An error of this kind is a line for the person at the terminal; every other one is a bug. */
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

/** For the documentation and `--help`. */
export const exitMeanings: readonly (readonly [number, string])[] = [
  [exitCodes.done, 'done'],
  [exitCodes.failed, 'failed, or what was checked is not sound'],
  [exitCodes.misuse, 'arguments or settings are wrong'],
  [exitCodes.unreachable, 'a running service is needed and none answers'],
  [exitCodes.inUse, 'the data folder is in use: the service has to be stopped for this'],
  [exitCodes.partly, 'done in part: some items failed and are listed'],
  [exitCodes.damaged, 'the store is damaged: a backup has to be restored'],
  [exitCodes.interrupted, 'interrupted; what was done is kept'],
];

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
