/**
 * The code of an error, which names its kind: the system's (`ENOENT`), a thread's (`ERR_WORKER_OUT_OF_MEMORY`), or one of ours.
 * Undefined where it has none.
 */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** The same to be shown: the error's message may hold what nobody else is to read, its code does not. */
export function shownCode(error: unknown): string {
  const code = errorCode(error);
  return typeof code === 'string' ? code : 'unknown';
}

/** Whether it says that nothing more fits: the disk is full, or the user's share of it is. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
