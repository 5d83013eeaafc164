/** Sketches of the candidates' pages, cached per segment, to find nearly equal pages (duplicate-pages.ts). */
import { sketchOf, type TextSketch } from '../../compute/ranking/duplicate-pages.ts';
import { memoized, memoizedByObject } from '../../compute/structures/memoized.ts';
import { BREAK } from '../../compute/text/word-bytes.ts';
import type { CorpusSegment } from './corpus.ts';
import { firstOfPage, passageOf, titleOf } from './neighbours.ts';
import type { Segment } from './segment.ts';

/** Bins per group. Pages with nine tenths in common differ in all groups only once in 5,000 pairs. */
const groupBytes = 4;
const groups = 8;
/** Max sketches cached per segment: .7 MB. */
const mostKept = 4096;

/** The sketch of each page that may have a duplicate among the others, by one of its labels. */
export function sketchPages(corpus: readonly CorpusSegment[], labels: Iterable<number>): Map<number, TextSketch> {
  const pages = new Map<TextSketch, number>();
  for (const label of labels) {
    const found = passageOf(corpus, label);
    const first = found === null ? null : firstOfPage(found.segment, found.ordinal);
    if (found === null || first === null) continue;
    const sketch = sketchesOf(found.segment)(first);
    if (!pages.has(sketch)) pages.set(sketch, label);
  }
  const firstWith = new Map<string, TextSketch>();
  const similar = new Map<number, TextSketch>();
  for (const [sketch, label] of pages) {
    for (const key of keysOf(sketch)) {
      const other = firstWith.get(key);
      if (other === undefined) firstWith.set(key, sketch);
      else for (const each of [other, sketch]) similar.set(pages.get(each) ?? label, each);
    }
  }
  return similar;
}

/** Short texts fill few bins, so the whole sketch is also a key. */
function keysOf({ bins }: TextSketch): string[] {
  const all = Buffer.from(bins.buffer, bins.byteOffset, bins.length).toString('latin1');
  const keys = [all];
  for (let group = 0; group < groups; group++) {
    const part = all.slice(group * groupBytes, (group + 1) * groupBytes);
    if (/[^\0]/.test(part)) keys.push(group + part);
  }
  return keys;
}

/** Sketches of the text, or of the title if there is no text. `first`: result of `firstOfPage`. */
const sketchesOf = memoizedByObject((segment: Segment) =>
  memoized(mostKept, (first: number) => {
    const { runs, runStarts, docs } = segment;
    const title = titleOf(segment, first);
    const from = runStarts[first] + title.length + 2;
    const next = runs.indexOf(BREAK, from);
    const text = runs.subarray(from, next < 0 ? runStarts[docs] : next);
    return text.length === 0 ? { ...sketchOf(title), words: 0 } : sketchOf(text);
  }),
);
