/** What small answers that unpack to 500 MB cost a running service: peak resident memory of its process, as the kernel counts it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { JobListResponse } from '../../src/domain/job.ts';
import { Site } from '../providers/small-web.ts';
import { RunningService, withoutModel } from './service.ts';

/** `fetch.max_bytes` as it is set by default: eight bodies of that size would take 80 MB. */
const maxBytes = 10_000_000;
const atOnce = 8;
/** MB that the process may grow by: well below the 80 MB of all bodies. Up to 45 have been seen; the collector of garbage decides. */
const bound = 60;

const million = Buffer.alloc(1_000_000, 'a');
/** Members of one gzip file follow each other. */
const packed = Buffer.concat(Array.from({ length: 500 }, () => gzipSync(million)));
const tens = Buffer.alloc(50_000_000, 'a');
const bombs: Record<string, [encoding: string, body: Uint8Array]> = {
  gzip: ['gzip', packed],
  'double gzip': ['gzip, gzip', gzipSync(packed)],
  deflate: ['deflate', deflateSync(tens)],
  brotli: [
    'br',
    brotliCompressSync(tens, { params: { [constants.BROTLI_PARAM_LGWIN]: 22, [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ],
};

/** Bytes that the process held at most since `forgetPeak`. */
function peakOf(pid: number): number {
  const kb = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) * 1024;
}

function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

test('eight bombs at once end at the limit, and hardly grow the process', {
  skip: existsSync('/proc/self/clear_refs') ? false : 'needs the peak memory that Linux tells',
}, async (t) => {
  const site = await Site.open(t, {
    '*': (request, response) => {
      const [encoding, body] = bombs[new URL(request.url ?? '', 'http://x').searchParams.get('kind') ?? ''] ?? ['', ''];
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(body);
    },
  });
  const service = await RunningService.start(t, {
    ...withoutModel,
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_FETCH__MAX_BYTES: String(maxBytes),
  });
  const fetchAll = async (kind: string, round: number) => {
    const { port } = site;
    const pages = Array.from({ length: atOnce }, (_, at) => ({
      url: `http://127.0.0.1:${port}/${round}/${at}?kind=${encodeURIComponent(kind)}`,
    }));
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
    const ids = body.results.map(({ page_id }) => page_id);
    assert.deepEqual(new Set(await service.settled(ids)), new Set(['dead']));
  };
  await fetchAll('gzip', 0); // code that is compiled and memory that is taken for good do not count
  const { pid } = service;
  assert.ok(pid !== undefined);
  for (const kind of Object.keys(bombs)) {
    // What a collection of garbage has left from before may be in a peak, but not in each.
    let least = Number.POSITIVE_INFINITY;
    for (let round = 1; round < 7 && least >= bound; round += 2) {
      forgetPeak(pid);
      const before = peakOf(pid);
      for (const each of [round, round + 1]) await fetchAll(kind, each);
      const grown = Math.round((peakOf(pid) - before) / 1e6);
      t.diagnostic(`${kind}: ${grown} MB over ${Math.round(before / 1e6)} MB`);
      least = Math.min(least, grown);
    }
    assert.ok(least < bound, `${kind}: ${least} MB`);
  }
  const { body } = await service.call<JobListResponse>('GET', '/v1/jobs?kind=fetch_and_index');
  assert.deepEqual(new Set(body.jobs.map(({ last_error }) => last_error)), new Set([`larger than ${maxBytes} bytes`]));
});
