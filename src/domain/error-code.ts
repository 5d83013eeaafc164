/** An error's code: the system's (`ENOENT`), a thread's (`ERR_WORKER_OUT_OF_MEMORY`), or our own. May be undefined. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** For display: unlike the message, the code contains no private data. */
export function shownCode(error: unknown): string {
  const code = errorCode(error);
  return typeof code === 'string' ? code : 'unknown';
}

/** Whether the disk or the user's quota is full. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
