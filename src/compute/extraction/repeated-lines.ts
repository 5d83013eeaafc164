/** Removes running headers and footers (`pdf.*`): lines at the edges that recur across pages, ignoring numbers. */
import type { Line } from './page-lines.ts';

export interface RepeatedLineSettings {
  strip_repeated_lines: boolean;
  repeated_line_ratio: number;
  /** Lines examined at the top and bottom of each page. */
  repeated_line_scan: number;
  min_pages_for_stripping: number;
}

/** For lines that change by chapter: neighbouring pages compared, and tolerance of the position in points. */
const nearPages = 2;
const samePlace = 3;
/** If recurring lines have a larger share of the text, they are not headers. */
const largestShare = 0.4;

export function stripRepeatedLines(pages: readonly Line[][], settings: RepeatedLineSettings): Line[][] {
  const { strip_repeated_lines, repeated_line_ratio: ratio, min_pages_for_stripping: fewest } = settings;
  if (!strip_repeated_lines || pages.length < fewest) return [...pages];
  const edges = pages.map((page) => edgeLines(page, settings.repeated_line_scan));
  // Counts left and right pages separately, too.
  const sides = [pages.map(() => true), pages.map((_, no) => no % 2 === 0), pages.map((_, no) => no % 2 === 1)];
  const gone = new Set<Line>();
  for (const side of sides) {
    const members = edges.flatMap((edge, no) => (side[no] && edge.length > 0 ? [{ edge, no }] : []));
    if (members.length < fewest) continue;
    const enough = Math.max(2, ratio * members.length);
    const pagesOf = new Map<string, number>();
    for (const { edge } of members) {
      for (const key of new Set(edge.map(({ key }) => key))) pagesOf.set(key, (pagesOf.get(key) ?? 0) + 1);
    }
    for (const { line, key } of members.flatMap(({ edge }) => edge)) {
      if ((pagesOf.get(key) ?? 0) >= enough) gone.add(line);
    }
    // A chapter header recurs at its place on all pages, and with its words on neighbouring pages.
    for (const isTop of [true, false]) {
      const local = members.flatMap(({ edge, no }, at) => {
        const found = edge.filter((each) => each.isTop === isTop && recursNear(each, members, at));
        return found.length === 0 ? [] : [{ no, found }];
      });
      if (local.length >= enough) for (const { found } of local) for (const { line } of found) gone.add(line);
    }
  }
  for (const line of inSamePlaces(edges, gone, Math.max(fewest, ratio * pages.length))) gone.add(line);
  // If much of the text recurs, the pages are alike or very short.
  const length = (lines: readonly Line[]) => lines.reduce((sum, { text }) => sum + text.length, 0);
  if (length([...gone]) > largestShare * length(pages.flat())) {
    const repeated_line_scan = settings.repeated_line_scan - 1;
    return repeated_line_scan < 1 ? [...pages] : stripRepeatedLines(pages, { ...settings, repeated_line_scan });
  }
  return pages.map((page) => page.filter((line) => !gone.has(line)));
}

/** If enough pages have a header, lines at its place on other pages are headers, too, as in one-page chapters. */
function inSamePlaces(edges: readonly EdgeLine[][], gone: ReadonlySet<Line>, enough: number): Line[] {
  const pagesAt = new Map<number, number>();
  for (const edge of edges) {
    const places = new Set(edge.flatMap(({ line }) => (gone.has(line) ? [Math.round(line.y / samePlace)] : [])));
    for (const place of places) pagesAt.set(place, (pagesAt.get(place) ?? 0) + 1);
  }
  return edges
    .flat()
    .flatMap(({ line }) => ((pagesAt.get(Math.round(line.y / samePlace)) ?? 0) >= enough ? [line] : []));
}

interface EdgeLine {
  line: Line;
  key: string;
  isTop: boolean;
}

/** Lines at the edges by position, not by reading order. */
function edgeLines(page: readonly Line[], scan: number): EdgeLine[] {
  const byPlace = [...page].sort((a, b) => b.y - a.y);
  const rows: Line[][] = [];
  for (const line of byPlace) {
    const row = rows.at(-1);
    if (row !== undefined && Math.abs(row[0].y - line.y) <= samePlace) row.push(line);
    else rows.push([line]);
  }
  const count = Math.min(scan, rows.length);
  const edge = (part: Line[][], isTop: boolean) => part.flat().map((line) => ({ line, key: keyOf(line.text), isTop }));
  return [...edge(rows.slice(0, count), true), ...edge(rows.slice(Math.max(count, rows.length - count)), false)];
}

/** Lower-case letters; all Arabic and Roman numbers are equal. */
function keyOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/\p{N}+/gu, '#')
    .replace(/(?<![\p{L}\p{N}])[ivxlcdm]+(?![\p{L}\p{N}])/gu, '#')
    .replace(/[\s.]+/g, ' ')
    .trim();
}

function recursNear(line: EdgeLine, members: readonly { edge: EdgeLine[] }[], at: number): boolean {
  for (let other = Math.max(0, at - nearPages); other <= at + nearPages && other < members.length; other++) {
    if (other === at) continue;
    const same = members[other].edge.some(
      (each) => each.key === line.key && Math.abs(each.line.y - line.line.y) <= samePlace,
    );
    if (same) return true;
  }
  return false;
}
