import assert from 'node:assert/strict';
import { test } from 'node:test';
import { erasePages } from '../../src/commands/forget.ts';
import { ingestPage, type PageSubmission, titleBehind } from '../../src/commands/ingest-page.ts';
import { failJob, ownsJob } from '../../src/commands/move-job.ts';
import { visitTimes } from '../../src/compute/structures/visit-times.ts';
import { jobRow, pageRow } from '../machines/rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { submission } from './submissions.ts';

test('a new page is stored with its text and one job that indexes it', async () => {
  await using temporary = await TemporaryStore.open();
  const metadata = { tags: ['x'] };
  assert.deepEqual(await temporary.commit(ingestPage(submission({ metadata }))), { outcome: 'accepted', page_no: 1 });
  await temporary.reopen();
  const { pages, jobs } = temporary.reader;
  const seen = { first_seen_at: 1000, last_seen_at: 1000 };
  const page = pageRow({ no: 1, source: 'test', metadata, ...seen, content_hash: 'hash of some text', index_job: 1 });
  const unknown = { author: null, published_at: null, site_name: null, declared_language: null };
  const byline = { ...unknown, type: 'html', tags: ['x'], folders: [], is: [] };
  assert.deepEqual([...pages.all()], [{ ...page, metadata: '{"tags":["x"]}', byline }]);
  assert.deepEqual(pages.get(1), page);
  assert.equal(pages.body(1), 'some text');
  const at = { created_at: 2000, updated_at: 2000, run_at: 2000 };
  assert.deepEqual(jobs.list({ limit: 10 }), [jobRow({ no: 1, page_no: 1, ...at })]);
});

test('a page without a text waits to be fetched; an empty text is a text', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ body: null, content_hash: null })));
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/b', body: '' })));
  const { pages, jobs } = temporary.reader;
  assert.deepEqual([pages.body(1), pages.body(2)], [undefined, '']);
  assert.deepEqual([jobs.get(1)?.kind, jobs.get(2)?.kind], ['fetch_and_index', 'index_page']);
});

const revisited = { outcome: 'revisit', page_no: 1, status: 'queued' };
test('a known URL is a revisit: counted, times widened, content and job left alone', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ seen_at: 1000 })));
  const first = temporary.reader.pages.get(1);

  const revisits = [
    { change: { seen_at: 3000, title: 'Another', body: 'new', content_hash: 'hash of new' }, differs: true },
    { change: { seen_at: 500 }, differs: false },
    { change: { seen_at: 2000, body: null, content_hash: null }, differs: false },
  ];
  for (const { change, differs } of revisits) {
    const decision = await temporary.commit(ingestPage(submission(change)));
    assert.deepEqual(decision, { ...revisited, content_hash_differs: differs });
  }
  const { pages, jobs } = temporary.reader;
  const { visits: _, ...page } = pages.get(1) ?? assert.fail('no page');
  assert.deepEqual(page, { ...first, visit_count: 4, first_seen_at: 500, last_seen_at: 3000 });
  assert.deepEqual(visitTimes(pages.get(1) ?? page), [3000, 2000, 1000, 500]);
  assert.equal(pages.body(1), 'some text');
  assert.equal(jobs.list({ limit: 10 }).length, 1);
});

test('a page without a text gets the first one that is handed in, whatever became of its fetch', async () => {
  for (const state of ['pending', 'running', 'failed', 'dead', 'counted before'] as const) {
    await using temporary = await TemporaryStore.open();
    const { pages, jobs } = temporary.reader;
    await temporary.commit(ingestPage(submission({ body: null, content_hash: null, once: true })));
    const attempt = { job_no: 1, claim: 1 };
    if (state !== 'pending') {
      await temporary.claim(2000);
      if (state !== 'running')
        await temporary.commit(failJob(attempt, 2001, { message: 'gone', permanent: state === 'dead', delayMs: 9000 }));
    }
    const before = pages.get(1);
    const text = { sections: [{ char_start: 0, title: 'One' }], once: state === 'counted before', at: 3000 };
    const decision = await temporary.commit(ingestPage(submission(text)));
    assert.deepEqual(decision, { ...revisited, content_hash_differs: true }, state);
    const page = pages.get(1);
    assert.deepEqual([pages.body(1), pages.sections(1)], ['some text', text.sections], state);
    assert.deepEqual([page?.content_hash, page?.status, page?.index_job], ['hash of some text', 'queued', 2], state);
    assert.equal(page?.visit_count, text.once ? before?.visit_count : 2, state);
    const job = jobs.get(2);
    assert.deepEqual([job?.kind, job?.status, job?.run_at], ['index_page', 'pending', 3000], state);
    assert.deepEqual([jobs.get(1)?.status, jobs.get(1)?.last_error], ['done', 'the text was submitted'], state);
    const isOwned = await temporary.commit((transaction) => ownsJob(transaction, attempt));
    assert.equal(isOwned, false, 'an attempt that still runs stores nothing');
    await temporary.commit(ingestPage(submission({ body: 'another', content_hash: 'h' })));
    assert.equal(pages.body(1), 'some text', 'the next one changes nothing');
  }
});

test('a changed own file waits to replace the stored text; an unchanged one changes nothing', async () => {
  await using temporary = await TemporaryStore.open();
  const { pages, jobs } = temporary.reader;
  const fileAt = (name: string) => ({ canonical_url: `http://files.localhost/${name}`, domain: 'files.localhost' });
  const submit = async (changes: Partial<PageSubmission>) => {
    const decision = await temporary.commit(ingestPage(submission({ ...fileAt('a.md'), once: true, ...changes })));
    const { page_no, content_hash_differs } = decision.outcome === 'revisit' ? decision : assert.fail(decision.outcome);
    assert.equal(page_no, 1);
    const { visit_count, index_job, title } = pages.get(1) ?? assert.fail();
    return [content_hash_differs, visit_count, index_job, title, pages.body(1), pages.newText(1)?.body];
  };
  const text = (body: string) => ({ body, content_hash: `hash of ${body}` });
  await temporary.commit(ingestPage(submission({ ...fileAt('a.md'), once: true })));
  assert.deepEqual(await submit({ seen_at: 2000 }), [false, 1, 1, 'A page', 'some text', undefined], 'touched');
  const without = { ...text('other'), once: false, seen_at: 1000 };
  assert.deepEqual(await submit(without), [true, 2, 1, 'A page', 'some text', undefined], 'a revisit of the contract');

  const second = { ...text('second'), title: 'Second', sections: [{ char_start: 0, title: 'S' }], seen_at: 3000 };
  assert.deepEqual(await submit(second), [true, 3, 2, 'Second', 'some text', 'second']);
  assert.deepEqual(await submit({ ...second, seen_at: 4000 }), [false, 3, 2, 'Second', 'some text', 'second']);
  assert.deepEqual(await submit({ seen_at: 1000 }), [true, 3, 3, 'A page', 'some text', 'some text'], 'restored');
  assert.equal([1, 2, 3].map((no) => jobs.get(no)?.status).join(), 'done,done,pending');
  await submit({ ...second, seen_at: 3000 });
  const other = await temporary.commit(ingestPage(submission({ ...fileAt('copy.md'), once: true })));
  assert.equal(other.outcome, 'accepted', 'a copy is another page');
  await temporary.reopen();
  const stored = temporary.reader.pages;
  const sections = [{ char_start: 0, title: 'S' }];
  assert.deepEqual(stored.newText(1), { ...text('second'), sections });
  await temporary.commit((transaction) => transaction.pages.putBody(1, 'second', []));
  assert.equal(stored.newText(1), undefined, 'it is the text now');
  await temporary.commit((transaction) => {
    transaction.pages.putNewText(1, { ...text('third'), sections: [] });
    erasePages([1], 5)(transaction);
  });
  assert.equal(stored.newText(1), undefined, 'nothing of a forgotten page stays');
});

test('a title that is only the address, or that only a wall has, gives way to that of the page', async () => {
  const titles: [string | null, string | null, string | null][] = [
    ['Just a moment...', 'Eels', 'Eels'],
    ['Sign in', 'Eels', 'Eels'],
    ['Just a moment...', null, 'Just a moment...'],
    [null, 'Eels', 'Eels'],
    ['https://example.com/eels', 'Eels', 'Eels'],
    ['https://example.com/eels', null, 'https://example.com/eels'],
    ['My eels', 'Eels', 'My eels'],
  ];
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission()));
  const page = temporary.reader.pages.get(1) ?? assert.fail();
  for (const [known, given, title] of titles) assert.equal(titleBehind({ ...page, title: known }, given), title);
});

test('what a revisit says beside the text is kept, whichever visit is told again; status and star are those of the last import', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ seen_at: 1000, once: true, title: null, metadata: null })));
  for (const [seen_at, metadata, undated] of [
    [2000, { tags: ['a'], note: 'mine', status: 'unread', starred: true }, false],
    [1000, { tags: ['b'], note: 'other', status: 'archive', starred: false }, false],
    [3000, null, true],
  ] as const)
    await temporary.commit(ingestPage(submission({ seen_at, undated, once: true, title: 'A title', metadata })));
  const page = temporary.reader.pages.get(1);
  const kept = [page?.title, page?.metadata, page?.visit_count];
  assert.deepEqual(kept, ['A title', { tags: ['a', 'b'], note: 'mine', status: 'archive', starred: false }, 2]);
  const unstarred = { canonical_url: 'https://a.example/other', metadata: { starred: false, note: 'b' } };
  await temporary.commit(ingestPage(submission({ ...unstarred, once: true })));
  assert.deepEqual(temporary.reader.pages.get(2)?.metadata, { note: 'b' });
});

test('a blacklisted URL is refused exactly, a blacklisted domain by label suffix, and nothing is stored', async () => {
  await using temporary = await TemporaryStore.open();
  const rule = { reason: null, created_at: 1, purging: false };
  await temporary.commit(({ blacklist }) => {
    blacklist.put({ ...rule, no: 1, kind: 'url', pattern: 'https://one.example/x' });
    blacklist.put({ ...rule, no: 2, kind: 'domain', pattern: 'bad.example' });
  });
  const ingest = (canonical_url: string) =>
    temporary.commit(ingestPage(submission({ canonical_url, domain: new URL(canonical_url).hostname })));

  const refused = (pattern: string) => ({ outcome: 'blacklisted', pattern });
  assert.deepEqual(await ingest('https://one.example/x'), refused('https://one.example/x'));
  assert.deepEqual(await ingest('https://bad.example/'), refused('bad.example'));
  assert.deepEqual(await ingest('https://a.b.bad.example/y'), refused('bad.example'));
  assert.equal(temporary.reader.pages.count(), 0);
  assert.equal(temporary.reader.jobs.list({ limit: 1 }).length, 0);
  for (const allowed of ['https://one.example/x/y', 'https://notbad.example/', 'https://bad.example.org/']) {
    assert.equal((await ingest(allowed)).outcome, 'accepted');
  }
});

test('a visit that is to count once does so, however often it is handed in; one of another time counts', async () => {
  await using temporary = await TemporaryStore.open();
  const visit = (seen_at: number, once = true) => temporary.commit(ingestPage(submission({ seen_at, once })));
  const count = () => temporary.reader.pages.get(1)?.visit_count;
  await visit(1000);
  assert.deepEqual(await visit(1000), { ...revisited, content_hash_differs: false });
  assert.equal(count(), 1);
  await visit(3000);
  await visit(2000);
  for (const again of [3000, 2000, 1000, 2000]) await visit(again);
  assert.equal(count(), 3, 'the one between the first and the last, too');
  await visit(2000, false);
  assert.equal(count(), 4, 'who does not ask for it counts each time');
});

test('a page that has its text keeps its title, also one that walls have', async () => {
  await using temporary = await TemporaryStore.open();
  for (const title of ['Captcha', 'Another']) await temporary.commit(ingestPage(submission({ title })));
  assert.equal(temporary.reader.pages.get(1)?.title, 'Captcha');
});
