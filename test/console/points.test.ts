/** What of the map's points a camera sees. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import KDBush from 'kdbush';
import { type Points, pagesInView } from '../../console/views/map/points.ts';

function pointsAt(list: readonly (readonly [number, number])[]): Points {
  const tree = new KDBush(list.length, 64, Float32Array);
  for (const [x, y] of list) tree.add(x, y);
  tree.finish();
  const ids = list.map((_, at) => `pg_${at}`);
  const indexOf = new Map(ids.map((id, at) => [id, at]));
  return { ids, topics: ids.map(() => null), places: Float32Array.from(list.flat()), indexOf, tree, labels: [] };
}

test('the pages in view are those nearest to the middle, the nearest first, and all are counted', () => {
  const place = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }));
  fc.assert(
    fc.property(
      fc.uniqueArray(place, { minLength: 1, maxLength: 60, selector: String }),
      place,
      fc.integer({ min: 1, max: 8 }),
      (list, [x, y], most) => {
        const [width, height] = [60, 40];
        const far = (at: number) => Math.hypot(list[at][0] - x, list[at][1] - y);
        const seen = [...list.keys()]
          .filter((at) => Math.abs(list[at][0] - x) <= width / 2 && Math.abs(list[at][1] - y) <= height / 2)
          .sort((a, b) => far(a) - far(b));
        const { ids, all } = pagesInView(pointsAt(list), { x, y, scale: 1 }, width, height, most);
        assert.equal(all, seen.length);
        // Which of two as near comes first is nobody's concern.
        assert.deepEqual(
          ids.map((id) => far(Number(id.slice(3)))),
          seen.slice(0, most).map(far),
        );
        assert.equal(new Set(ids).size, ids.length);
      },
    ),
  );
});
