/** Whether another try follows one that ended with a fault of a fetch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '../../src/domain/job.ts';
import { endsTries, FetchError, type FetchFault } from '../../src/providers/fetch-error.ts';

const tried = (attempts: number, unreached?: number) =>
  ({ attempts, max_attempts: 3, ...(unreached !== undefined && { unreached }) }) as Job;
const ends = (code: FetchFault, job: Job) => endsTries(new FetchError(code, 'as it is said'), job);

test('tries end at the last attempt, at once where nothing would mend it, and with those of a host that is not reached', () => {
  assert.deepEqual([ends('timeout', tried(2)), ends('timeout', tried(3))], [false, true]);
  assert.equal(ends('blacklisted', tried(1)), true);
  assert.deepEqual([ends('no_such_name', tried(3, 12)), ends('no_such_name', tried(3, 13))], [false, true]);
});

test('an attempt that counts as not made ends nothing, the last one neither', () => {
  for (const code of ['host_waits', 'offline'] as const) assert.equal(ends(code, tried(3)), false, code);
});
