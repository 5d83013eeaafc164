/** What those who hand documents to threads share: how a task's failure is told apart, and how bytes are given away. */
import { errorCode } from '../../domain/error-code.ts';

/** Whether the document took all the memory that its thread may have. */
export function ranOutOfMemory(error: unknown): boolean {
  return errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** The code that a task gave its error. Errors lose their own fields on the way from a thread, so it comes as the cause. */
export function taskCode(error: unknown): unknown {
  return error instanceof Error ? errorCode(error.cause) : undefined;
}

/** What to transfer so that a thread gets bytes without a copy: nothing where they are a part of something larger. */
export function givenAway({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [];
}
