/** A line over time. The chart library is loaded with the first one. */
import { useEffect, useRef } from 'preact/hooks';
import { notify } from '../app/notices.tsx';
import { colorOf, theme } from '../app/theme.ts';
import { clockOf } from './format.ts';

export interface Line {
  label: string;
  points: readonly { ts: string; value: number }[];
}

const height = 150;

export function LineChart({ line, format }: { line: Line; format: (value: number) => string }) {
  const host = useRef<HTMLDivElement>(null);
  const formatted = useRef(format);
  formatted.current = format;
  useEffect(() => {
    const { current: element } = host;
    if (element === null) return;
    let chart: { destroy: () => void; setSize: (size: { width: number; height: number }) => void } | undefined;
    let isGone = false;
    const observer = new ResizeObserver(([{ contentRect }]) => chart?.setSize({ width: contentRect.width, height }));
    const show = async () => {
      const { default: UPlot } = await import('uplot');
      if (isGone) return;
      const axis = {
        stroke: colorOf('--ink-3'),
        grid: { stroke: colorOf('--line'), width: 1 },
        ticks: { show: false },
      };
      chart = new UPlot(
        {
          width: element.clientWidth,
          height,
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false } },
          series: [
            {},
            {
              label: line.label,
              stroke: colorOf('--accent'),
              width: 1.5,
              points: { show: line.points.length < 30, fill: colorOf('--surface') },
            },
          ],
          axes: [
            {
              ...axis,
              font: '11px "Inter Variable"',
              values: (_chart, ticks) => ticks.map((tick) => clockOf(tick * 1000)),
            },
            {
              ...axis,
              font: '11px "Inter Variable"',
              size: 64,
              values: (_chart, ticks) => ticks.map((tick) => formatted.current(tick)),
            },
          ],
        },
        [line.points.map(({ ts }) => Date.parse(ts) / 1000), line.points.map(({ value }) => value)],
        element,
      );
      observer.observe(element);
    };
    show().catch((error) => notify(`The chart could not be loaded: ${String(error)}`, 'error'));
    return () => {
      isGone = true;
      observer.disconnect();
      chart?.destroy();
    };
  }, [line, theme.value]);
  const last = line.points.at(-1);
  return (
    <figure class="chart">
      <figcaption>
        {line.label}
        {last !== undefined && <strong>{format(last.value)}</strong>}
      </figcaption>
      <div ref={host} class="chart-area" aria-hidden="true" />
    </figure>
  );
}
