/** A histogram of reading times: drag over bars. The date fields do the same for keyboards and single days. */
import { useRef, useState } from 'preact/hooks';
import { useEscape } from '../../app/keys.tsx';
import { fullDateOf, many, monthOfYearOf } from '../../ui/format.ts';
import { dayOf, inOrder, startOf } from './criteria.ts';
import { Dates, type Period } from './dates.tsx';

type Unit = 'day' | 'week' | 'month' | 'year';

interface Bar {
  start: Date;
  /** The first moment after it. */
  end: Date;
  pages: number;
}

const width = 240;
const height = 56;
const dayMs = 86_400_000;
const maxBars = 44;

function floorTo(unit: Unit, at: Date): Date {
  const date = new Date(
    at.getFullYear(),
    unit === 'year' ? 0 : at.getMonth(),
    unit === 'day' || unit === 'week' ? at.getDate() : 1,
  );
  if (unit === 'week') date.setDate(date.getDate() - ((date.getDay() + 6) % 7));
  return date;
}

function next(unit: Unit, at: Date): Date {
  const date = new Date(at);
  if (unit === 'day') date.setDate(date.getDate() + 1);
  else if (unit === 'week') date.setDate(date.getDate() + 7);
  else if (unit === 'month') date.setMonth(date.getMonth() + 1);
  else date.setFullYear(date.getFullYear() + 1);
  return date;
}

/** As fine as the number of bars allows. */
function barsOf(times: readonly number[]): { unit: Unit; bars: Bar[] } {
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const days = (last - first) / dayMs;
  const unit: Unit = days <= 45 ? 'day' : days <= 7 * maxBars ? 'week' : days <= 30 * maxBars ? 'month' : 'year';
  const bars: Bar[] = [];
  for (let start = floorTo(unit, new Date(first)); start.getTime() <= last; start = next(unit, start)) {
    bars.push({ start, end: next(unit, start), pages: 0 });
  }
  for (const time of times) {
    const bar = bars.find(({ end }) => time < end.getTime());
    if (bar !== undefined) bar.pages++;
  }
  return { unit, bars };
}

interface Props {
  /** Criteria of the bars; others are not kept. */
  of: string;
  times: readonly number[];
  from: string | null;
  to: string | null;
  change: (part: Partial<Period>, again?: boolean) => void;
}

export function Histogram({ of, times, from, to, change }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ anchor: number; at: number } | null>(null);
  // Bars stay while a period is chosen, so that it can be widened.
  const kept = useRef<{ of: string; times: readonly number[] }>({ of: '', times: [] });
  const isNarrowed = from !== null || to !== null;
  if (!isNarrowed || kept.current.of !== of || kept.current.times.length === 0) kept.current = { of, times };
  const { times: shown } = kept.current;
  useEscape(drag !== null, () => setDrag(null));
  const { unit, bars } = shown.length === 0 ? { unit: 'day' as Unit, bars: [] } : barsOf(shown);
  const most = Math.max(1, ...bars.map(({ pages }) => pages));
  const step = bars.length === 0 ? 0 : Math.min(width / bars.length, 24);
  const placeOf = (event: PointerEvent): number => {
    const box = svg.current?.getBoundingClientRect();
    if (box === undefined) return 0;
    const x = ((event.clientX - box.left) / box.width) * width;
    return Math.max(0, Math.min(bars.length - 1, Math.floor(x / step)));
  };
  const within = (at: number): boolean => {
    if (drag !== null) return at >= Math.min(drag.anchor, drag.at) && at <= Math.max(drag.anchor, drag.at);
    const { start, end } = bars[at];
    const period = inOrder({ from, to });
    return (
      (period.to === null || start.getTime() <= startOf(period.to).getTime()) &&
      (period.from === null || end.getTime() > startOf(period.from).getTime())
    );
  };
  const end = () => {
    if (drag === null) return;
    const [first, last] = [Math.min(drag.anchor, drag.at), Math.max(drag.anchor, drag.at)];
    setDrag(null);
    change({ from: dayOf(bars[first].start), to: dayOf(new Date(bars[last].end.getTime() - dayMs / 2)) });
  };
  return (
    <section class="facet">
      <h2>When you read it</h2>
      {bars.length > 1 && (
        <svg
          ref={svg}
          class="histogram"
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`${many(shown.length, 'page')} by ${unit}, ${fullDateOf(bars[0].start)} to ${fullDateOf(bars[bars.length - 1].start)}`}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            const at = placeOf(event);
            svg.current?.setPointerCapture(event.pointerId);
            setDrag({ anchor: at, at });
          }}
          onPointerMove={(event) => {
            if (drag !== null) setDrag({ ...drag, at: placeOf(event) });
          }}
          onPointerUp={end}
          onPointerCancel={() => setDrag(null)}
        >
          {bars.map(({ start, pages }, at) => {
            const tall = pages === 0 ? 1.5 : 4 + (height - 4) * (pages / most);
            return (
              <g key={start.getTime()}>
                <rect x={at * step} y="0" width={step} height={height} class="histogram-hit" />
                <rect
                  x={at * step + 0.75}
                  y={height - tall}
                  width={Math.max(step - 1.5, 1)}
                  height={tall}
                  rx="1.5"
                  class={within(at) ? 'histogram-bar' : 'histogram-bar histogram-out'}
                >
                  <title>
                    {unit === 'month'
                      ? monthOfYearOf(start)
                      : unit === 'year'
                        ? start.getFullYear()
                        : fullDateOf(start)}
                    : {many(pages, 'page')}
                  </title>
                </rect>
              </g>
            );
          })}
        </svg>
      )}
      <Dates period={{ from, to }} labels={['Read from', 'Read until']} change={change} />
    </section>
  );
}
