/**
 * Puts the pieces of text on a page of a PDF into lines in reading order, from where they stand: a page has no other order that
 * can be relied on. Columns are told from tables by how full their lines are. Called while a PDF becomes text.
 */

/** A piece of text as it is placed: `x` and `y` of its beginning on the baseline, in points, `y` upwards, upright. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  /** Size of the font, points. */
  size: number;
  isRightToLeft: boolean;
  /** Name of the font, which says nothing but that it is the same or another one. */
  font: string;
}

export interface Line {
  text: string;
  left: number;
  right: number;
  y: number;
  size: number;
  /** Null where there are several. */
  font: string | null;
  /** The column it stands in, counted over the page in reading order. */
  column: number;
}

/**
 * Gaps between pieces, in sizes of the font: from the first they are a space, from the second they may be one between columns (a
 * justified line may have some as wide), from the third one between cells.
 */
const spaceGap = 0.15;
const columnGap = 0.6;
const cellGap = 2.5;
/** A column is told by at least so many lines, half of them this full. */
const fewestLines = 4;
const fullShare = 0.6;
/** Lines that may run across the space between two columns, such as headings over both, as a share of those beside it. */
const crossingShare = 0.25;
const maxColumnDepth = 3;

/** The lines of a page in reading order. n log n in the number of pieces. */
export function pageLines(pieces: readonly PlacedText[]): Line[] {
  const segments = segmentsOf(pieces);
  const lines: Line[] = [];
  let column = 0;
  for (const part of inColumns(segments, 0)) {
    for (const line of joined(part)) lines.push({ ...line, column });
    column++;
  }
  return lines;
}

type Segment = Omit<Line, 'column'>;

/** Pieces on one baseline with no more between them than a space that is no column's. */
function segmentsOf(pieces: readonly PlacedText[]): Segment[] {
  const segments: Segment[] = [];
  for (const row of rowsOf(pieces)) {
    const backwards = row.filter(({ isRightToLeft }) => isRightToLeft).length * 2 > row.length;
    row.sort((a, b) => a.x - b.x);
    let run: PlacedText[] = [];
    const end = () => {
      if (run.length > 0) segments.push(segmentOf(run, backwards));
      run = [];
    };
    for (const piece of row) {
      const last = run.at(-1);
      if (last !== undefined && piece.x - (last.x + last.width) > columnGap * Math.max(last.size, piece.size)) end();
      run.push(piece);
    }
    end();
  }
  return segments;
}

/** Pieces by their baselines, from top to bottom; raised and lowered ones belong to the line that they stand in. */
function rowsOf(pieces: readonly PlacedText[]): PlacedText[][] {
  const sorted = [...pieces].sort((a, b) => b.y - a.y);
  const rows: PlacedText[][] = [];
  let top = 0;
  let size = 0;
  for (const piece of sorted) {
    const row = rows.at(-1);
    if (row !== undefined && top - piece.y <= 0.5 * Math.min(size, Math.max(piece.size, size * 0.6))) row.push(piece);
    else {
      rows.push([piece]);
      top = piece.y;
      size = 0;
    }
    size = Math.max(size, piece.size);
  }
  return rows;
}

function segmentOf(run: PlacedText[], backwards: boolean): Segment {
  const ordered = backwards ? [...run].reverse() : run;
  let text = '';
  let before: PlacedText | undefined;
  for (const piece of ordered) {
    if (before !== undefined && text !== '') {
      const [first, second] = backwards ? [piece, before] : [before, piece];
      const gap = second.x - (first.x + first.width);
      if (gap > spaceGap * Math.max(first.size, second.size)) text += ' ';
    }
    text += piece.text;
    before = piece;
  }
  const longest = run.reduce((a, b) => (b.text.length > a.text.length ? b : a));
  return {
    text: text.replace(/\s+/g, ' ').trim(),
    left: run[0].x,
    right: run.reduce((right, { x, width }) => Math.max(right, x + width), run[0].x),
    y: longest.y,
    size: longest.size,
    font: run.every(({ font }) => font === longest.font) ? longest.font : null,
  };
}

/** Parts of a page that are read one after the other. */
function inColumns(segments: readonly Segment[], depth: number): Segment[][] {
  const gutter = depth < maxColumnDepth ? findGutter(segments) : null;
  if (gutter === null) return segments.length === 0 ? [] : [[...segments]];
  const parts: Segment[][] = [];
  let left: Segment[] = [];
  let right: Segment[] = [];
  let across: Segment[] = [];
  const endColumns = () => {
    parts.push(...inColumns(left, depth + 1), ...inColumns(right, depth + 1));
    left = [];
    right = [];
  };
  for (const segment of [...segments].sort((a, b) => b.y - a.y)) {
    if (segment.left < gutter - 1 && segment.right > gutter + 1) {
      endColumns();
      across.push(segment);
    } else {
      if (across.length > 0) parts.push(across);
      across = [];
      (segment.right <= gutter + 1 ? left : right).push(segment);
    }
  }
  if (across.length > 0) parts.push(across);
  endColumns();
  return parts;
}

/** Where one can draw a line between two columns of running text; null where there is one column, or a table. */
function findGutter(segments: readonly Segment[]): number | null {
  if (segments.length < 2 * fewestLines) return null;
  const left = Math.min(...extent(segments, 'left'));
  const right = Math.max(...extent(segments, 'right'));
  const width = Math.ceil(right - left);
  if (!(width > 0 && width < 20_000)) return null;
  const covered = new Uint32Array(width + 2);
  for (const segment of segments) {
    covered[Math.max(0, Math.floor(segment.left - left))]++;
    covered[Math.min(width + 1, Math.max(0, Math.ceil(segment.right - left)))]--;
  }
  let open = 0;
  const counts = covered.map((change) => {
    open = (open + change) | 0;
    return open;
  });
  let best: { at: number; length: number; count: number } | null = null;
  const most = segments.length * crossingShare;
  for (let at = Math.floor(width * 0.2); at <= width * 0.8; ) {
    const count = counts[at];
    let end = at + 1;
    while (end <= width * 0.8 && counts[end] === count) end++;
    const isBetter = best === null || count < best.count || (count === best.count && end - at > best.length);
    if (count <= most && end - at >= 6 && isBetter) best = { at: left + (at + end) / 2, length: end - at, count };
    at = end;
  }
  if (best === null) return null;
  const { at } = best;
  const before = segments.filter((segment) => segment.right <= at + 1);
  const after = segments.filter((segment) => segment.left >= at - 1);
  return isColumn(before) && isColumn(after) && overlap(before, after) ? at : null;
}

function* extent(segments: readonly Segment[], side: 'left' | 'right'): Iterable<number> {
  // In slices, because arguments are kept on the stack.
  const worst = side === 'left' ? Math.min : Math.max;
  for (let from = 0; from < segments.length; from += 1000) {
    yield worst(...segments.slice(from, from + 1000).map((segment) => segment[side]));
  }
}

/** Running text fills its lines; cells of a table rarely do. */
function isColumn(segments: readonly Segment[]): boolean {
  const rows = joined(segments);
  if (rows.length < fewestLines) return false;
  const left = Math.min(...extent(rows, 'left'));
  const right = Math.max(...extent(rows, 'right'));
  const full = rows.filter((row) => row.right - row.left >= fullShare * (right - left) && !row.text.includes('\t'));
  const letters = full.reduce((sum, { text }) => sum + text.length, 0);
  return full.length * 2 >= rows.length && letters >= full.length * 12;
}

function overlap(a: readonly Segment[], b: readonly Segment[]): boolean {
  const top = Math.min(
    a.reduce((y, each) => Math.max(y, each.y), -Infinity),
    b.reduce((y, each) => Math.max(y, each.y), -Infinity),
  );
  const bottom = Math.max(
    a.reduce((y, each) => Math.min(y, each.y), Infinity),
    b.reduce((y, each) => Math.min(y, each.y), Infinity),
  );
  return top > bottom;
}

/** Segments that share a baseline become one line: a wide space inside a sentence, or a row of a table. */
function joined(segments: readonly Segment[]): Segment[] {
  const lines: Segment[] = [];
  const sorted = [...segments].sort((a, b) => b.y - a.y || a.left - b.left);
  for (const segment of sorted) {
    const last = lines.at(-1);
    if (
      last === undefined ||
      Math.abs(last.y - segment.y) > 0.5 * Math.min(last.size, segment.size) ||
      segment.left < last.right
    ) {
      lines.push({ ...segment });
      continue;
    }
    const gap = segment.left - last.right;
    last.text += `${gap > cellGap * segment.size ? '\t' : ' '}${segment.text}`;
    last.right = segment.right;
    if (last.font !== segment.font) last.font = null;
    last.size = Math.max(last.size, segment.size);
  }
  return lines.filter(({ text }) => text !== '');
}
