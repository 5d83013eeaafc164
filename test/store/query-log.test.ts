import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hitsOf, queryRun } from './query-runs.ts';
import { TemporaryStore } from './temporary-store.ts';

/** Runs 1, 2 … at 1000, 2000 …; every third is an arm of comparison cp_1. */
async function logged(count: number): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  await temporary.commit(({ queryLog }) => {
    for (let no = 1; no <= count; no++) {
      const arm = no % 3 === 0 ? ({ kind: 'compare_arm', compare_id: 'cp_1' } as const) : {};
      queryLog.append(no, queryRun({ query_id: `qr_${no}`, ts: 1000 * no, ...arm }));
    }
  });
  return temporary;
}

test('a run comes back as it was written, also after the store was opened again', async () => {
  await using temporary = await TemporaryStore.open();
  const run = queryRun({ candidate_set: hitsOf(...Array.from({ length: 1000 }, (_, i) => i + 1)) });
  await temporary.commit(({ queryLog }) => queryLog.append(7, run));
  assert.deepEqual(temporary.reader.queryLog.get(7), { ...run, no: 7 });
  await temporary.reopen();
  assert.deepEqual(temporary.reader.queryLog.get(7), { ...run, no: 7 });
  assert.equal(temporary.reader.queryLog.get(8), undefined);
});

test('runs are listed newest first, by kind and from a time on', async () => {
  await using temporary = await logged(6);
  const { queryLog } = temporary.reader;
  assert.deepEqual(queryLog.numbers({ limit: 100 }), [6, 5, 4, 3, 2, 1]);
  assert.deepEqual(queryLog.numbers({ limit: 2 }), [6, 5]);
  assert.deepEqual(queryLog.numbers({ kind: 'compare_arm', limit: 100 }), [6, 3]);
  assert.deepEqual(queryLog.numbers({ kind: 'search', limit: 2 }), [5, 4]);
  assert.deepEqual(queryLog.numbers({ since: 4000, limit: 100 }), [6, 5, 4]);
  assert.deepEqual(queryLog.numbers({ since: 4001, kind: 'compare_arm', limit: 100 }), [6]);
  assert.deepEqual([queryLog.countSince(0), queryLog.countSince(3000), queryLog.countSince(6001)], [6, 4, 0]);
});

test('a run is found by its query id, the arms of a comparison by its id too', async () => {
  await using temporary = await logged(6);
  const { queryLog } = temporary.reader;
  assert.deepEqual(queryLog.numbersOf('qr_6'), [6]);
  assert.deepEqual(queryLog.numbersOf('cp_1'), [3, 6]);
  for (const unknown of ['qr_7', '', 'qr', '\0', 'x'.repeat(5000), '\ud800']) {
    assert.deepEqual(queryLog.numbersOf(unknown), [], JSON.stringify(unknown.slice(0, 9)));
  }
});

test('feedback is kept by page, a later word replacing an earlier one', async () => {
  await using temporary = await logged(4);
  await temporary.commit(({ queryLog }) => {
    queryLog.mark(2, 9, true);
    queryLog.mark(2, 8, true);
    queryLog.mark(2, 9, false);
    queryLog.mark(4, 1, true);
  });
  const { queryLog } = temporary.reader;
  assert.equal([...queryLog.feedback(2)].join(' '), '8,true 9,false');
  assert.deepEqual([...queryLog.feedback(1)], []);
  assert.deepEqual(queryLog.judgedAfter(0, 10), [2, 4]);
  assert.deepEqual(queryLog.judgedAfter(0, 1), [2]);
  assert.deepEqual(queryLog.judgedAfter(2, 10), [4]);
  assert.deepEqual(queryLog.judgedAfter(4, 10), []);
});

test('old runs go with everything that leads to them, at most so many at a time', async () => {
  await using temporary = await logged(6);
  await temporary.commit(({ queryLog }) => {
    queryLog.mark(1, 1, true);
    queryLog.mark(5, 1, true);
  });
  const counts = [];
  for (let slice = 0; slice < 4; slice++) {
    counts.push(await temporary.commit(({ queryLog }) => queryLog.removeBefore(5000, 2)));
  }
  assert.deepEqual(counts, [2, 2, 0, 0]);
  const { queryLog } = temporary.reader;
  assert.deepEqual(queryLog.numbers({ limit: 100 }), [6, 5]);
  assert.deepEqual([queryLog.numbersOf('qr_1'), queryLog.numbersOf('cp_1')], [[], [6]]);
  assert.deepEqual(queryLog.judgedAfter(0, 9), [5]);
  assert.deepEqual([queryLog.get(1), queryLog.countSince(0)], [undefined, 2]);
});

test('what pages left is taken out of every run, slice by slice, and nothing else', async () => {
  await using temporary = await logged(5);
  await temporary.commit(({ queryLog }) => {
    queryLog.mark(4, 1, true);
    queryLog.mark(4, 2, true);
  });
  const ends = [];
  for (let after: number | null = 0; after !== null; ends.push(after)) {
    const from: number = after;
    after = await temporary.commit(({ queryLog }) => queryLog.removePages(new Set([1, 77]), from, 2, () => undefined));
  }
  assert.deepEqual(ends, [2, 4, null]);
  const { queryLog } = temporary.reader;
  for (let no = 1; no <= 5; no++) {
    const run = queryLog.get(no);
    const { page_nos, labels, scores } = run?.candidate_set ?? assert.fail();
    assert.deepEqual([page_nos, labels, scores], [Uint32Array.of(2), Uint32Array.of(20), Float64Array.of(1 / 62)]);
    assert.deepEqual(run?.dense_hits, hitsOf(2));
    assert.deepEqual(run?.final_pages, [{ page_no: 2, score: 1 / 3, rank: 2 }]);
    assert.equal(run?.query_text, 'oak');
  }
  assert.deepEqual([...queryLog.feedback(4)], [[2, true]]);
});
