/** What is seen of a service of its own while it reads pages for entities: pages/s, searches and health meanwhile, lag. */
import { allIndexed, eventLoopLagP99, latency, meanwhile, noneLeft, pushPages } from './http-load.ts';
import { type Caller, runService } from './running-service.ts';

/** Errors: those of a service that does not start, or refuses a batch. */
export async function measureReading(
  settings: Record<string, string>,
  pages: readonly object[],
  queries: readonly string[],
) {
  const service = await runService(settings);
  try {
    await pushPages(service, pages);
    while (!(await allIndexed(service))) await new Promise((resolve) => setTimeout(resolve, 20));
    await eventLoopLagP99(service);
    const seen = { health: [] as number[], searches: [] as number[] };
    const until = (kind: string) => {
      const began = performance.now();
      const isOver = (of: Caller) => noneLeft(of, kind);
      return meanwhile(service, queries, isOver, seen).then(() => (performance.now() - began) / 1000);
    };
    const readS = await until('extract_entities');
    const comparedS = await until('canonicalize_entities');
    return {
      pages: pages.length,
      pages_per_s: Math.round((pages.length / readS) * 10) / 10,
      names_compared_after_s: Math.round(comparedS * 10) / 10,
      search_ms: latency(seen.searches),
      healthz_ms: latency(seen.health),
      event_loop_lag_p99_s: await eventLoopLagP99(service),
    };
  } finally {
    await service.stop();
  }
}
