/** The growth plots of docs/benchmarks.md: latency, time to build and memory against the number of chunks. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Line, lineChart } from '../line-chart.ts';
import type { EngineReport } from './verdict.ts';

export interface MeasuredSize {
  chunks: number;
  dim: number;
  engines: Readonly<Record<string, EngineReport>>;
}

export async function plotGrowth(measured: readonly MeasuredSize[]): Promise<void> {
  const docs = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'docs');
  const line = (name: string, of: (report: EngineReport) => number): Line => ({
    name,
    points: measured.map(({ chunks, engines }) => ({ x: chunks, y: of(engines.readback) })),
  });
  const xLabel = 'chunks of 200 words';
  const charts = {
    latency: {
      title: 'Search, in process',
      yLabel: 'p50, ms',
      lines: ['hybrid', 'hybrid_at_once', 'sparse', 'dense'].map((name) =>
        line(name.replaceAll('_', ' '), ({ search_ms }) => search_ms[name].p50),
      ),
    },
    build: {
      title: 'Build',
      yLabel: 'seconds',
      lines: [
        line('searchable', ({ build }) => build.searchable_s),
        line('settled and saved', ({ build }) => build.settled_s),
        line('restart', ({ restart }) => restart.ready_s),
      ],
    },
    memory: {
      title: 'Resident memory over an empty process',
      yLabel: 'MB',
      lines: [
        line('after the build', ({ memory }) => memory.over_empty_mb),
        line('after a restart', ({ restart }) => restart.memory.over_empty_mb),
      ],
    },
  };
  const suffix = measured[0].dim === 100 ? '' : `-${measured[0].dim}d`;
  for (const [name, chart] of Object.entries(charts)) {
    await writeFile(join(docs, `growth-${name}${suffix}.svg`), lineChart({ ...chart, xLabel }));
  }
}
