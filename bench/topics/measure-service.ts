/** A run of the clustering in a real service, as somebody who uses it meanwhile sees it: health checks and searches beside it. */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../src/compute/seeded-random.ts';
import type { ClusterRunsResponse } from '../../src/domain/cluster.ts';
import { type RunningService, runService } from '../running-service.ts';
import type { LabelledPage } from './labelled-pages.ts';

const pagesPerBatch = 100;
const idleMs = 10_000;
/** Between two health checks, and between two searches, ms. */
const healthGapMs = 10;
const searchGapMs = 100;
const queries = ['space shuttle launch', 'oil prices', 'university teachers', 'champions league final', 'river delta'];

export async function measureService(known: readonly LabelledPage[], count: number) {
  const service = await runService({ SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '100000' });
  try {
    await fill(service, known, count);
    const quiet = await beside(service, () => delay(idleMs));
    const began = performance.now();
    const during = await beside(service, async () => {
      const { status } = await service.call('POST', '/v1/clusters/recompute');
      if (status !== 202) throw new Error(`the run was refused: ${status}`);
      while ((await latestRun(service))?.finished_at == null) await delay(250);
    });
    const run_s = Math.round(performance.now() - began) / 1000;
    return { pages: count, run_s, run: await latestRun(service), quiet, during, resident_mb: service.residentMb() };
  } finally {
    await service.stop();
  }
}

async function latestRun(service: RunningService) {
  return ((await service.call('GET', '/v1/clusters/runs?limit=1')).body as ClusterRunsResponse).runs[0];
}

/** Pages of two texts of a label each, so that more of them than the sets have are still different. */
async function fill(service: RunningService, known: readonly LabelledPage[], count: number): Promise<void> {
  const random = seededRandom(5);
  const ofLabel = new Map<string, LabelledPage[]>();
  for (const page of known) ofLabel.set(page.label, [...(ofLabel.get(page.label) ?? []), page]);
  for (let at = 0; at < count; at += pagesPerBatch) {
    const pages = Array.from({ length: Math.min(pagesPerBatch, count - at) }, (_, i) => {
      const { title, text, label } = known[Math.floor(random() * known.length)];
      const others = ofLabel.get(label) ?? [];
      const other = others[Math.floor(random() * others.length)];
      return { url: `https://topics.example/${at + i}`, title, body_extracted: `${text}\n\n${other.text}` };
    });
    const { status } = await service.call('POST', '/v1/pages/batch', { pages });
    if (status >= 300) throw new Error(`a batch was refused: ${status}`);
  }
  for (;;) {
    const open = ['pending', 'running', 'failed'].map((status) =>
      service.call('GET', `/v1/jobs?status=${status}&limit=1`),
    );
    if ((await Promise.all(open)).every(({ body }) => (body as { jobs: unknown[] }).jobs.length === 0)) return;
    await delay(500);
  }
}

/** Response times while something goes on, ms. */
async function beside(service: RunningService, work: () => Promise<unknown>) {
  let over = false;
  const asking = async (gapMs: number, ask: (turn: number) => Promise<{ status: number; ms: number }>) => {
    const times: number[] = [];
    for (let turn = 0; !over; turn++) {
      const { status, ms } = await ask(turn);
      if (status !== 200) throw new Error(`answered ${status}`);
      times.push(ms);
      await delay(gapMs);
    }
    return percentiles(times);
  };
  const healthz = asking(healthGapMs, () => service.call('GET', '/healthz'));
  const search = asking(searchGapMs, (turn) =>
    service.call('POST', '/v1/search', { query: queries[turn % queries.length] }),
  );
  await work();
  over = true;
  return { load: loadavg()[0], healthz: await healthz, search: await search };
}

function percentiles(times: number[]) {
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN) * 10) / 10;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
