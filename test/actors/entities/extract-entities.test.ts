/** Pages read for their names alone, where the encoder cannot be used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractEntitiesHandler } from '../../../src/actors/entities/extract-entities.ts';
import type { JobContext } from '../../../src/actors/system/job-actor.ts';
import type { Job } from '../../../src/domain/job.ts';
import { ProviderError } from '../../../src/providers/resilient-call.ts';
import type { StoreReader } from '../../../src/store/store.ts';

test('an encoder that cannot be used is waited for in the place of one page, and the job says why; a suspect gives way at once', async () => {
  for (const { suspect, waitedMs, retryAfterMs } of [
    { suspect: false, waitedMs: 120_000, retryAfterMs: 0 },
    { suspect: true, waitedMs: 0, retryAfterMs: 120_000 },
  ]) {
    let waited = 0;
    let wentOn = 0;
    const pages = {
      body: () => 'Words.',
      head: () => ({ title: null, first_label: 1 }),
      chunks: () => [{ section_title: null, char_start: 0, char_end: 6 }],
    };
    const handler = extractEntitiesHandler({
      reader: { pages } as unknown as StoreReader,
      embedders: { passages: () => Promise.reject(new ProviderError('local', 'unreachable', 'no model')) },
      takeTurn: (work) => work(),
      now: () => 1,
      wait: async (ms) => {
        waited += ms;
      },
    });
    const signal = new AbortController().signal;
    const context = { signal, extendTime: async () => void wentOn++ } as unknown as JobContext;
    const job = { no: 1, page_no: 1, max_attempts: 3, suspect } as Job;
    const reason = 'provider local: no model';
    await assert.rejects(handler(job, context), { code: 'breaker_open', retryAfterMs, reason });
    assert.equal(waited, waitedMs);
    assert.equal(wentOn > 0, !suspect, 'it may be asked to stop meanwhile');
  }
});
