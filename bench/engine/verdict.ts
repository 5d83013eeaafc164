/** What the medians mean: readback against its targets, and the peers as multiples of readback. */
import type { Latency } from './statistics.ts';

export interface EngineReport {
  build: { searchable_s: number; searchable_chunks_per_s: number; settled_s: number; [detail: string]: unknown };
  search_ms: Record<string, Latency & { cpu_ms: number }>;
  quality: { dense_recall?: number; sparse_equal?: number; sparse_overlap?: number; judged_queries: number };
  filters: Record<string, unknown>;
  memory: { empty_mb: number; over_empty_mb: number; peak_over_empty_mb: number };
  footprint: Record<string, unknown>;
  restart: { ready_s: number; memory: { over_empty_mb: number }; [detail: string]: unknown };
}

interface Target {
  seen: number;
  target: string;
  met: boolean;
}

/** The targets are those of 100,000 chunks of 100 dimensions. */
export function compareWithTargets(report: EngineReport): Record<string, Target> {
  const atMost = (seen: number, limit: number): Target => ({ seen, target: `<= ${limit}`, met: seen <= limit });
  const atLeast = (seen: number, limit: number): Target => ({ seen, target: `>= ${limit}`, met: seen >= limit });
  const { build, search_ms, quality, memory, restart } = report;
  return {
    hybrid_p50_ms: atMost(search_ms.hybrid.p50, 0.8),
    hybrid_p95_ms: atMost(search_ms.hybrid.p95, 1.6),
    build_chunks_per_s: atLeast(build.searchable_chunks_per_s, 5000),
    dense_recall: atLeast(quality.dense_recall ?? 0, 0.98),
    sparse_equal: atLeast(quality.sparse_equal ?? 0, 1),
    memory_over_empty_mb: atMost(memory.over_empty_mb, 500),
    restart_s: atMost(restart.ready_s, 3),
  };
}

/** How many times readback's time or memory a peer takes: above 1 readback is ahead. */
export function compareWithPeers(
  medians: Readonly<Record<string, EngineReport>>,
): Record<string, Record<string, number>> | undefined {
  const { readback, ...peers } = medians;
  const found = Object.entries(peers).map(([name, peer]) => {
    const times = (of: (report: EngineReport) => number) => Math.round((of(peer) / of(readback)) * 100) / 100;
    const searches = Object.keys(peer.search_ms).filter((search) => readback.search_ms[search] !== undefined);
    return [
      name,
      {
        ...Object.fromEntries(
          searches.flatMap((search) => [
            [`${search}_p50`, times((report) => report.search_ms[search].p50)],
            [`${search}_p95`, times((report) => report.search_ms[search].p95)],
          ]),
        ),
        build_time: times((report) => report.build.searchable_s),
        memory_over_empty: times((report) => report.memory.over_empty_mb),
        restart: times((report) => report.restart.ready_s),
      },
    ];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
