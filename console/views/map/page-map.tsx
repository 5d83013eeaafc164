/**
 * The map: every page a point, near ones alike. Drag moves it, the wheel or two fingers zoom, the lasso lists. All of it can be done by keys: arrows,
 * plus and minus, 0 for the whole; the lists next to the map link to the pages.
 */
import type { TargetedEvent } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLoad } from '../../api/load.ts';
import { useEscape } from '../../app/keys.tsx';
import { keep, kept, linkTo, returns, route } from '../../app/router.ts';
import { paint } from '../../app/theme.ts';
import { count, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Empty, Fault, ViewHead, Waiting } from '../../ui/parts.tsx';
import { criteriaOf, maxLetters } from '../search/criteria.ts';
import { FilterChips } from '../search/filters.tsx';
import { type ColorBy, colorings, colorsOf, Legend, loadFacts, noFacts, sitesIn, TimeLegend } from './colors.tsx';
import { type Camera, drawPoints, type PointDrawing } from './draw-points.ts';
import { HighlightedPages, Hover, InView } from './page-lists.tsx';
import { loadPoints, type Points, pagesInView, pointsWithin, type TopicLabel } from './points.ts';
import { useHighlightedPages } from './use-highlighted-pages.ts';

export function PageMap() {
  const { data, error, reload } = useLoad(loadPoints, []);
  if (data === undefined) return <Waiting error={error} retry={reload} />;
  if (data === null) {
    return (
      <div class="view">
        <ViewHead title="Map" />
        <Empty icon="map" title="No map yet">
          <p>
            The map is drawn once there are <a href={linkTo('topics')}>topics</a>.
          </p>
        </Empty>
      </div>
    );
  }
  // A return to the map restores its state, even after another search.
  return <Plane key={returns.value} points={data} />;
}

const nearestPx = 14;
const restMs = 160;
const listedInView = 12;

/** State of the map that a return restores. */
interface Kept {
  /** Pages that the user selected on the map. */
  chosen: readonly string[] | null;
  colorBy: ColorBy;
  camera: Camera;
}
const keptName = 'map';

function Plane({ points }: { points: Points }) {
  const [before] = useState(() => kept<Kept>(keptName));
  const criteria = criteriaOf(route.value.params);
  const asked = criteria.query.trim();
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<PointDrawing | null>(null);
  const camera = useRef<Camera>(before?.camera ?? { x: 0, y: 0, scale: 300 });
  const hasCamera = useRef(before !== undefined);
  /** Incremented to create the drawing again. */
  const [drawings, setDrawings] = useState(0);
  const [isThere, setThere] = useState(true);
  const [colorBy, setColorBy] = useState<ColorBy>(before?.colorBy ?? 'topic');
  const [query, setQuery] = useState(asked);
  const { ids, chosen, found, isSearch, choose, light, clear } = useHighlightedPages(criteria, before?.chosen ?? null);
  const lit = useMemo(() => ids?.flatMap((id) => points.indexOf.get(id) ?? []) ?? null, [ids, points]);
  const idsAt = (places: readonly number[]) => places.map((at) => points.ids[at]);
  /** Whether sites and times must be loaded for their colours. */
  const [wantsFacts, setWantsFacts] = useState(colorBy !== 'topic');
  const facts = useLoad(loadFacts, [wantsFacts || null]);
  const [isLasso, setLasso] = useState(false);
  const [line, setLine] = useState<readonly (readonly [number, number])[]>([]);
  const [hovered, setHovered] = useState<number | null>(null);
  /** Incremented when the map stops moving, to place the labels. */
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
    setHovered(null); // the point belongs to an earlier set
    setThere(made !== null);
    if (hasCamera.current) redraw(true);
    else whole();
    hasCamera.current = true;
    // A browser may lose the WebGL context and restore it. Then everything is created again.
    const onLost = (event: Event) => {
      event.preventDefault();
      setThere(false);
    };
    const onRestored = () => setDrawings((n) => n + 1);
    element.addEventListener('webglcontextlost', onLost);
    element.addEventListener('webglcontextrestored', onRestored);
    const observer = new ResizeObserver(() => redraw(true));
    observer.observe(element);
    return () => {
      observer.disconnect();
      element.removeEventListener('webglcontextlost', onLost);
      element.removeEventListener('webglcontextrestored', onRestored);
      cancelAnimationFrame(scheduled.current);
      scheduled.current = 0;
      clearTimeout(restTimer.current);
      made?.dispose();
    };
  }, [points, drawings]);
  useEffect(() => {
    drawing.current?.color(colorsOf(points, colorBy, facts.data ?? noFacts, lit), lit ?? []);
    redraw(false);
  }, [points, drawings, colorBy, facts.data, lit, paint.value]);
  useEffect(() => {
    keep(keptName, { chosen, colorBy, camera: camera.current } satisfies Kept);
  }, [chosen, colorBy, rest]);
  // Before the next key event.
  useLayoutEffect(() => setQuery(asked), [asked]);
  const search = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Enter may come before the state of the field is updated.
    const words = String(new FormData(event.currentTarget).get('q')).trim();
    light({ query: words });
  };
  /** Converts a screen position to a map position. */
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
    if (pointers.current.size > 1 || Math.hypot(now.x - before.x, now.y - before.y) > 2) moved.current = true;
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
    if (!pointers.current.delete(event.pointerId)) return;
    if (isLasso && line.length > 2) {
      choose(idsAt(pointsWithin(points, line)));
      endLasso();
      return;
    }
    if (!moved.current) {
      const at = nearest(event);
      if (at !== null) choose(idsAt([at]));
    }
  };
  const endLasso = () => {
    setLine([]);
    setLasso(false);
  };
  useEscape(isLasso, endLasso);
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
    choose(points.ids.filter((_, at) => points.topics[at] === id));
    redraw(true);
  };
  const colorPointsBy = (wanted: ColorBy) => {
    setColorBy(wanted);
    if (wanted === 'topic') return;
    setWantsFacts(true);
    if (facts.error !== undefined) facts.reload();
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
      <ViewHead title="Map" lead={`${many(points.ids.length, 'page')}; similar pages are close together.`}>
        <form class="search-box search-box-small" onSubmit={search}>
          <Icon name="search" />
          <input
            type="search"
            name="q"
            aria-label="Highlight search results"
            placeholder="Highlight search results"
            maxLength={maxLetters}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          />
        </form>
      </ViewHead>
      <div class="toolbar">
        <fieldset class="segments" aria-label="Colour by">
          {colorings.map(([value, text]) => (
            <button key={value} type="button" aria-pressed={colorBy === value} onClick={() => colorPointsBy(value)}>
              {text}
            </button>
          ))}
        </fieldset>
        <button
          type="button"
          class="button button-small"
          aria-pressed={isLasso}
          onClick={() => (isLasso ? endLasso() : setLasso(true))}
        >
          <Icon name="lasso" />
          {isLasso ? 'Draw around pages' : 'Lasso'}
        </button>
        <button type="button" class="button button-small" onClick={whole}>
          Whole map
        </button>
        {(lit !== null || isSearch) && (
          <button
            type="button"
            class="button button-small"
            onClick={() => {
              clear();
              setQuery('');
            }}
          >
            <Icon name="x" />
            {lit === null ? 'Clear search' : `${many(lit.length, 'page')} highlighted`}
          </button>
        )}
        {colorBy === 'time' && facts.data !== undefined && <TimeLegend facts={facts.data} />}
        {colorBy !== 'topic' && facts.data === undefined && facts.error === undefined && (
          <span class="quiet" role="status">
            Loading sites and times…
          </span>
        )}
      </div>
      <FilterChips criteria={criteria} change={light} />
      <Fault error={found.error} retry={found.reload} />
      {colorBy !== 'topic' && <Fault error={facts.error} retry={facts.reload} />}
      {!isThere && (
        <p class="bar bar-warn" role="status">
          The map needs WebGL 2, which is unavailable in this browser. The lists work without it.
        </p>
      )}
      <div class="map-body">
        <div ref={frame} class={isLasso ? 'map-frame map-lasso' : 'map-frame'} aria-busy={isSearch && found.loading}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="img"
            aria-label={`Map of ${many(points.ids.length, 'page')}: arrows move it, plus and minus zoom, 0 shows all of it; the pages in view are listed next to it`}
            onKeyDown={onKeyDown}
            onPointerDown={(event) => {
              if (event.button !== 0) return;
              canvas.current?.setPointerCapture(event.pointerId);
              moved.current = pointers.current.size > 0; // two fingers do not click
              pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
              setHovered(null);
              if (isLasso) setLine([placeAt(event)]);
            }}
            onPointerMove={onPointerMove}
            onPointerUp={onPointerUp}
            onPointerCancel={(event) => {
              pointers.current.delete(event.pointerId);
              setLine([]);
            }}
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
        <aside class="map-side" aria-label="Pages on the map">
          {isSearch && ids === null && found.loading ? (
            <p class="quiet" role="status">
              Searching…
            </p>
          ) : ids === null ? (
            <>
              {inView !== null && <InView {...inView} />}
              {colorBy === 'site' && facts.data !== undefined && (
                <Legend title="Sites" entries={sitesIn(points, facts.data)} choose={({ ids }) => choose(ids)} />
              )}
              <Legend title="Topics" entries={labels} choose={toTopic} isColored={colorBy === 'topic'}>
                {ofNone > 0 && colorBy === 'topic' && (
                  <li>
                    <span class="facet-row">
                      <span class="map-dot map-dot-none" />
                      <span class="facet-text">No topic</span>
                      <span class="numbers">{count(ofNone)}</span>
                    </span>
                  </li>
                )}
              </Legend>
            </>
          ) : (
            <HighlightedPages
              key={ids.join(' ')}
              ids={ids}
              missing={ids.length - (lit?.length ?? 0)}
              isSearch={isSearch}
            />
          )}
        </aside>
      </div>
    </div>
  );
}

/** Not passive, so that the page does not scroll, too. */
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

/** Half of a label's height, px, and its distance above the topic's centre, so that points stay visible. */
const labelHalf = 12;
const labelRise = 22;

/** Place each label at its topic. Of overlapping labels, only the larger topic's is shown. */
function placeLabels(frame: HTMLElement | null, { x, y, scale }: Camera): void {
  if (frame === null) return;
  const { clientWidth: width, clientHeight: height } = frame;
  const taken: { left: number; right: number; top: number; bottom: number }[] = [];
  // All labels are measured before any is moved, so that the browser lays out once.
  const labels = [...frame.querySelectorAll<HTMLElement>('.map-label')].map((label) => ({
    label,
    half: label.offsetWidth / 2,
  }));
  for (const { label, half } of labels) {
    const across = width / 2 + (Number(label.dataset.x) - x) * scale;
    const down = height / 2 - (Number(label.dataset.y) - y) * scale - labelRise;
    // Near an edge, the label stays inside.
    const left = Math.max(half, Math.min(width - half, across));
    const top = Math.max(labelHalf, Math.min(height - labelHalf, down));
    const box = { left: left - half, right: left + half, top: top - labelHalf, bottom: top + labelHalf };
    const isFree =
      across > 0 &&
      across < width &&
      down > -labelRise &&
      down < height - labelRise &&
      !taken.some(
        (other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top,
      );
    label.classList.toggle('map-label-off', !isFree);
    if (!isFree) continue;
    taken.push(box);
    label.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px) translate(-50%, -50%)`;
  }
}

interface LassoProps {
  line: readonly (readonly [number, number])[];
  camera: Camera;
  frame: HTMLElement | null;
}

function Lasso({ line, camera: { x, y, scale }, frame }: LassoProps) {
  if (frame === null) return null;
  const { clientWidth: width, clientHeight: height } = frame;
  const path = line.map(([px, py]) => `${width / 2 + (px - x) * scale},${height / 2 - (py - y) * scale}`).join(' ');
  return (
    <svg class="map-line" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <polygon points={path} />
    </svg>
  );
}
