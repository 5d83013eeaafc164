/** Draws a projection as SVG: one dot a page in the colour of its cluster, grey for noise, and each cluster's label in its middle. */
const size = 1000;
const margin = 40;

export interface MapPoint {
  x: number;
  y: number;
  /** -1: noise. */
  cluster: number;
}

export function drawMap(points: readonly MapPoint[], labels: ReadonlyMap<number, string>): string {
  const [x0, x1] = range(points.map(({ x }) => x));
  const [y0, y1] = range(points.map(({ y }) => y));
  const place = (value: number, from: number, to: number) =>
    Math.round((margin + ((value - from) / Math.max(1e-9, to - from)) * (size - 2 * margin)) * 10) / 10;
  const colour = (cluster: number) =>
    cluster < 0 ? '#bbb' : `hsl(${Math.round((cluster * 137.508) % 360)} 60% ${40 + (cluster % 3) * 10}%)`;
  const dots = points.map(
    ({ x, y, cluster }) =>
      `<circle cx="${place(x, x0, x1)}" cy="${place(y, y0, y1)}" r="2.5" fill="${colour(cluster)}"/>`,
  );
  const texts = [...labels].map(([cluster, label]) => {
    const mine = points.filter((point) => point.cluster === cluster);
    const x = place(median(mine.map((point) => point.x)), x0, x1);
    const y = place(median(mine.map((point) => point.y)), y0, y1);
    return `<text x="${x}" y="${y}" text-anchor="middle">${escaped(label)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" font-family="sans-serif" font-size="11">`,
    `<rect width="${size}" height="${size}" fill="#fff"/>`,
    ...dots,
    `<g stroke="#fff" stroke-width="3" paint-order="stroke" fill="#111">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function range(values: number[]): [number, number] {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
