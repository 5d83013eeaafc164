/** Line charts; the library is loaded with the first one. */
import { useEffect, useRef } from 'preact/hooks';
import { loadPart } from '../api/load.ts';
import { attempt } from '../app/notices.tsx';
import { colorOf, paint } from '../app/theme.ts';
import { clockOf, dayAndMonthOf } from './format.ts';

export interface Line {
  label: string;
  /** Oldest first. */
  points: readonly { ts: string; value: number }[];
}

const height = 150;
/** One line has the accent colour; several have hues (as `.hue-…`) far apart, and dashes. */
const hues = [8, 1, 5, 11, 3, 9];
const dashes = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const dayMs = 86_400_000;
const hourS = 3600;
const wholeSteps = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

interface LineChartProps {
  label: string;
  lines: readonly Line[];
  format: (value: number) => string;
  /** Counts: a whole-number axis from 0. */
  isWhole?: boolean;
}

/** Without points only the space is reserved. */
export function LineChart({ label, lines, format, isWhole = false }: LineChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const formatted = useRef(format);
  formatted.current = format;
  useEffect(() => {
    const { current: element } = host;
    if (element === null || lines.every(({ points }) => points.length === 0)) return;
    let chart: { destroy: () => void; setSize: (size: { width: number; height: number }) => void } | undefined;
    let isGone = false;
    const observer = new ResizeObserver(([{ contentRect }]) => chart?.setSize({ width: contentRect.width, height }));
    const show = async () => {
      const { default: UPlot } = await loadPart(() => import('uplot'));
      if (isGone) return;
      const axis = {
        stroke: colorOf('--ink-3'),
        grid: { stroke: colorOf('--line'), width: 1 },
        ticks: { show: false },
        font: '11px "Inter Variable"',
      };
      const data = alignedOf(lines);
      const [times] = data;
      const isDays = (times[times.length - 1] - times[0]) * 1000 > 2 * dayMs;
      const few = lines.every(({ points }) => points.length < 30);
      chart = new UPlot(
        {
          width: element.clientWidth,
          height,
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false } },
          // uPlot shows a single time with a range of a thousand days.
          scales: {
            ...(times.length === 1 && { x: { range: [times[0] - hourS / 2, times[0] + hourS / 2] } }),
            ...(isWhole && { y: { range: (_chart, _least, most) => [0, Math.max(1, most * 1.1)] } }),
          },
          series: [
            {},
            ...lines.map((line, at) => {
              const stroke = colorOf(lines.length === 1 ? '--accent' : `--map-${hues[at % hues.length]}`);
              return {
                label: line.label,
                stroke,
                width: 1.5,
                dash: dashes[at % dashes.length],
                spanGaps: true,
                points: { show: few, size: 6, stroke, fill: colorOf('--surface') },
              };
            }),
          ],
          axes: [
            {
              ...axis,
              size: 28,
              values: (_chart, ticks) => ticks.map((tick) => (isDays ? dayAndMonthOf : clockOf)(tick * 1000)),
            },
            {
              ...axis,
              size: 64,
              ...(isWhole && { incrs: wholeSteps }),
              values: (_chart, ticks) => ticks.map((tick) => formatted.current(tick)),
            },
          ],
        },
        data,
        element,
      );
      observer.observe(element);
    };
    void attempt(show);
    return () => {
      isGone = true;
      observer.disconnect();
      chart?.destroy();
    };
  }, [lines, paint.value]);
  const last = lines.length === 1 ? lines[0].points.at(-1) : undefined;
  return (
    <figure class="chart">
      <figcaption>
        {label}
        {last !== undefined && <strong>{format(last.value)}</strong>}
      </figcaption>
      <div ref={host} class="chart-area" aria-hidden="true" />
      {lines.length > 1 && (
        <ul class="chart-legend">
          {lines.map((line, at) => (
            <li key={line.label}>
              <svg viewBox="0 0 24 4" class={`chart-key hue-${hues[at % hues.length]}`} aria-hidden="true">
                <line x1="0" y1="2" x2="24" y2="2" stroke-dasharray={dashes[at % dashes.length].join(' ')} />
              </svg>
              <bdi>{line.label}</bdi>
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

/** All times in seconds, and each line's values, null where missing. */
function alignedOf(lines: readonly Line[]): [number[], ...(number | null)[][]] {
  const times = [...new Set(lines.flatMap(({ points }) => points.map(({ ts }) => Date.parse(ts) / 1000)))];
  times.sort((a, b) => a - b);
  return [
    times,
    ...lines.map(({ points }) => {
      const values = new Map(points.map(({ ts, value }) => [Date.parse(ts) / 1000, value]));
      return times.map((time) => values.get(time) ?? null);
    }),
  ];
}
