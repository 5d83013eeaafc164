import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseIdleMerge, chooseMerge, type SegmentSize, TIER_WIDTH } from '../../../src/engine/words/merge-policy.ts';
import { MAX_SEGMENT_DOCS } from '../../../src/engine/words/segment.ts';

/** Merges as the policy says until it says nothing; counts the documents that were rewritten. */
function settle(segments: readonly SegmentSize[], nextId: () => number) {
  let now = [...segments];
  let rewritten = 0;
  for (let ids = chooseMerge(now); ids.length > 0; ids = chooseMerge(now)) {
    const chosen = now.filter(({ id }) => ids.includes(id));
    const docs = chosen.reduce((sum, segment) => sum + segment.docs - segment.deleted, 0);
    assert.ok(docs <= MAX_SEGMENT_DOCS && chosen.length === ids.length);
    assert.ok(chosen.length > 1 || chosen[0].deleted > 0);
    now = now.filter((segment) => !chosen.includes(segment));
    if (docs > 0) now.push({ id: nextId(), docs, deleted: 0 });
    rewritten += docs;
  }
  return { now, rewritten };
}

function counter(): () => number {
  let id = 0;
  return () => ++id;
}

test('whatever the segments, merging comes to an end with a bounded number of them', () => {
  const someSegment = fc.record({
    docs: fc.integer({ min: 1, max: MAX_SEGMENT_DOCS }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(someSegment, { maxLength: 80 }), (sizes) => {
      const nextId = counter();
      const segments = sizes.map(({ docs, share }) => ({ id: nextId(), docs, deleted: Math.floor(docs * share) }));
      const { now } = settle(segments, nextId);
      const liveIn = (all: readonly SegmentSize[]) => all.reduce((sum, { docs, deleted }) => sum + docs - deleted, 0);
      const live = liveIn(now);
      assert.equal(live, liveIn(segments));
      assert.ok(now.every(({ docs, deleted }) => deleted < docs / 4));
      assert.ok(now.length <= 5 * (TIER_WIDTH - 1) + live / (MAX_SEGMENT_DOCS / 2));
    }),
  );
});

test('adding pages one by one rewrites a document at most once per tier', () => {
  const nextId = counter();
  let segments: SegmentSize[] = [];
  let rewritten = 0;
  const pages = 20_000;
  const docsPerPage = 5;
  for (let page = 0; page < pages; page++) {
    const settled = settle([...segments, { id: nextId(), docs: docsPerPage, deleted: 0 }], nextId);
    segments = settled.now;
    rewritten += settled.rewritten;
    assert.ok(segments.length <= 5 * (TIER_WIDTH - 1) + 3);
  }
  assert.ok(rewritten / (pages * docsPerPage) <= 6, `${rewritten / (pages * docsPerPage)} times`);
});

test('a segment a quarter of which is deleted is rewritten, one with less is left', () => {
  assert.deepEqual(chooseMerge([{ id: 1, docs: 100, deleted: 25 }]), [1]);
  assert.deepEqual(chooseMerge([{ id: 1, docs: 100, deleted: 24 }]), []);
  assert.deepEqual(chooseMerge([{ id: 1, docs: 1, deleted: 1 }]), [1]);
});

test('when idle, small segments are brought together and large ones left', () => {
  const sizes = [20_000, 400, 3000, 60_000, 300, 1200].map((docs, id) => ({ id, docs, deleted: 0 }));
  assert.deepEqual(chooseIdleMerge(sizes), [4, 1, 5, 2]);
  assert.deepEqual(chooseIdleMerge(sizes.slice(0, 2)), []);
});

test('when idle, one small page rewrites no large segment', () => {
  const sizes = [7000, 8, 12, 600].map((docs, id) => ({ id, docs, deleted: 0 }));
  assert.deepEqual(chooseIdleMerge(sizes), [1, 2]);
  assert.deepEqual(chooseIdleMerge(sizes.slice(0, 2)), []);
});

test('pages that come in quiet times are rewritten a few times each and leave few segments', () => {
  const nextId = counter();
  let segments: SegmentSize[] = [];
  let rewritten = 0;
  const pages = 2000;
  const docsPerPage = 4;
  for (let page = 0; page < pages; page++) {
    segments = [...segments, { id: nextId(), docs: docsPerPage, deleted: 0 }];
    const chosen = chooseIdleMerge(segments);
    const docs = segments.filter(({ id }) => chosen.includes(id)).reduce((sum, each) => sum + each.docs, 0);
    segments = segments.filter(({ id }) => !chosen.includes(id));
    if (docs > 0) segments.push({ id: nextId(), docs, deleted: 0 });
    rewritten += docs;
    assert.ok(segments.length <= 12);
  }
  assert.ok(rewritten / (pages * docsPerPage) <= 12, `${rewritten / (pages * docsPerPage)} times`);
});
