/** The points of the map: position and facts of each page. */
import KDBush from 'kdbush';
import type {
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunsResponse,
} from '../../../src/domain/cluster.ts';
import type { PageListResponse, PageSummary } from '../../../src/domain/page.ts';
import { get } from '../../api/client.ts';
import type { Camera } from './draw-points.ts';

export interface TopicLabel {
  id: string;
  text: string;
  size: number;
  x: number;
  y: number;
  /** One of twelve hues; topics of similar size differ. */
  hue: number;
}

export interface Points {
  ids: string[];
  topics: (string | null)[];
  /** x and y of each point, −1 to 1, in a random but constant order. */
  places: Float32Array;
  indexOf: Map<string, number>;
  tree: KDBush;
  labels: TopicLabel[];
}

/** Visits all twelve hues; consecutive ones differ widely. */
const hueStep = 5;
const hues = 12;

export async function loadPoints(signal: AbortSignal): Promise<Points | null> {
  const { runs } = await get<ClusterRunsResponse>('/v1/clusters/runs', { limit: 10 }, signal);
  const run = runs.find(({ finished_at }) => finished_at !== null);
  if (run === undefined) return null;
  const [{ points }, { clusters }] = await Promise.all([
    get<ClusterProjectionResponse>('/v1/clusters/projection', { run_id: run.id }, signal),
    get<ClusterListResponse>('/v1/clusters', {}, signal),
  ]);
  if (points.length === 0) return null;
  shuffle(points);
  return arrange(points, clusters);
}

/** Fisher and Yates with a seeded generator, so that the order is always the same. */
function shuffle(list: unknown[]): void {
  let state = 0x9e3779b9;
  for (let at = list.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (at + 1);
    [list[at], list[other]] = [list[other], list[at]];
  }
}

function arrange(points: ClusterProjectionResponse['points'], clusters: ClusterListResponse['clusters']): Points {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  const span = Math.max(right - left, high - low, 1e-9) / 2;
  const place = (x: number, y: number) => [(x - (left + right) / 2) / span, (y - (low + high) / 2) / span];
  const places = new Float32Array(points.length * 2);
  const tree = new KDBush(points.length, 64, Float32Array);
  points.forEach((point, at) => {
    const [x, y] = place(point.x, point.y);
    places[2 * at] = x;
    places[2 * at + 1] = y;
    tree.add(x, y);
  });
  tree.finish();
  const labels = clusters
    .flatMap(({ id, label, keywords, size, projection_x, projection_y }): Omit<TopicLabel, 'hue'>[] => {
      if (projection_x === null || projection_y === null) return [];
      const [x, y] = place(projection_x, projection_y);
      return [{ id, text: label ?? keywords.slice(0, 3).join(', '), size, x, y }];
    })
    .sort((a, b) => b.size - a.size)
    .map((label, at) => ({ ...label, hue: (at * hueStep) % hues }));
  return {
    ids: points.map(({ page_id }) => page_id),
    topics: points.map(({ cluster_id }) => cluster_id),
    places,
    indexOf: new Map(points.map(({ page_id }, at) => [page_id, at])),
    tree,
    labels,
  };
}

const pagesAtOnce = 500;

/** Loads site and time of every page, in parts, for these colours. */
export async function loadPages(signal: AbortSignal, tell: (pages: readonly PageSummary[]) => void): Promise<void> {
  let cursor: string | null = null;
  do {
    const answer: PageListResponse = await get<PageListResponse>('/v1/pages', { limit: pagesAtOnce, cursor }, signal);
    tell(answer.pages);
    cursor = answer.next_cursor;
  } while (cursor !== null);
}

/** Whether a position is inside a closed line, by counting crossings. */
function isWithin(x: number, y: number, line: readonly (readonly [number, number])[]): boolean {
  let within = false;
  for (let at = 0, before = line.length - 1; at < line.length; before = at++) {
    const [[ax, ay], [bx, by]] = [line[at], line[before]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}

/** Points inside a lasso. */
export function pointsWithin({ tree, places }: Points, line: readonly (readonly [number, number])[]): number[] {
  const [xs, ys] = [line.map(([x]) => x), line.map(([, y]) => y)];
  return tree
    .range(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys))
    .filter((at) => isWithin(places[2 * at], places[2 * at + 1], line));
}

/** At most `most` of the pages in view, nearest to the centre first, and the number of all pages in view. */
export function pagesInView(
  { tree, places, ids }: Points,
  { x, y, scale }: Camera,
  width: number,
  height: number,
  most: number,
): { ids: string[]; all: number } {
  const [aside, above] = [width / 2 / scale, height / 2 / scale];
  const within = tree.range(x - aside, y - above, x + aside, y + above);
  const nearest: { at: number; far: number }[] = [];
  for (const at of within) {
    const far = Math.hypot(places[2 * at] - x, places[2 * at + 1] - y);
    if (nearest.length === most && far >= nearest[most - 1].far) continue;
    const place = nearest.findIndex((other) => far < other.far);
    nearest.splice(place < 0 ? nearest.length : place, 0, { at, far });
    nearest.length = Math.min(nearest.length, most);
  }
  return { ids: nearest.map(({ at }) => ids[at]), all: within.length };
}
