/** A small line chart as SVG: both axes logarithmic, one or more lines over the same sizes. */

export interface Line {
  name: string;
  points: readonly { x: number; y: number }[];
}

export interface Chart {
  title: string;
  xLabel: string;
  yLabel: string;
  lines: readonly Line[];
}

const WIDTH = 640;
const HEIGHT = 400;
const MARGIN = { left: 70, right: 150, top: 40, bottom: 50 };
const COLOURS = ['#1b6ca8', '#d1495b', '#2e7d4f', '#8a5a9e', '#b8860b', '#555555'];

export function lineChart({ title, xLabel, yLabel, lines }: Chart): string {
  const xs = lines.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = lines.flatMap(({ points }) => points.map(({ y }) => y)).filter((y) => y > 0);
  const x = scale(xs, MARGIN.left, WIDTH - MARGIN.right);
  const y = scale(ys, HEIGHT - MARGIN.bottom, MARGIN.top);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(MARGIN.left, 22, title, 'font-size="15" font-weight="bold"'),
    ...x.ticks.flatMap((tick) => [
      `<path d="M${x.at(tick)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}" stroke="#e5e5e5"/>`,
      text(x.at(tick), HEIGHT - MARGIN.bottom + 18, short(tick), 'text-anchor="middle"'),
    ]),
    ...y.ticks.flatMap((tick) => [
      `<path d="M${MARGIN.left} ${y.at(tick)}H${WIDTH - MARGIN.right}" stroke="#e5e5e5"/>`,
      text(MARGIN.left - 8, y.at(tick) + 4, short(tick), 'text-anchor="end"'),
    ]),
    text((MARGIN.left + WIDTH - MARGIN.right) / 2, HEIGHT - 10, xLabel, 'text-anchor="middle"'),
    text(16, HEIGHT / 2, yLabel, `text-anchor="middle" transform="rotate(-90 16 ${HEIGHT / 2})"`),
  ];
  lines.forEach(({ name, points }, number) => {
    const colour = COLOURS[number % COLOURS.length];
    const shown = points.filter((point) => point.y > 0);
    const path = shown.map((point, i) => `${i === 0 ? 'M' : 'L'}${x.at(point.x)} ${y.at(point.y)}`).join('');
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    for (const point of shown)
      parts.push(`<circle cx="${x.at(point.x)}" cy="${y.at(point.y)}" r="3.5" fill="${colour}"/>`);
    parts.push(text(WIDTH - MARGIN.right + 12, MARGIN.top + 14 + 18 * number, name, `fill="${colour}"`));
  });
  return `${[...parts, '</svg>'].join('\n')}\n`;
}

/** A logarithmic axis over the decades around the values: positions, and ticks at 1, 2 and 5. */
function scale(values: readonly number[], from: number, to: number) {
  const least = Math.log10(Math.min(...values)) - 0.08;
  const most = Math.log10(Math.max(...values)) + 0.08;
  const ticks = [];
  for (let decade = Math.floor(least); decade <= most; decade++) {
    for (const step of [1, 2, 5]) {
      const tick = step * 10 ** decade;
      if (Math.log10(tick) >= least && Math.log10(tick) <= most) ticks.push(tick);
    }
  }
  const at = (value: number) =>
    Math.round((from + ((Math.log10(value) - least) / (most - least)) * (to - from)) * 10) / 10;
  return { at, ticks };
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x}" y="${y}" ${attributes}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  if (value >= 1000) return `${value / 1000} k`;
  return String(Number(value.toPrecision(3)));
}
