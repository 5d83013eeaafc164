/** Waiting by turns of the loop and no timer, for tests that have a clock of their own: however long a flush takes meanwhile. */
import assert from 'node:assert/strict';
import { patienceMs } from './process/service.ts';

export const turn = () => new Promise(setImmediate);

export async function turnUntil(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const began = performance.now(); !(await holds()); ) {
    if (performance.now() - began > patienceMs) assert.fail(`in vain: ${what}`);
    await turn();
  }
}
