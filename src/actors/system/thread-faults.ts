import { errorCode } from '../../domain/error-code.ts';

/** Whether the document exceeded its thread's memory. */
export function ranOutOfMemory(error: unknown): boolean {
  return errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Errors lose their fields between threads, so the code is in the cause. */
export function taskCode(error: unknown): unknown {
  return error instanceof Error ? errorCode(error.cause) : undefined;
}

/** Transfer list for bytes: empty if they are part of a larger buffer. */
export function givenAway({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [];
}
