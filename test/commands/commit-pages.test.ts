import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimJobs } from '../../src/commands/claim-jobs.ts';
import { commitContent } from '../../src/commands/commit-content.ts';
import { commitPages } from '../../src/commands/commit-pages.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { bareChunk } from '../../src/domain/page.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const chunk = { char_start: 0, char_end: 1, token_count: 1, section_title: null, section_start_s: null };
const content = (page_no: number, chunks: number) => ({
  page_no,
  chunks: Array.from({ length: chunks }, () => chunk),
  vectors: new Map([[1, new Float32Array(chunks * 2)]]),
});
const claim = claimJobs({
  at: 1,
  incarnation: 'life 1',
  leaseMs: 600,
  free: { suspect: 1, index: 9, fetch: 9, poll: 9, purge: 0, background: 9, backfill: 9, entities: 9 },
  running: 0,
});

test('pages of one commit have labels that follow each other, refused ones included', async () => {
  await using temporary = await TemporaryStore.open();
  for (const name of ['a', 'b', 'c', 'd']) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${name}`, at: 0 })));
  }
  await temporary.commit(claim);
  const attempt = (no: number) => ({ job_no: no, claim: no });
  const late = { job_no: 2, claim: 99 };
  const [{ stored, pages, obsolete }] = [
    await temporary.commit(
      commitPages([
        { attempt: attempt(1), content: content(1, 3) },
        { attempt: late, content: content(2, 2) },
        { attempt: attempt(3), content: content(3, 0) },
        { attempt: attempt(4), content: content(4, 1) },
        { attempt: attempt(1), content: content(1, 2) },
      ]),
    ),
  ];
  assert.deepEqual(stored, [true, false, true, true, true]);
  assert.deepEqual(pages, [
    { first: 1, count: 3 },
    { first: 4, count: 2 },
    { first: 6, count: 1 },
    { first: 7, count: 2 },
  ]);
  assert.deepEqual(obsolete, [
    { first: 4, count: 2 },
    { first: 1, count: 3 },
  ]);
  const { reader } = temporary.store;
  assert.deepEqual(
    [1, 2, 3, 4].map((no) => [reader.pages.get(no)?.first_label, reader.pages.chunks(no).length]),
    [
      [7, 2],
      [0, 0],
      [0, 0],
      [6, 1],
    ],
  );
});

test('a page without a text gets its bare chunk once; one of which no word is known is not written at all', async () => {
  await using temporary = await TemporaryStore.open();
  const withoutText = { body: null, content_hash: null };
  const bare = { ...content(1, 1), chunks: [bareChunk] };
  const { changed } = await temporary.commit((transaction) => {
    ingestPage(submission({ ...withoutText, canonical_url: 'https://example.com/a' }))(transaction);
    ingestPage(submission({ ...withoutText, canonical_url: 'https://xn--n3h.net/', title: null }))(transaction);
    transaction.pages.changed = [];
    assert.deepEqual(commitContent(null, bare)(transaction)?.labels, { first: 1, count: 1 });
    assert.equal(commitContent(null, content(2, 0))(transaction), null);
    return { changed: transaction.pages.changed.map(({ no }) => no) };
  });
  assert.deepEqual(changed, [1], 'a row that is written is looked at again');
});
