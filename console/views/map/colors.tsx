/** Colours of the points by topic, site or reading time, and their legend. */
import type { ComponentChildren } from 'preact';
import type { PageSummary } from '../../../src/domain/page.ts';
import { colorOf } from '../../app/theme.ts';
import { count, dateOf } from '../../ui/format.ts';
import { hueOf } from '../../ui/text.tsx';
import { loadPages, type Points } from './points.ts';

export type ColorBy = 'topic' | 'site' | 'time';
export type Facts = ReadonlyMap<string, PageSummary>;
export const colorings: readonly [ColorBy, string][] = [
  ['topic', 'Topic'],
  ['site', 'Site'],
  ['time', 'Time'],
];

const listedSites = 60;

export const noFacts: Facts = new Map();

export async function loadFacts(signal: AbortSignal): Promise<Facts> {
  const facts = new Map<string, PageSummary>();
  await loadPages(signal, (pages) => {
    for (const page of pages) facts.set(page.page_id, page);
  });
  return facts;
}

interface LegendEntry {
  id: string;
  text: string;
  size: number;
  hue: number;
}

/** The meaning of the colours, most pages first. Each entry links to its pages. */
export function Legend<Entry extends LegendEntry>({
  title,
  entries,
  choose,
  isColored = true,
  children,
}: {
  title: string;
  entries: readonly Entry[];
  choose: (entry: Entry) => void;
  /** Whether the points currently have these colours. */
  isColored?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <section class="facet">
      <h2>{title}</h2>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id}>
            <button type="button" class="facet-row" onClick={() => choose(entry)}>
              {isColored && <span class={`map-dot hue-${entry.hue}`} />}
              <span class="facet-text">
                <bdi>{entry.text}</bdi>
              </span>
              <span class="numbers">{count(entry.size)}</span>
            </button>
          </li>
        ))}
        {children}
      </ul>
    </section>
  );
}

const siteOf = ({ domain }: PageSummary): string => domain.replace(/^www\./, '');

export function sitesIn({ ids }: Points, facts: Facts): (LegendEntry & { ids: string[] })[] {
  const sites = new Map<string, string[]>();
  for (const id of ids) {
    const page = facts.get(id);
    if (page === undefined) continue;
    const site = siteOf(page);
    const list = sites.get(site);
    if (list === undefined) sites.set(site, [id]);
    else list.push(id);
  }
  return [...sites]
    .map(([site, ids]) => ({ id: site, text: site, size: ids.length, hue: hueOf(site), ids }))
    .sort((a, b) => b.size - a.size)
    .slice(0, listedSites);
}

/** First and last reading of the pages, ms. */
function spanOf(facts: Facts): [first: number, last: number] {
  let [first, last] = [Infinity, -Infinity];
  for (const { last_seen_at } of facts.values()) {
    const time = Date.parse(last_seen_at);
    if (time < first) first = time;
    if (time > last) last = time;
  }
  return [first, last];
}

export function TimeLegend({ facts }: { facts: Facts }) {
  if (facts.size === 0) return null;
  const [first, last] = spanOf(facts).map((time) => dateOf(new Date(time).toISOString()));
  return (
    <span class="legend">
      {first}
      <span class="map-times" aria-hidden="true" />
      {last}
    </span>
  );
}

type Rgb = readonly [number, number, number];

/** A colour of the style sheet as numbers; the browser reports it in its own colour space. */
function rgbOf(color: string): Rgb {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return [128, 128, 128];
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

export function colorsOf(points: Points, by: ColorBy, facts: Facts, lit: readonly number[] | null): Uint8Array {
  const colors = new Uint8Array(points.ids.length * 4);
  const hues = Array.from({ length: 12 }, (_, hue) => rgbOf(colorOf(`--map-${hue}`)));
  const hueOfTopic = new Map(points.labels.map(({ id, hue }) => [id, hue]));
  const none = rgbOf(colorOf('--ink-3'));
  const [early, late] = [rgbOf(colorOf('--map-early')), rgbOf(colorOf('--accent'))];
  const [first, last] = by === 'time' ? spanOf(facts) : [0, 0];
  const colorAt = (at: number): Rgb => {
    if (by === 'topic') {
      const topic = points.topics[at];
      return hues[hueOfTopic.get(topic ?? '') ?? -1] ?? none;
    }
    const page = facts.get(points.ids[at]);
    if (page === undefined) return none;
    if (by === 'site') return hues[hueOf(siteOf(page))];
    const part = (Date.parse(page.last_seen_at) - first) / Math.max(last - first, 1);
    return [0, 1, 2].map((channel) => early[channel] + (late[channel] - early[channel]) * part) as unknown as Rgb;
  };
  for (let at = 0; at < points.ids.length; at++) {
    colors.set(lit === null ? colorAt(at) : none, 4 * at);
    colors[4 * at + 3] = lit === null ? 185 : 40;
  }
  for (const at of lit ?? []) {
    colors.set(colorAt(at), 4 * at);
    colors[4 * at + 3] = 255;
  }
  return colors;
}
