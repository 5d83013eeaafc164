/** A calendar of a year until a day: click a day, or drag over several. */
import { useRef, useState } from 'preact/hooks';
import { useEscape } from '../../app/keys.tsx';
import { fullDateOf, many, monthOf } from '../../ui/format.ts';
import { dayOf, startOf } from '../search/criteria.ts';

const weeks = 53;
const cell = 13;
const top = 18;

interface Props {
  until: Date;
  counts: ReadonlyMap<string, number>;
  from: string | null;
  to: string | null;
  choose: (from: string, to: string) => void;
}

/** The Monday 52 weeks before that of `until`. */
export function firstDay(until: Date): Date {
  const date = new Date(until.getFullYear(), until.getMonth(), until.getDate());
  date.setDate(date.getDate() - ((date.getDay() + 6) % 7) - (weeks - 1) * 7);
  return date;
}

export function Calendar({ until, counts, from, to, choose }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ anchor: string; at: string } | null>(null);
  useEscape(drag !== null, () => setDrag(null));
  const first = firstDay(until);
  const days = Array.from({ length: weeks * 7 }, (_, at) => {
    const date = new Date(first);
    date.setDate(first.getDate() + at);
    return dayOf(date);
  }).filter((day) => day <= dayOf(until));
  const most = Math.max(1, ...days.map((day) => counts.get(day) ?? 0));
  const levelOf = (day: string) => {
    const n = counts.get(day) ?? 0;
    return n === 0 ? 0 : Math.max(1, Math.ceil((4 * Math.log1p(n)) / Math.log1p(most)));
  };
  const [chosenFrom, chosenTo] = drag === null ? [from, to] : [drag.anchor, drag.at].sort();
  const isChosen = (day: string) =>
    (chosenFrom !== null || chosenTo !== null) &&
    (chosenFrom === null || day >= chosenFrom) &&
    (chosenTo === null || day <= chosenTo);
  const dayAt = (event: PointerEvent): string | null => {
    const box = svg.current?.getBoundingClientRect();
    if (box === undefined) return null;
    const scale = box.width / (weeks * cell);
    const column = Math.floor((event.clientX - box.left) / scale / cell);
    const row = Math.floor(((event.clientY - box.top) / scale - top) / cell);
    if (column < 0 || column >= weeks || row < 0 || row > 6) return null;
    return days[column * 7 + row] ?? null;
  };
  const months = days
    .map((day, at) => ({ day, at }))
    .filter(({ day, at }) => at % 7 === 0 && Number(day.slice(8)) <= 7 && at / 7 < weeks - 2);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the screen, keys scroll it
    <section class="calendar-scroll" aria-label="Days" tabIndex={0}>
      <svg
        ref={svg}
        class="calendar"
        viewBox={`0 0 ${weeks * cell} ${top + 7 * cell}`}
        role="img"
        aria-label="Visits by day; choose a period by the dates below"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          const day = dayAt(event);
          if (day === null) return;
          svg.current?.setPointerCapture(event.pointerId);
          setDrag({ anchor: day, at: day });
        }}
        onPointerMove={(event) => {
          const day = drag === null ? null : dayAt(event);
          if (drag !== null && day !== null) setDrag({ ...drag, at: day });
        }}
        onPointerUp={() => {
          if (drag === null) return;
          const [start, end] = [drag.anchor, drag.at].sort();
          setDrag(null);
          choose(start, end);
        }}
        onPointerCancel={() => setDrag(null)}
      >
        {months.map(({ day, at }) => (
          <text key={day} x={(at / 7) * cell} y="11">
            {monthOf(startOf(day))}
          </text>
        ))}
        {days.map((day, at) => (
          <rect
            key={day}
            x={Math.floor(at / 7) * cell + 1}
            y={top + (at % 7) * cell + 1}
            width={cell - 2}
            height={cell - 2}
            rx="2.5"
            class={`day level-${levelOf(day)}${isChosen(day) ? ' day-chosen' : ''}`}
          >
            <title>
              {fullDateOf(startOf(day))}: {many(counts.get(day) ?? 0, 'visit')}
            </title>
          </rect>
        ))}
      </svg>
    </section>
  );
}
