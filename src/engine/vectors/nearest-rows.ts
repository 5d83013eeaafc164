/**
 * The exact side of a shard: score rows against the query that `VectorRows.setQuery` took, and keep the best. Of many rows
 * only a short list is scored, by a first look at their codes: in layers, the nearest first, until a layer brings hardly
 * anything. So a query with clear answers ends early, and one with many rows of about the same score goes on.
 */
import type { TopK } from '../../compute/structures/top-k.ts';
import { CALL_ROWS, type VectorRows } from './vector-rows.ts';

type Top = TopK<Float32Array>;

/** Fewer rows than this are all scored: half a millisecond at 1,024 dimensions. */
const FIRST_LOOK_FROM_ROWS = 8192;
/** Of long rows, where all are looked at: 8,000 of 1,024 dimensions are scored in twice the time of a first look (docs/vector-spaces.md). */
const FIRST_LOOK_FROM_LONG_ROWS = 4096;
/** Of short rows, so many of a list: a first look at a list looks at all rows there are, and these are scored in the same time. */
const FIRST_LOOK_FROM_SHORT_ROWS = 32_768;
/**
 * A layer: a share of the rows, at least so many, and so many per hit. Codes of fewer bits tell less, so more rows are
 * scored, which cost less. Recall in docs/vector-spaces.md.
 */
const LAYER_SHARE = 0.004;
const SHORT_ROWS_LAYER_SHARE = 0.008;
const LONG_DIM = 512;
const LAYER_MIN = 300;
const LAYER_PER_HIT = 2;
/** Layers at most. */
const LAYERS = 6;
/** The last layer is one of which no more than this share of the hits so far were kept: the next would bring fewer still. */
const ENOUGH = 0.02;

/** A rough look scores so many rows, and so many per hit, whatever the rows are. */
const ROUGH_MIN = 96;
const ROUGH_PER_HIT = 6;

/** How a list is looked at: `rough` scores only what the codes take for the very nearest. */
export interface Look {
  minScore: number;
  rough: boolean;
}

/** Offer all live ones of `candidates` (each row once) that score at least `minScore`, or the nearest of those. */
export function offerNearest(rows: VectorRows, candidates: Uint32Array, { minScore, rough }: Look, top: Top): void {
  if (rough) {
    offerScored(rows, rows.shortlist(candidates, roughly(top)) ?? candidates, minScore, top);
    return;
  }
  const few = rows.dim < LONG_DIM ? FIRST_LOOK_FROM_SHORT_ROWS : FIRST_LOOK_FROM_ROWS;
  const layer = layerOf(rows, candidates.length, top.capacity);
  const near = candidates.length < few ? undefined : rows.shortlist(candidates, layer * LAYERS);
  if (near === undefined) offerScored(rows, candidates, minScore, top);
  else offerLayers(rows, near, layer, minScore, top);
}

/** The same for all rows from `from` on. */
export function offerNearestFrom(rows: VectorRows, from: number, { minScore, rough }: Look, top: Top): void {
  if (rough) {
    offerScored(rows, rows.shortlistFrom(from, roughly(top)) ?? rowsFrom(from, rows.count), minScore, top);
    return;
  }
  const count = rows.count - from;
  const layer = layerOf(rows, count, top.capacity);
  const few = rows.dim < LONG_DIM ? FIRST_LOOK_FROM_ROWS : FIRST_LOOK_FROM_LONG_ROWS;
  const near = count < few ? undefined : rows.shortlistFrom(from, layer * LAYERS);
  if (near === undefined) offerScored(rows, rowsFrom(from, rows.count), minScore, top);
  else offerLayers(rows, near, layer, minScore, top);
}

function roughly({ capacity }: Top): number {
  return Math.max(ROUGH_MIN, capacity * ROUGH_PER_HIT);
}

/** Rows of a layer of the short list of so many. */
function layerOf({ dim }: VectorRows, candidates: number, hits: number): number {
  const share = dim < LONG_DIM ? SHORT_ROWS_LAYER_SHARE : LAYER_SHARE;
  return Math.ceil(Math.max(LAYER_MIN, candidates * share, hits * LAYER_PER_HIT));
}

function rowsFrom(from: number, to: number): Uint32Array {
  const rows = new Uint32Array(to - from);
  for (let i = 0; i < rows.length; i++) rows[i] = from + i;
  return rows;
}

function offerLayers(rows: VectorRows, near: Uint32Array, layer: number, minScore: number, top: Top): void {
  for (let from = 0; from < near.length; from += layer) {
    const kept = offerScored(rows, near.subarray(from, from + layer), minScore, top);
    if (kept <= ENOUGH * top.size) return;
  }
}

/** Gives how many were kept, later ones in the place of earlier ones. */
function offerScored(rows: VectorRows, chosen: Uint32Array, minScore: number, top: Top): number {
  const scores = new Float32Array(Math.min(CALL_ROWS, chosen.length));
  let kept = 0;
  let bar = Math.max(minScore, top.bar);
  for (let from = 0; from < chosen.length; from += CALL_ROWS) {
    const block = chosen.subarray(from, from + CALL_ROWS);
    rows.score(block, scores);
    for (let i = 0; i < block.length; i++) {
      if (scores[i] < bar || !rows.isLive(block[i])) continue;
      if (top.offer(rows.labelOf(block[i]), scores[i])) kept++;
      bar = Math.max(minScore, top.bar);
    }
  }
  return kept;
}
