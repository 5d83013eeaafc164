import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexPageHandler } from '../../src/actors/ingest/index-page.ts';
import type { CommitCommand, SystemAsk } from '../../src/actors/system/service.ts';
import { openGaps, startBackfill } from '../../src/commands/backfill-model.ts';
import { commitContent, commitPages } from '../../src/commands/commit-content.ts';
import { editPages, relabelPage } from '../../src/commands/edit-pages.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { completeJob, failJob } from '../../src/commands/move-job.ts';
import { noteNames, queueExtraction } from '../../src/commands/page-entities.ts';
import { refreshPages } from '../../src/commands/store-fetched.ts';
import { factsText } from '../../src/compute/text/facts-text.ts';
import { builtInModel } from '../../src/domain/model.ts';
import type { LabelRange } from '../../src/domain/page.ts';
import { bareChunk } from '../../src/domain/page.ts';
import { idOf } from '../../src/domain/values.ts';
import { newModel } from '../../src/machines/model.ts';
import { chunkRow } from '../machines/rows.ts';
import { claimDue, TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

const content = (page_no: number, chunks: number) => ({
  page_no,
  chunks: Array.from({ length: chunks }, () => chunkRow(0, 1)),
  vectors: new Map([[1, new Float32Array(chunks * 2)]]),
});
const notFound = { outcome: 'not_found', job_id: null };
const claim = claimDue(1);

test('pages of one commit have labels that follow each other, refused ones included', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.ingest('abcd', { at: 0 });
  await temporary.commit(claim);
  const attempt = (no: number) => ({ job_no: no, claim: no });
  const late = { job_no: 2, claim: 99 };
  const { stored, pages, obsolete } = await temporary.commit(
    commitPages([
      { attempt: attempt(1), content: content(1, 3) },
      { attempt: late, content: content(2, 2) },
      { attempt: attempt(3), content: content(3, 0) },
      { attempt: attempt(4), content: content(4, 1) },
      { attempt: attempt(1), content: content(1, 2) },
    ]),
  );
  assert.deepEqual(stored, [true, false, true, true, true]);
  const spans = (ranges: readonly LabelRange[]) => ranges.map(({ first, count }) => `${first}+${count}`);
  assert.deepEqual(spans(pages), ['1+3', '4+2', '6+1', '7+2']);
  assert.deepEqual(spans(obsolete), ['4+2', '1+3']);
  const rows = temporary.reader.pages;
  const kept = [1, 2, 3, 4].map((no) => `${rows.get(no)?.first_label}+${rows.chunks(no).length}`);
  assert.deepEqual(kept, ['7+2', '0+0', '0+0', '6+1']);
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

test('gaps of the built-in model are left some pages at a time, and what is ahead counts as waiting', async () => {
  await using temporary = await TemporaryStore.open();
  const { backfills } = temporary.reader;
  await temporary.ingest([1, 2, 3, 4, 5], { at: 0 });
  await temporary.commit(claim);
  const done = [1, 2, 3, 4, 5].map((no) => ({ attempt: { job_no: no, claim: no }, content: content(no, no % 3) }));
  await temporary.commit(commitPages(done));
  const space = 7;
  await temporary.commit((transaction) => {
    transaction.models.put(newModel({ id: 'm', ...builtInModel, max_input_tokens: 512 }, space));
    return startBackfill('m', { at: 2, max_attempts: 1 })(transaction);
  });
  const seen: string[] = [];
  for (let isMore: boolean | null = true; isMore; ) {
    const { pages, chunks } = backfills.pending(space);
    seen.push(`${pages} ${chunks}`);
    isMore = await temporary.commit(openGaps(space, 3, 2));
  }
  assert.deepEqual(seen, ['5 5', '5 6', '4 5']);
  assert.deepEqual(backfills.pending(space), { pages: 4, chunks: 6 });
  assert.equal(await temporary.commit(openGaps(space, 3, 2)), false);
});

test('names that came with the vectors of all chunks complete the job of the page, whether it was queued before or after', async () => {
  await using temporary = await TemporaryStore.open();
  const { reader } = temporary.store;
  const body = 'Oslo and Bergen';
  await temporary.commit(ingestPage(submission({ body, at: 0 })));
  await temporary.commit(claim);
  await temporary.commit(commitPages([{ attempt: { job_no: 1, claim: 1 }, content: content(1, 3) }]));
  const see = (first: number, ordinals: number[], names: number[]) =>
    temporary.commit((transaction) => noteNames(transaction, { page_no: 1, first, count: 3, ordinals, names }, 10));
  const found = () => reader.entities.ofPage(1)?.map(({ forms }) => forms[0][0]);
  const jobs = () => reader.jobs.list({ kind: 'extract_entities', limit: 9 }).map(({ status }) => status);

  await see(9, [0], [0, 4, 2]); // of an earlier content
  await see(1, [1], [0, 4, 2]); // the first chunk is missing
  assert.equal(reader.entities.seenNames(1)?.first, 9);
  await see(1, [0], [0, 4, 2]);
  await see(1, [1, 2], [9, 15, 2]);
  assert.deepEqual([jobs(), found()], [[], undefined]);
  await temporary.commit(completeJob({ job_no: 1, claim: 1 }, 20, (transaction) => queueExtraction(transaction, 1)));
  assert.deepEqual([jobs(), found()], [['done'], ['Oslo', 'Bergen']]);
  assert.equal(reader.entities.seenNames(1), undefined);

  await temporary.commit((transaction) => queueExtraction(transaction, 1));
  assert.deepEqual(jobs().sort(), ['done', 'pending']);
  await see(1, [0, 1], [0, 4, 2]);
  await see(1, [2], []);
  assert.deepEqual([jobs(), found()], [['done', 'done'], ['Oslo']]);
});

test('tags that change while a page is indexed, or later, are indexed by one job under new labels', async () => {
  await using temporary = await TemporaryStore.open();
  const { reader } = temporary.store;
  const edit = (tag: string) => temporary.commit(editPages([1, 2, null], { add_tags: [tag] }, 0));
  const page = () => reader.pages.get(1) ?? assert.fail('no page');
  await temporary.commit(ingestPage(submission({ at: 0 })));
  await temporary.commit(claim);
  const before = page();
  assert.deepEqual(await edit('one'), ['changed', 'not_found', 'not_found']);
  assert.equal(page().facts_job, undefined, 'its indexing is still to come');
  await temporary.commit(commitContent({ job_no: 1, claim: 1 }, { ...content(1, 2), facts: factsText(before) }));
  assert.equal(page().facts_job, 2, 'it had read the page before');
  assert.deepEqual(await edit('one'), ['unchanged', 'not_found', 'not_found']);
  await edit('two');
  assert.equal(page().facts_job, 2, 'the job that waits reads both');
  const attempt = { job_no: 2, claim: 2 };
  assert.equal(await temporary.commit(relabelPage(attempt, page(), null)), null, 'an attempt that has not begun');
  await temporary.commit(claim);
  await edit('three');
  assert.equal(page().facts_job, 3, 'one that runs may have read the page before');
  await temporary.commit(claim);
  const [first, second] = [attempt, { job_no: 3, claim: 3 }];
  const read = page();
  let isFull = false;
  /** What the index is asked, and the page's label at that time. */
  const asked: [name: string, label: number, request: unknown][] = [];
  const ask = async (name: string, request: object) => {
    asked.push([name, page().first_label, request]);
    if (isFull) throw new Error('full');
  };
  const index = async () => assert.fail('its text is not indexed');
  const segment = new SharedArrayBuffer(0);
  const commit: CommitCommand = (command) => temporary.commit(command);
  const segmentOfChunks = async () => segment;
  const parts = { ask: ask as SystemAsk, commit, reader, index, segmentOfChunks, readEntities: false };
  const handle = ({ job_no, claim }: typeof first) =>
    indexPageHandler(parts)(reader.jobs.get(job_no) ?? assert.fail('no job'), {
      ...{ attempt: { job_no, claim }, signal: AbortSignal.timeout(60_000) },
      ...{ checkpoint: commit, extendTime: async () => {} },
    });
  await handle(first);
  assert.deepEqual([asked, page().first_label], [[], 1], 'a later job reads what it would');
  isFull = true;
  await assert.rejects(handle(second), /full/);
  const labels = { first: 3, count: 2 };
  const added = { segment, vectors: new Map(), pages: [labels], obsolete: [] };
  const removed = { pages: [labels] };
  assert.deepEqual(asked.splice(0), [
    ['index.add', 1, added],
    ['index.remove', 1, removed],
  ]);
  isFull = false;
  await handle(second);
  const again = { first: 5, count: 2 };
  assert.deepEqual(asked, [
    ['index.add', 1, { ...added, pages: [again] }],
    ['index.add', 5, { ...added, segment: null, pages: [again], obsolete: [{ first: 1, count: 2 }] }],
  ]);
  assert.equal(await temporary.commit(relabelPage(second, read, null)), null, 'of other labels by now');
  assert.equal(page().status, before.status, 'the page does not follow it');
  await temporary.commit(ingestPage(submission({ metadata: { tags: ['four'] } })));
  assert.equal(page().facts_job, 4, 'tags of an import are indexed, too');
});

test('a refresh replaces text, chunks and names in one commit, and says until its job is done that it is not indexed', async () => {
  await using temporary = await TemporaryStore.open();
  const { reader } = temporary.store;
  const page = () => reader.pages.get(1);
  const refresh = () => temporary.commit(refreshPages([1, 7, null], { at: 30, max_attempts: 1 }));
  await temporary.commit(ingestPage(submission({ body: 'Oslo and Bergen', at: 0 })));
  assert.deepEqual((await refresh())[0], { outcome: 'waiting', job_id: idOf('job', 1) });
  await temporary.commit(claim);
  await temporary.commit(commitPages([{ attempt: { job_no: 1, claim: 1 }, content: content(1, 3) }]));
  await temporary.commit(completeJob({ job_no: 1, claim: 1 }, 20));
  const [queued, ...others] = await refresh();
  assert.deepEqual(others, [notFound, notFound]);
  assert.equal(queued.outcome, 'queued');
  assert.equal((await refresh())[0].outcome, 'waiting');
  await temporary.claim(40);
  const attempt = { job_no: page()?.refresh_job ?? 0, claim: 2 };
  const url = 'https://example.com/a';
  const final = { canonical_url: url, original_url: url, domain: 'example.com' };
  const facts = { published_at: null, author: 'Ada', lang: null, site_name: null };
  const text = { page_no: 1, final, title: 'Other', body: 'Rome', content_hash: 'h', sections: [], facts };
  const replacing = { ...content(1, 1), replacement: { ...text, readEntities: true } };
  const stale = await temporary.commit(commitContent({ ...attempt, claim: 9 }, replacing));
  assert.deepEqual([stale, reader.pages.body(1)], [null, 'Oslo and Bergen']);
  const done = await temporary.commit(commitContent(attempt, replacing));
  assert.deepEqual(done?.obsolete, { first: 1, count: 3 });
  const { status, indexed_at, chunk_count, metadata } = page() ?? {};
  assert.deepEqual([status, indexed_at, chunk_count, metadata?.author], ['indexed', null, 1, 'Ada']);
  assert.equal(reader.pages.body(1), 'Rome');
  assert.equal(reader.jobs.get(page()?.entity_job ?? 0)?.status, 'pending');
  assert.equal(reader.backfills.lacking(1, 1) ?? 0, 0);
  await temporary.commit(failJob(attempt, 50, { message: 'gone', permanent: true, delayMs: 0 }));
  const again = await refresh();
  assert.deepEqual(again[0], { outcome: 'queued', job_id: idOf('job', attempt.job_no) }, 'a dead one is retried');
});
