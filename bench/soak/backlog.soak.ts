/** While indexing lags behind, pages are acknowledged and searches answered, and memory does not grow with what waits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { RunningService } from '../../test/process/service.ts';

const words = 'ledger quay ferry timber cargo crane tide pilot beacon buoy winch hull keel rudder bosun galley'.split(
  ' ',
);

function textOf(no: number): string {
  return Array.from({ length: 400 }, (_, i) => words[(i * (1 + (no % 13)) + no * 5) % words.length] + (i % 50)).join(
    ' ',
  );
}

/** Resident memory of the service, MB. */
function residentMb(service: RunningService): number {
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

test('while indexing lags behind, pages are acknowledged and searches answered, and memory stays', async (t) => {
  const service = await RunningService.start(t);
  await service.pauseVectors();
  const batches = 10;
  const each = 100;
  const ids: string[] = [];
  const ack: number[] = [];
  let feeding = true;
  const searches: number[] = [];
  const searching = (async () => {
    while (feeding) {
      const began = performance.now();
      const { status } = await service.call<SearchResponse>('POST', '/v1/search', { query: 'ferry cargo', k: 5 });
      assert.equal(status, 200);
      searches.push(performance.now() - began);
    }
  })();
  const memory: number[] = [];
  let mostWaiting = 0;
  for (let batch = 0; batch < batches; batch++) {
    const pages = Array.from({ length: each }, (_, i) => {
      const no = batch * each + i;
      return { url: `https://quay.example/${no}`, body_extracted: textOf(no) };
    });
    const began = performance.now();
    const { status, body } = await service.call<{ results: { page_id: string; status: string }[] }>(
      'POST',
      '/v1/pages/batch',
      { pages },
    );
    ack.push(performance.now() - began);
    assert.ok(status === 200 || status === 202, `${status}`);
    ids.push(...body.results.map(({ page_id }) => page_id));
    memory.push(residentMb(service));
    // Looked at after each batch: whenever this process is held up, the other one catches up.
    const waiting = await service.call<JobListResponse>('GET', '/v1/jobs?status=pending&limit=1000');
    mostWaiting = Math.max(mostWaiting, waiting.body.jobs.length);
  }
  assert.ok(mostWaiting > 0, 'indexing lags');
  feeding = false;
  await searching;
  assert.equal(new Set(ids).size, batches * each);
  assert.ok(searches.length > 0);
  assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
  // What waits are rows on the disk: the second half of the flood costs what its index takes, not its texts many times over.
  const growth = memory[batches - 1] - memory[batches / 2];
  t.diagnostic(
    `${Math.max(...ack).toFixed(0)} ms the slowest batch, ${searches.length} searches, ${growth.toFixed(0)} MB`,
  );
  assert.ok(growth < 200, `${growth} MB for 500 pages`);
});
