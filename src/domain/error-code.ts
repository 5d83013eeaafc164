/**
 * The code of an error, which names its kind: the system's (`ENOENT`), a thread's (`ERR_WORKER_OUT_OF_MEMORY`), or one of ours.
 * Undefined where it has none.
 */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
