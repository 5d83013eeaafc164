/**
 * The map: every page a point, near ones alike. Drag moves it, the wheel or two fingers zoom, the lasso lists. All of it can be done by keys: arrows,
 * plus and minus, 0 for the whole; the lists of topics and of what was found beside the map lead to the pages.
 */
import type { TargetedEvent } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageResponse, PageSummary } from '../../../src/domain/page.ts';
import type { SearchResponse } from '../../../src/domain/search.ts';
import { ApiError, call, get, isAbort } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { go, keep, kept, linkTo, returns, route } from '../../app/router.ts';
import { colorOf, theme } from '../../app/theme.ts';
import { count, dateOf, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Empty, Fault, ViewHead, Waiting } from '../../ui/parts.tsx';
import { hueOf, nameOf } from '../../ui/text.tsx';
import { type Criteria, criteriaOf, filtersOf, isFiltered, linkOf } from '../search/criteria.ts';
import { FilterChips } from '../search/filters.tsx';
import { wordsOf } from '../search/use-search.ts';
import { type Camera, drawPoints, type PointDrawing } from './draw-points.ts';
import { loadPages, loadPoints, type Points, pagesInView, pointsWithin, type TopicLabel } from './points.ts';

type ColorBy = 'topic' | 'site' | 'time';
const colorings: readonly [ColorBy, string][] = [
  ['topic', 'Topic'],
  ['site', 'Site'],
  ['time', 'Time'],
];

export function PageMap() {
  const { data, error, reload } = useLoad(loadPoints, []);
  if (data === undefined) return <Waiting error={error} retry={reload} />;
  if (data === null) {
    return (
      <div class="view">
        <ViewHead title="Map" />
        <Empty icon="map" title="There is no map yet">
          <p>
            It is drawn when topics are found: <a href={linkTo('topics')}>Topics</a>.
          </p>
        </Empty>
      </div>
    );
  }
  // Who comes back, be it from another search on the map, finds it as it was there.
  return <Plane key={returns.value} points={data} />;
}

const nearestPx = 14;
const restMs = 160;
const listed = 60;
const listedInView = 12;

/** What is kept of the map for who comes back to it. */
interface Kept {
  lit: readonly string[] | null;
  colorBy: ColorBy;
  camera: Camera;
}
const keptName = 'map';

function Plane({ points }: { points: Points }) {
  const [before] = useState(() => kept<Kept>(keptName));
  const criteria = criteriaOf(route.value.params);
  const asked = criteria.query.trim();
  const isIdle = asked === '' && !isFiltered(criteria);
  const place = linkOf({ ...criteria, query: asked }, 'map');
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<PointDrawing | null>(null);
  const camera = useRef<Camera>(before?.camera ?? { x: 0, y: 0, scale: 300 });
  const [isThere, setThere] = useState(true);
  const [colorBy, setColorBy] = useState<ColorBy>(before?.colorBy ?? 'topic');
  const [facts, setFacts] = useState<ReadonlyMap<string, PageSummary>>(new Map());
  const [query, setQuery] = useState(asked);
  const indexesOf = (ids: readonly string[]) => ids.flatMap((id) => points.indexOf.get(id) ?? []);
  const [lit, setLit] = useState<readonly number[] | null>(before?.lit ? indexesOf(before.lit) : null);
  const [isLasso, setLasso] = useState(false);
  const [line, setLine] = useState<readonly (readonly [number, number])[]>([]);
  const [hovered, setHovered] = useState<number | null>(null);
  /** Raised when the map has come to rest, so that labels find their places. */
  const [rest, setRest] = useState(0);
  const scheduled = useRef(0);
  const restTimer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const redraw = (isMoving: boolean) => {
    if (isMoving) {
      clearTimeout(restTimer.current);
      restTimer.current = setTimeout(() => {
        redraw(false);
        setRest((n) => n + 1);
      }, restMs);
    }
    if (scheduled.current !== 0) return;
    scheduled.current = requestAnimationFrame(() => {
      scheduled.current = 0;
      drawing.current?.draw(camera.current, isMoving);
      placeLabels(frame.current, camera.current);
    });
  };
  const whole = () => {
    const { current: element } = frame;
    if (element === null) return;
    camera.current = { x: 0, y: 0, scale: Math.min(element.clientWidth, element.clientHeight) * 0.47 };
    redraw(true);
  };
  useEffect(() => {
    const { current: element } = canvas;
    if (element === null) return;
    const made = drawPoints(element, points.places);
    drawing.current = made;
    setThere(made !== null);
    if (before === undefined) whole();
    else redraw(true);
    const observer = new ResizeObserver(() => redraw(true));
    observer.observe(element);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(scheduled.current);
      scheduled.current = 0;
      clearTimeout(restTimer.current);
      made?.dispose();
    };
  }, [points]);
  useEffect(() => {
    drawing.current?.color(colorsOf(points, colorBy, facts, lit));
    redraw(false);
  }, [points, colorBy, facts, lit, theme.value]);
  useEffect(() => {
    if (colorBy === 'topic' || facts.size > 0) return;
    const controller = new AbortController();
    const known = new Map<string, PageSummary>();
    loadPages(controller.signal, (pages) => {
      for (const page of pages) known.set(page.page_id, page);
    }).then(
      () => setFacts(known),
      (error) => {
        if (!isAbort(error)) notify(`Sites and times could not be loaded: ${String(error)}`, 'error');
      },
    );
    return () => controller.abort();
  }, [colorBy, facts]);

  /** Whether what is lit up is still that of the search before. */
  const isAsking = useRef(false);
  /** Raised to ask for the same words again. */
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    keep(keptName, {
      lit: lit === null || isAsking.current ? null : lit.map((at) => points.ids[at]),
      colorBy,
      camera: camera.current,
    } satisfies Kept);
  }, [lit, colorBy, rest]);
  // One that was left before its answer came is asked again.
  const isAskedBefore = useRef(before !== undefined && (isIdle || before.lit !== null));
  // Before a key can come.
  useLayoutEffect(() => setQuery(asked), [asked]);
  useEffect(() => {
    if (isAskedBefore.current) {
      isAskedBefore.current = false;
      return;
    }
    isAsking.current = !isIdle;
    if (isIdle) return setLit(null);
    const controller = new AbortController();
    const { signal } = controller;
    void attempt(async () => {
      const filters = filtersOf(criteria);
      const body = { ...wordsOf(asked), filters, operators: true, k: 100, chunks_per_page: 0, suggest: 0, log: false };
      try {
        const { results } = await call<SearchResponse>('POST', '/v1/search', { body, signal });
        setLit(indexesOf(results.map(({ page_id }) => page_id)));
      } catch (error) {
        if (!signal.aborted) setLit(null);
        throw error;
      }
    }).then(() => {
      if (!signal.aborted) isAsking.current = false;
    });
    return () => controller.abort();
  }, [points, place, turn]);
  const light = (part: Partial<Criteria>) => go(linkOf({ ...criteria, query: asked, ...part }, 'map'));
  const search = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Enter may be faster than the state of the field.
    const words = String(new FormData(event.currentTarget).get('q')).trim();
    if (words !== asked) light({ query: words });
    else if (!isIdle) setTurn(turn + 1);
  };
  /** A place on the screen as one of the map. */
  const placeAt = (event: { clientX: number; clientY: number }): [number, number] => {
    const box = canvas.current?.getBoundingClientRect() ?? new DOMRect();
    const { x, y, scale } = camera.current;
    return [
      x + (event.clientX - box.left - box.width / 2) / scale,
      y - (event.clientY - box.top - box.height / 2) / scale,
    ];
  };
  const nearest = (event: { clientX: number; clientY: number }): number | null => {
    const [x, y] = placeAt(event);
    const { places, tree } = points;
    let [best, far] = [null as number | null, Infinity];
    for (const at of tree.within(x, y, nearestPx / camera.current.scale)) {
      const distance = Math.hypot(places[2 * at] - x, places[2 * at + 1] - y);
      if (distance < far) [best, far] = [at, distance];
    }
    return best;
  };
  const zoom = (by: number, around?: [number, number]) => {
    const { x, y, scale } = camera.current;
    const next = Math.min(Math.max(scale * by, 60), 60_000);
    const [px, py] = around ?? [x, y];
    camera.current = { x: px - ((px - x) * scale) / next, y: py - ((py - y) * scale) / next, scale: next };
    redraw(true);
  };
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const moved = useRef(false);
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (before === undefined) {
      setHovered(nearest(event));
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    if (Math.hypot(now.x - before.x, now.y - before.y) > 2) moved.current = true;
    if (isLasso) {
      setLine((places) => [...places, placeAt(event)]);
    } else if (pointers.current.size === 2) {
      const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const ratio =
        Math.hypot(now.x - other.x, now.y - other.y) / Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
      zoom(ratio, placeAt({ clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 }));
    } else {
      const { x, y, scale } = camera.current;
      camera.current = { x: x - (now.x - before.x) / scale, y: y + (now.y - before.y) / scale, scale };
      redraw(true);
    }
    pointers.current.set(event.pointerId, now);
  };
  const onPointerUp = (event: PointerEvent) => {
    pointers.current.delete(event.pointerId);
    if (isLasso && line.length > 2) {
      setLit(pointsWithin(points, line));
      setLine([]);
      setLasso(false);
      return;
    }
    if (!moved.current) {
      const at = nearest(event);
      if (at !== null) setLit([at]);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { x, y, scale } = camera.current;
    const step = 60 / scale;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, step],
      ArrowDown: [0, -step],
    };
    const move = moves[event.key];
    if (move !== undefined) {
      camera.current = { x: x + move[0], y: y + move[1], scale };
      redraw(true);
    } else if (event.key === '+' || event.key === '=') zoom(1.3);
    else if (event.key === '-') zoom(1 / 1.3);
    else if (event.key === '0') whole();
    else return;
    event.preventDefault();
  };
  useWheel(canvas, (event) => zoom(Math.exp(-event.deltaY * 0.0016), placeAt(event)));
  const toTopic = ({ id, x, y }: TopicLabel) => {
    camera.current = { x, y, scale: Math.max(camera.current.scale, 900) };
    setLit(points.topics.flatMap((topic, at) => (topic === id ? [at] : [])));
    redraw(true);
  };
  const labels = useMemo(() => points.labels.slice(0, 60), [points]);
  const ofNone = useMemo(() => points.topics.filter((topic) => topic === null).length, [points]);
  const inView = useMemo(() => {
    const { current: element } = frame;
    return element === null
      ? null
      : pagesInView(points, camera.current, element.clientWidth, element.clientHeight, listedInView);
  }, [points, rest]);
  useEffect(() => placeLabels(frame.current, camera.current), [rest, labels]);
  return (
    <div class="view map-view">
      <ViewHead title="Map" lead={`${many(points.ids.length, 'page')}; what is alike lies together.`}>
        <form class="search-box search-box-small" onSubmit={search}>
          <Icon name="search" />
          <input
            type="search"
            name="q"
            aria-label="Light up a search"
            placeholder="Light up a search"
            maxLength={4000}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          />
        </form>
      </ViewHead>
      <div class="toolbar">
        <fieldset class="segments" aria-label="Colour by">
          {colorings.map(([value, text]) => (
            <button key={value} type="button" aria-pressed={colorBy === value} onClick={() => setColorBy(value)}>
              {text}
            </button>
          ))}
        </fieldset>
        <button type="button" class="button button-small" aria-pressed={isLasso} onClick={() => setLasso(!isLasso)}>
          <Icon name="lasso" />
          {isLasso ? 'Draw around pages' : 'Lasso'}
        </button>
        <button type="button" class="button button-small" onClick={whole}>
          Whole map
        </button>
        {lit !== null && (
          <button
            type="button"
            class="button button-small"
            onClick={() => {
              setLit(null);
              setQuery('');
              if (!isIdle) go(linkTo('map'));
            }}
          >
            <Icon name="x" />
            {many(lit.length, 'page')} lit up
          </button>
        )}
      </div>
      <FilterChips criteria={criteria} change={light} />
      {!isThere && <p class="bar bar-warn">This browser has no WebGL 2; the lists work without.</p>}
      <div class="map-body">
        <div ref={frame} class={isLasso ? 'map-frame map-lasso' : 'map-frame'}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="img"
            aria-label={`Map of ${many(points.ids.length, 'page')}: arrows move it, plus and minus zoom, 0 shows all of it; the pages in view are listed beside it`}
            onKeyDown={onKeyDown}
            onPointerDown={(event) => {
              canvas.current?.setPointerCapture(event.pointerId);
              pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
              moved.current = false;
              setHovered(null);
              if (isLasso) setLine([placeAt(event)]);
            }}
            onPointerMove={onPointerMove}
            onPointerUp={onPointerUp}
            onPointerCancel={(event) => pointers.current.delete(event.pointerId)}
            onPointerLeave={() => setHovered(null)}
          />
          <div class="map-labels" aria-hidden="true">
            {labels.map(({ id, text, x, y }) => (
              <bdi key={id} class="map-label" data-x={x} data-y={y}>
                {text}
              </bdi>
            ))}
          </div>
          {line.length > 1 && <Lasso line={line} camera={camera.current} frame={frame.current} />}
          {hovered !== null && <Hover id={points.ids[hovered]} />}
        </div>
        <aside class="map-side" aria-label="Beside the map">
          {lit === null ? (
            <>
              {inView !== null && <InView {...inView} />}
              <section class="facet">
                <h2>Topics</h2>
                <ul>
                  {labels.map((label) => (
                    <li key={label.id}>
                      <button type="button" class="facet-row" onClick={() => toTopic(label)}>
                        <span class={`map-dot hue-${label.hue}`} />
                        <span class="facet-text">
                          <bdi>{label.text}</bdi>
                        </span>
                        <span class="numbers">{count(label.size)}</span>
                      </button>
                    </li>
                  ))}
                  {ofNone > 0 && colorBy === 'topic' && (
                    <li>
                      <span class="facet-row">
                        <span class="map-dot map-dot-none" />
                        <span class="facet-text">of no topic</span>
                        <span class="numbers">{count(ofNone)}</span>
                      </span>
                    </li>
                  )}
                </ul>
              </section>
            </>
          ) : (
            <LitPages ids={lit.slice(0, listed).map((at) => points.ids[at])} all={lit.length} />
          )}
        </aside>
      </div>
    </div>
  );
}

/** Not passive, so that the page does not scroll with it. */
function useWheel(target: { current: HTMLCanvasElement | null }, zoom: (event: WheelEvent) => void): void {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const { current: element } = target;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      latest.current(event);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [target]);
}

/** Half of the height of a label, px. */
const labelHalf = 12;

/** Put each label where its topic is; of those that would lie over another, only the larger topic's is shown. */
function placeLabels(frame: HTMLElement | null, { x, y, scale }: Camera): void {
  if (frame === null) return;
  const { clientWidth: width, clientHeight: height } = frame;
  const taken: { left: number; right: number; top: number; bottom: number }[] = [];
  // All are measured before the first is put anywhere: nothing is laid out between.
  const labels = [...frame.querySelectorAll<HTMLElement>('.map-label')].map((label) => ({
    label,
    half: label.offsetWidth / 2,
  }));
  for (const { label, half } of labels) {
    const across = width / 2 + (Number(label.dataset.x) - x) * scale;
    const down = height / 2 - (Number(label.dataset.y) - y) * scale;
    // Near an edge it stands within it.
    const left = Math.max(half, Math.min(width - half, across));
    const top = Math.max(labelHalf, Math.min(height - labelHalf, down));
    const box = { left: left - half, right: left + half, top: top - labelHalf, bottom: top + labelHalf };
    const isFree =
      across > 0 &&
      across < width &&
      down > 0 &&
      down < height &&
      !taken.some(
        (other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top,
      );
    label.classList.toggle('map-label-off', !isFree);
    if (!isFree) continue;
    taken.push(box);
    label.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px) translate(-50%, -50%)`;
  }
}

function Lasso({
  line,
  camera: { x, y, scale },
  frame,
}: {
  line: readonly (readonly [number, number])[];
  camera: Camera;
  frame: HTMLElement | null;
}) {
  if (frame === null) return null;
  const { clientWidth: width, clientHeight: height } = frame;
  const path = line.map(([px, py]) => `${width / 2 + (px - x) * scale},${height / 2 - (py - y) * scale}`).join(' ');
  return (
    <svg class="map-line" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <polygon points={path} />
    </svg>
  );
}

const pageOf = (id: string, signal: AbortSignal) =>
  get<PageResponse>(`/v1/pages/${encodeURIComponent(id)}`, { offset: 0, length: 1 }, signal);

function Hover({ id }: { id: string }) {
  const { data } = useLoad((signal) => pageOf(id, signal), [id]);
  if (data === undefined) return null;
  return (
    <p class="map-hover">
      <strong>
        <bdi>{nameOf(data)}</bdi>
      </strong>
      <span class="quiet">
        <bdi>{data.domain}</bdi> · {dateOf(data.last_seen_at)}
      </span>
    </p>
  );
}

function LitPages({ ids, all }: { ids: readonly string[]; all: number }) {
  return (
    <section class="facet" aria-labelledby="lit">
      <h2 id="lit">{all > ids.length ? `${count(ids.length)} of ${many(all, 'page')}` : many(all, 'page')}</h2>
      <Pages ids={ids} />
    </section>
  );
}

/** What the map shows now, the nearest to its middle first: the way to pages by Tab. */
function InView({ ids, all }: { ids: readonly string[]; all: number }) {
  return (
    <section class="facet" aria-labelledby="in-view">
      <h2 id="in-view" aria-live="polite">
        In view: {many(all, 'page')}
      </h2>
      <Pages ids={ids} />
    </section>
  );
}

function nullWhereGone(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

function Pages({ ids }: { ids: readonly string[] }) {
  /** Null for one that was forgotten since the map was drawn. */
  const known = useRef(new Map<string, PageResponse | null>());
  const { data, error, reload } = useLoad(
    async (signal) => {
      const pages = await Promise.all(
        ids.map(async (id) => {
          const page = known.current.get(id) ?? (await pageOf(id, signal).catch(nullWhereGone));
          known.current.set(id, page);
          return page;
        }),
      );
      return pages.filter((page) => page !== null);
    },
    [ids.join(' ')],
  );
  return (
    <>
      <Fault error={error} retry={reload} />
      <ul class="plain-list">
        {data?.map((page) => (
          <li key={page.page_id}>
            <a href={linkTo('page', page.page_id)}>
              <bdi>{nameOf(page)}</bdi>
            </a>
            <span class="quiet">
              <bdi>{page.domain}</bdi>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

type Rgb = readonly [number, number, number];

/** A colour of the style sheet as numbers; the browser writes it in a colour space of its own. */
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

function colorsOf(
  points: Points,
  by: ColorBy,
  facts: ReadonlyMap<string, PageSummary>,
  lit: readonly number[] | null,
): Uint8Array {
  const colors = new Uint8Array(points.ids.length * 4);
  const hues = Array.from({ length: 12 }, (_, hue) => rgbOf(colorOf(`--map-${hue}`)));
  const hueOfTopic = new Map(points.labels.map(({ id, hue }) => [id, hue]));
  const none = rgbOf(colorOf('--ink-3'));
  const [early, late] = [rgbOf(colorOf('--map-early')), rgbOf(colorOf('--accent'))];
  const times = by === 'time' ? [...facts.values()].map(({ last_seen_at }) => Date.parse(last_seen_at)) : [];
  const first = times.reduce((a, b) => Math.min(a, b), Infinity);
  const last = times.reduce((a, b) => Math.max(a, b), -Infinity);
  const colorAt = (at: number): Rgb => {
    if (by === 'topic') {
      const topic = points.topics[at];
      return hues[hueOfTopic.get(topic ?? '') ?? -1] ?? none;
    }
    const page = facts.get(points.ids[at]);
    if (page === undefined) return none;
    if (by === 'site') return hues[hueOf(page.domain.replace(/^www\./, ''))];
    const part = (Date.parse(page.last_seen_at) - first) / Math.max(last - first, 1);
    return [0, 1, 2].map((channel) => early[channel] + (late[channel] - early[channel]) * part) as unknown as Rgb;
  };
  for (let at = 0; at < points.ids.length; at++) {
    colors.set(colorAt(at), 4 * at);
    colors[4 * at + 3] = lit === null ? 185 : 40;
  }
  for (const at of lit ?? []) colors[4 * at + 3] = 255;
  return colors;
}
