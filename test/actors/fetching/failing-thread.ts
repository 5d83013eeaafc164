/** A thread entry for the test of the parser pool: each of the ways in which reading ends. */
import { beginTask, type Limited, unreadable } from '../../../src/threads/thread-pool.ts';

type Document = Record<never, unknown> & Limited;

export function read(_: Document): string {
  return 'read';
}

export function refuse(_: Document): never {
  throw unreadable('is no document');
}

export function crash(_: Document): never {
  throw new TypeError('a bug');
}

export function fill(_: Document): never {
  for (const all: unknown[] = []; ; ) all.push({ no: all.length });
}

/** Work without end. */
export function spin(document: Document): never {
  beginTask(document);
  for (;;);
}

/** A wait without end, which takes no processor time. */
export function wait(document: Document): void {
  beginTask(document);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
