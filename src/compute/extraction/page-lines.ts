/** Orders a PDF page's text into lines by position, the only reliable order. Columns have full lines, tables rarely. */

/** `x`, `y`: start on the baseline in points, `y` upwards, text upright. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  isRightToLeft: boolean;
  /** Font name, only useful for comparison. */
  font: string;
}

export interface Line {
  text: string;
  left: number;
  right: number;
  y: number;
  size: number;
  font: string | null;
  column: number;
}

/** Min gaps between pieces, in font sizes: for a space, for a column (or justified line), for a cell. */
const spaceGap = 0.15;
const columnGap = 0.6;
const cellGap = 2.5;
/** Min lines of a column; half of them must be this full. */
const fewestLines = 4;
const fullShare = 0.6;
/** Max share of lines across a gutter, such as headings over both columns. */
const crossingShare = 0.25;
const maxColumnDepth = 3;

/** Lines in reading order. n log n in the number of pieces. */
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

/** Rows by baseline, top to bottom. Superscripts and subscripts belong to their line. */
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

/** The position between two columns of running text; null for one column or a table. */
function findGutter(segments: readonly Segment[]): number | null {
  if (segments.length < 2 * fewestLines) return null;
  const left = leftOf(segments);
  const right = rightOf(segments);
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
  const mostCrossing = segments.length * crossingShare;
  for (let at = Math.floor(width * 0.2); at <= width * 0.8; ) {
    const count = counts[at];
    let end = at + 1;
    while (end <= width * 0.8 && counts[end] === count) end++;
    const isBetter = best === null || count < best.count || (count === best.count && end - at > best.length);
    if (count <= mostCrossing && end - at >= 6 && isBetter)
      best = { at: left + (at + end) / 2, length: end - at, count };
    at = end;
  }
  if (best === null) return null;
  const { at } = best;
  const before = segments.filter((segment) => segment.right <= at + 1);
  const after = segments.filter((segment) => segment.left >= at - 1);
  return isColumn(before) && isColumn(after) && overlap(before, after) ? at : null;
}

/** Not `Math.min(...numbers)`: arguments are on the stack, and there may be any number of them. */
const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), Infinity);
const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), -Infinity);
const leftOf = (segments: readonly Segment[]): number => least(segments.map(({ left }) => left));
const rightOf = (segments: readonly Segment[]): number => most(segments.map(({ right }) => right));

/** Running text fills its lines; table cells rarely do. */
function isColumn(segments: readonly Segment[]): boolean {
  const rows = joined(segments);
  if (rows.length < fewestLines) return false;
  const left = leftOf(rows);
  const right = rightOf(rows);
  const full = rows.filter((row) => row.right - row.left >= fullShare * (right - left) && !row.text.includes('\t'));
  const letters = full.reduce((sum, { text }) => sum + text.length, 0);
  return full.length * 2 >= rows.length && letters >= full.length * 12;
}

function overlap(a: readonly Segment[], b: readonly Segment[]): boolean {
  const [inA, inB] = [a, b].map((segments) => segments.map(({ y }) => y));
  return Math.min(most(inA), most(inB)) > Math.max(least(inA), least(inB));
}

/** Segments on one baseline become a line: a wide space or a table row. */
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
