/** Resource usage of the last day. */
import { useMemo, useState } from 'preact/hooks';
import type { MetricsTimeseriesResponse } from '../../../src/domain/admin.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { bytes, count, duration } from '../../ui/format.ts';
import { LineChart } from '../../ui/line-chart.tsx';
import { Fault } from '../../ui/parts.tsx';

interface Shown {
  metric: string;
  label: string;
  format: (value: number) => string;
  /** Whether it is a count. */
  isWhole?: boolean;
}

const metrics: readonly Shown[] = [
  { metric: 'process_resident_memory_bytes', label: 'Memory', format: bytes },
  { metric: 'nodejs_eventloop_lag_p99_seconds', label: 'Event loop delay, 99 %', format: duration },
  { metric: 'event_subscribers', label: 'Open event streams', format: count, isWhole: true },
];

const dayMs = 86_400_000;

export function Growth() {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="block" aria-label="Diagnostics">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h2>Diagnostics</h2>
        </summary>
        <p class="quiet">The last day.</p>
        <div class="charts">{isOpen && metrics.map((each) => <Metric key={each.metric} {...each} />)}</div>
      </details>
    </section>
  );
}

function Metric({ metric, label, format, isWhole = false }: Shown) {
  const { data, error, reload } = useLoad((signal) => {
    const since = new Date(Date.now() - dayMs).toISOString();
    return get<MetricsTimeseriesResponse>('/v1/admin/metrics/timeseries', { metric, since, step: 300 }, signal);
  }, []);
  const lines = useMemo(() => {
    const points = [...(data?.series[0]?.points ?? []), ...(data?.current[0]?.points ?? [])];
    return [{ label, points }];
  }, [data, label]);
  return (
    <div>
      <Fault error={error} retry={reload} />
      <LineChart label={label} lines={lines} format={format} isWhole={isWhole} />
    </div>
  );
}
