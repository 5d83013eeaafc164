/** Contract section: Pages, jobs and search. Ingest, batches, status, chunks, retries, search with its filters, forgetting. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BlacklistResponse, ForgetResponse } from '../../src/domain/blacklist.ts';
import type { JobListResponse, JobResponse, JobRetryBatchResponse } from '../../src/domain/job.ts';
import type {
  IngestBatchResult,
  PageChunksResponse,
  PageResponse,
  PageStatusBatchResponse,
  PageStatusResponse,
} from '../../src/domain/page.ts';
import type { PageResult, SearchResponse } from '../../src/domain/search.ts';
import { RunningService, until } from './service.ts';

const readToken = 'process-test-reader-81c0aa';
/** One attempt, so that a page which cannot be fetched is dead at once. */
const env = {
  SERVICE_JOBS__MAX_ATTEMPTS: '1',
  SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: readToken, scopes: ['read'] }]),
};

let service: RunningService;
let cleanUp = async () => {};
before(async () => {
  const scope = {
    after: (run: () => Promise<void>) => {
      cleanUp = run;
    },
  };
  service = await RunningService.start(scope, env);
});
after(() => cleanUp());

interface Accepted {
  page_id: string;
  status: string;
}

const post = <Body>(path: string, body: unknown) => service.call<Body>('POST', path, body);
const get = <Body>(path: string) => service.call<Body>('GET', path);

async function add(page: Record<string, unknown>): Promise<string> {
  const { status, body } = await post<Accepted>('/v1/pages', page);
  assert.equal(status, 202, JSON.stringify(body));
  assert.match(body.page_id, /^pg_/);
  assert.deepEqual(body, { page_id: body.page_id, status: 'queued' });
  return body.page_id;
}

async function addIndexed(page: Record<string, unknown>): Promise<string> {
  const id = await add(page);
  assert.deepEqual(await service.settled([id]), ['indexed']);
  return id;
}

async function search(request: Record<string, unknown>): Promise<SearchResponse> {
  const { status, body } = await post<SearchResponse>('/v1/search', request);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const idsOf = ({ results }: { results: PageResult[] }) => results.map(({ page_id }) => page_id);
const iso = (text: string) => new Date(text).toISOString();

test('a new page is stored as it came, under its canonical URL, and dated by its fetch', async () => {
  const url = 'HTTPS://News.Example:443/Story/1?utm_source=mail&id=7&fbclid=x&gclid=y&ref=z&si=s#top';
  const metadata = { tags: ['a', 1, null], nested: { deep: true } };
  const id = await addIndexed({
    url,
    title: 'A story of tides',
    body_extracted: 'Tides rise and fall twice a day.',
    fetched_at: '2024-05-01T12:00:00+02:00',
    source: 'history import',
    metadata,
  });
  const { status, body } = await get<PageResponse>(`/v1/pages/${id}`);
  assert.equal(status, 200);
  assert.ok(body.indexed_at !== null && Math.abs(Date.parse(body.indexed_at) - Date.now()) < 60_000);
  assert.deepEqual(body, {
    page_id: id,
    canonical_url: 'https://news.example/Story/1?id=7',
    original_url: url,
    domain: 'news.example',
    title: 'A story of tides',
    body_text: 'Tides rise and fall twice a day.',
    source: 'history import',
    metadata,
    first_seen_at: iso('2024-05-01T10:00:00Z'),
    last_seen_at: iso('2024-05-01T10:00:00Z'),
    visit_count: 1,
    indexed_at: body.indexed_at,
    status: 'indexed',
  });
});

test('fields that are left out are null, and the server dates the page', async () => {
  const began = Date.now();
  const id = await addIndexed({ url: 'https://bare.example/', body_extracted: 'Only a body.' });
  const { body } = await get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([body.title, body.source, body.metadata], [null, null, null]);
  const seen = Date.parse(body.first_seen_at);
  assert.ok(seen >= began && seen <= Date.now());
  assert.equal(body.first_seen_at, body.last_seen_at);
});

test('a revisit counts, widens the dates, keeps the content and says whether the body differs', async () => {
  const url = 'https://again.example/a';
  const first = { url, title: 'First', body_extracted: 'First body.', fetched_at: '2024-03-01T00:00:00Z' };
  const id = await addIndexed(first);
  const revisit = async (page: Record<string, unknown>) => {
    const { status, body } = await post<unknown>('/v1/pages', { url: `${url}?utm_campaign=x`, ...page });
    return { status, body };
  };
  const answer = (content_hash_differs: boolean) => ({
    status: 200,
    body: { page_id: id, status: 'indexed', revisit: true, content_hash_differs },
  });
  assert.deepEqual(await revisit({ fetched_at: '2024-06-01T00:00:00Z' }), answer(false));
  assert.deepEqual(await revisit({ ...first, url, fetched_at: '2024-02-01T00:00:00Z' }), answer(false));
  assert.deepEqual(
    await revisit({ title: 'Second', body_extracted: 'Second body.', fetched_at: '2024-04-01T00:00:00Z' }),
    answer(true),
  );
  const { body } = await get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual(
    [body.visit_count, body.title, body.body_text, body.first_seen_at, body.last_seen_at],
    [4, 'First', 'First body.', iso('2024-02-01T00:00:00Z'), iso('2024-06-01T00:00:00Z')],
  );
});

test('a hundred simultaneous posts of one page in a hundred forms are one page, one job and ninety-nine revisits', async () => {
  const url = 'https://crowd.example/page';
  const jobsBefore = (await get<JobListResponse>('/v1/jobs?limit=1000&kind=index_page')).body.jobs.length;
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, no) =>
      post<Accepted>('/v1/pages', {
        url: no % 2 === 0 ? `${url}?utm_term=${no}` : `${url}?fbclid=${no}&utm_source=s#part-${no}`,
        body_extracted: 'A crowd of one.',
      }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 202).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 99);
  const ids = new Set(answers.map(({ body }) => body.page_id));
  assert.equal(ids.size, 1);
  const [id] = ids;
  assert.equal((await get<PageResponse>(`/v1/pages/${id}`)).body.visit_count, 100);
  assert.equal((await get<JobListResponse>('/v1/jobs?limit=1000&kind=index_page')).body.jobs.length, jobsBefore + 1);
});

test('what cannot be ingested is 422, and the reason of an ingest rule is a sentence', async () => {
  const detailOf = async (page: unknown) => {
    const { status, body } = await post<{ detail: string | { loc: (string | number)[] }[] }>('/v1/pages', page);
    assert.equal(status, 422);
    return typeof body.detail === 'string' ? body.detail : body.detail.map(({ loc }) => loc.join('.'));
  };
  const url = 'https://wrong.example/';
  assert.match(String(await detailOf({ url, body_extracted: 'a', body_html: '<p>a' })), /body_extracted.*body_html/);
  for (const bad of ['wrong.example/page', '/page', 'https://', 'page', '', 'mailto:a@b.example', 'http:///path']) {
    assert.equal(typeof (await detailOf({ url: bad })), 'string', bad);
  }
  assert.deepEqual(await detailOf({ url, fetched_at: '2024-05-01T12:00:00' }), ['body.fetched_at']);
  assert.deepEqual(await detailOf({ url, titel: 'x' }), ['body.titel']);
  assert.deepEqual(await detailOf({ title: 'x' }), ['body.url']);
  assert.deepEqual(await detailOf({ url, metadata: ['a'] }), ['body.metadata']);
  assert.deepEqual(await detailOf({ url, metadata: 'a' }), ['body.metadata']);
  assert.equal((await search({ query: 'https://wrong.example/' })).results.length, 0, 'nothing was ingested');
});

test('the text of HTML is extracted before the answer, and a page without text is indexed with no chunks', async () => {
  const id = await add({
    url: 'https://html.example/story',
    body_html: `<html><head><title>Herons at dawn</title></head><body><nav>Home About Contact</nav><article><h1>Herons at dawn</h1>
<p>${'The heron stands in the shallow water and waits for the light. '.repeat(8)}</p><h2>What it eats</h2>
<p>${'It eats frogs, and eels where there are any left in the river. '.repeat(8)}</p></article></body></html>`,
  });
  const { body: page } = await get<PageResponse>(`/v1/pages/${id}`);
  assert.equal(page.title, 'Herons at dawn');
  assert.match(page.body_text ?? '', /stands in the shallow water/);
  assert.doesNotMatch(page.body_text ?? '', /<p>|Contact/);
  await service.settled([id]);
  const { body } = await get<PageChunksResponse>(`/v1/pages/${id}/chunks`);
  assert.ok(body.chunks.some(({ section_title }) => section_title === 'What it eats'));

  const empty = await addIndexed({ url: 'https://html.example/empty', body_html: '<html><body></body></html>' });
  assert.deepEqual((await get<PageChunksResponse>(`/v1/pages/${empty}/chunks`)).body, { page_id: empty, chunks: [] });
  assert.equal((await get<PageResponse>(`/v1/pages/${empty}`)).body.body_text, '');
});

test('chunks are slices of the body in order, no longer than the limit', async () => {
  const text = Array.from(
    { length: 400 },
    (_, no) => `Sentence ${no} tells of the harbour, of ropes and of weather that changes 🌧 quickly.`,
  ).join(' ');
  const id = await addIndexed({ url: 'https://chunks.example/', body_extracted: text });
  const { body } = await get<PageChunksResponse>(`/v1/pages/${id}/chunks`);
  assert.equal(body.page_id, id);
  assert.ok(body.chunks.length > 5);
  body.chunks.forEach((chunk, place) => {
    assert.match(chunk.chunk_id, /^ck_/);
    assert.equal(chunk.ordinal, place);
    assert.equal(chunk.text, text.slice(chunk.char_start, chunk.char_end));
    assert.ok(chunk.token_count > 0 && chunk.token_count <= 512);
    assert.deepEqual([chunk.section_title, chunk.section_start_s], [null, null]);
  });
  const [first] = body.chunks;
  const last = body.chunks[body.chunks.length - 1];
  assert.deepEqual([first.char_start, last.char_end], [0, text.length]);
  for (let place = 1; place < body.chunks.length; place++) {
    assert.ok(body.chunks[place].char_start <= body.chunks[place - 1].char_end + 1, 'no text is left out');
  }
});

test('a batch is answered item by item in its order, and a bad item stops nobody', async () => {
  const url = 'https://batch.example/';
  const known = await addIndexed({ url: `${url}known`, body_extracted: 'Known.' });
  const { status, body } = await post<{ results: IngestBatchResult[] }>('/v1/pages/batch', {
    pages: [
      { url: `${url}1`, body_extracted: 'One.' },
      { url: 'no address' },
      { url: `${url}known?utm_source=b`, body_extracted: 'Known otherwise.' },
      'not an object',
      { url: `${url}1?gclid=1`, body_extracted: 'One.' },
      { url: `${url}2`, unknown_field: 1 },
      { url: `${url}1`, body_extracted: 'One, changed.' },
      { url: `${url}3`, body_extracted: 'a', body_html: '<p>b' },
      null,
    ],
  });
  assert.equal(status, 200);
  const [first] = body.results;
  assert.ok(first.outcome === 'accepted');
  const { page_id } = first;
  const details = body.results.map((result) => ('detail' in result ? result.detail : ''));
  const rejected = (index: number) => ({ outcome: 'rejected', index, detail: details[index] });
  const revisit = { outcome: 'revisit', revisit: true, content_hash_differs: false };
  assert.deepEqual(body.results, [
    { outcome: 'accepted', index: 0, page_id, status: 'queued' },
    rejected(1),
    { ...revisit, index: 2, page_id: known, status: 'indexed', content_hash_differs: true },
    rejected(3),
    { ...revisit, index: 4, page_id, status: 'queued' },
    rejected(5),
    { ...revisit, index: 6, page_id, status: 'queued', content_hash_differs: true },
    rejected(7),
    rejected(8),
  ]);
  for (const index of [1, 3, 5, 7, 8]) assert.ok(details[index].length > 5, `item ${index} is told why`);
  assert.match(details[5], /unknown_field/);
  await service.settled([page_id]);
  const page = (await get<PageResponse>(`/v1/pages/${page_id}`)).body;
  assert.deepEqual([page.visit_count, page.body_text], [3, 'One.']);
});

test('a batch holds 1 to 100 pages and a status batch 1 to 500 ids', async () => {
  const pages = (count: number) => Array.from({ length: count }, (_, no) => ({ url: `bad ${no}` }));
  assert.equal((await post('/v1/pages/batch', { pages: [] })).status, 422);
  assert.equal((await post('/v1/pages/batch', { pages: pages(101) })).status, 422);
  assert.equal((await post('/v1/pages/batch', { pages: pages(100) })).status, 200);
  assert.equal((await post('/v1/pages/batch', { pages: {} })).status, 422);
  const ids = (count: number) => Array.from({ length: count }, (_, no) => `pg_${no}`);
  assert.equal((await post('/v1/pages/status/batch', { page_ids: [] })).status, 422);
  assert.equal((await post('/v1/pages/status/batch', { page_ids: ids(501) })).status, 422);
  assert.equal((await post('/v1/pages/status/batch', { page_ids: ids(500) })).status, 200);
});

test('status is told of one page and of many, each once and in the order first asked for', async () => {
  const id = await addIndexed({ url: 'https://status.example/', body_extracted: 'A status.' });
  const features = { entities: { status: 'done', last_error: null } };
  await until(
    async () => (await get<PageStatusResponse>(`/v1/pages/${id}/status`)).body.features?.entities?.status === 'done',
    'its entities were read',
  );
  const status = { page_id: id, status: 'indexed', last_error: null, features };
  assert.deepEqual((await get(`/v1/pages/${id}/status`)).body, status);
  const { body } = await post<PageStatusBatchResponse>('/v1/pages/status/batch', {
    page_ids: ['pg_zzz', id, 'pg_zzz', id, ''],
  });
  assert.deepEqual(body, {
    results: [
      { page_id: 'pg_zzz', found: false },
      { ...status, found: true },
      { page_id: '', found: false },
    ],
  });
});

test('an unknown page is 404 wherever it is asked for', async () => {
  for (const id of ['pg_00000000', 'pg_zzzzzzzz', 'nonsense', 'jb_00000001', '%00', 'x'.repeat(900)]) {
    for (const path of ['', '/chunks', '/status']) {
      const { status, body } = await get<{ detail: unknown }>(`/v1/pages/${id}${path}`);
      assert.equal(status, 404, `${id}${path}`);
      assert.equal(typeof body.detail, 'string');
    }
  }
});

test('a page without a body waits for its fetch, and a retry brings it back from the dead', async () => {
  const id = await add({ url: 'http://127.0.0.1:9/nowhere/page' });
  assert.deepEqual(await service.settled([id]), ['dead']);
  const { body: page } = await get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([page.body_text, page.indexed_at, page.status], [null, null, 'dead']);
  const { body: status } = await get<PageStatusResponse>(`/v1/pages/${id}/status`);
  assert.equal(status.status, 'dead');
  assert.ok((status.last_error ?? '').length > 10, 'the reason is told');

  const { jobs } = (await get<JobListResponse>('/v1/jobs?kind=fetch_and_index&status=dead&limit=1')).body;
  const [job] = jobs;
  assert.deepEqual(job, {
    job_id: job.job_id,
    kind: 'fetch_and_index',
    status: 'dead',
    attempts: 1,
    max_attempts: 1,
    last_error: status.last_error,
    created_at: job.created_at,
    updated_at: job.updated_at,
  });
  const { status: code, body: retried } = await post<JobResponse>(`/v1/jobs/${job.job_id}/retry`, undefined);
  assert.equal(code, 200);
  assert.deepEqual(
    [retried.job_id, retried.status, retried.attempts, retried.last_error],
    [job.job_id, 'pending', 0, null],
  );
  assert.deepEqual(await service.settled([id]), ['dead']);
});

test('a page whose fetch died stays dead when a visit brings nothing new', async () => {
  const url = 'http://127.0.0.1:9/nowhere/again';
  const id = await add({ url });
  await service.settled([id]);
  const { status, body } = await post('/v1/pages', { url });
  assert.deepEqual(
    { status, body },
    { status: 200, body: { page_id: id, status: 'dead', revisit: true, content_hash_differs: false } },
  );
});

test('only dead jobs are retried: one by one, by ids and by selection', async () => {
  const id = await addIndexed({ url: 'https://retry.example/', body_extracted: 'Done.' });
  const { jobs: done } = (await get<JobListResponse>('/v1/jobs?status=done&limit=1')).body;
  assert.equal((await post(`/v1/jobs/${done[0].job_id}/retry`, undefined)).status, 409);
  assert.equal((await post('/v1/jobs/jb_zzzzzzzz/retry', undefined)).status, 404);
  assert.equal((await post(`/v1/jobs/${id}/retry`, undefined)).status, 404);

  const dead = await Promise.all([1, 2, 3].map((no) => add({ url: `http://127.0.0.1:9/nowhere/dead-${no}` })));
  await service.settled(dead);
  const { jobs } = (await get<JobListResponse>('/v1/jobs?status=dead&limit=3')).body;
  const [a, b] = jobs.map(({ job_id }) => job_id);
  const { body } = await post<JobRetryBatchResponse>('/v1/jobs/retry', {
    job_ids: [a, 'jb_zzzzzzzz', done[0].job_id, a, b, 'jb_zzzzzzzz'],
  });
  assert.deepEqual([body.requested, body.retried], [4, 2]);
  assert.deepEqual(
    body.results.map((result) => [result.job_id, result.outcome]),
    [
      [a, 'retried'],
      ['jb_zzzzzzzz', 'not_found'],
      [done[0].job_id, 'skipped'],
      [b, 'retried'],
    ],
  );
  assert.deepEqual(body.results[2], {
    job_id: done[0].job_id,
    status: 'done',
    outcome: 'skipped',
    detail: 'detail' in body.results[2] ? body.results[2].detail : '',
  });
  await service.settled(dead);
  const deadJobs = (await get<JobListResponse>('/v1/jobs?status=dead&limit=1000')).body.jobs;
  assert.deepEqual((await post('/v1/jobs/retry', { job_ids: [] })).body, { requested: 0, retried: 0, results: [] });
  assert.deepEqual((await post('/v1/jobs/retry', { kind: 'index_page' })).body, {
    requested: 0,
    retried: 0,
    results: [],
  });
  const selected = await post<JobRetryBatchResponse>('/v1/jobs/retry', { kind: 'fetch_and_index', limit: 2 });
  assert.deepEqual([selected.body.requested, selected.body.retried], [2, 2]);
  await service.settled(dead);
  await until(
    async () => (await get<JobListResponse>('/v1/jobs?status=dead&limit=1000')).body.jobs.length === deadJobs.length,
    'all are dead again',
  );
  const all = await post<JobRetryBatchResponse>('/v1/jobs/retry', undefined);
  assert.deepEqual([all.status, all.body.retried], [200, Math.min(100, deadJobs.length)]);
  await service.settled(dead);
  assert.equal((await post('/v1/jobs/retry', { status: 'done' })).status, 422);
  assert.equal((await post('/v1/jobs/retry', { limit: 501 })).status, 422);
  assert.equal((await post('/v1/jobs/retry', { job_ids: Array.from({ length: 501 }, () => 'jb_1') })).status, 422);
});

test('jobs are listed newest first, filtered by status and kind, and never under two names of one filter', async () => {
  const { jobs } = (await get<JobListResponse>('/v1/jobs?limit=1000')).body;
  const ids = jobs.map(({ job_id }) => job_id);
  assert.deepEqual(ids, [...ids].sort().reverse());
  const done = (await get<JobListResponse>('/v1/jobs?status_filter=done&kind=index_page&limit=1000')).body.jobs;
  assert.deepEqual(
    done.map(({ job_id }) => job_id),
    jobs.filter(({ status, kind }) => status === 'done' && kind === 'index_page').map(({ job_id }) => job_id),
  );
  assert.equal((await get<JobListResponse>('/v1/jobs?limit=2')).body.jobs.length, 2);
  for (const query of ['status=done&status_filter=done', 'status=finished', 'kind=dance', 'limit=0', 'limit=1001']) {
    const { status, body } = await get<{ detail: { loc: string[]; msg: string; type: string }[] }>(`/v1/jobs?${query}`);
    assert.equal(status, 422, query);
    assert.equal(body.detail[0].loc[0], 'query');
  }
  assert.deepEqual((await get('/v1/jobs?kind=poll_watch&other=1')).body, { jobs: [] });
});

test('a search answers with passages that were read, best page first, and no page twice', async () => {
  const base = 'https://whales.example/';
  const text = 'Grey whales travel from the lagoons of Baja California to the Arctic every spring.';
  const ids = [];
  for (let no = 0; no < 5; no++) {
    ids.push(await add({ url: base + no, title: `Whales ${no}`, body_extracted: `${text} `.repeat(40 * (no + 1)) }));
  }
  await service.settled(ids);
  const found = await search({
    query: 'grey whales lagoons',
    chunks_per_page: 2,
    filters: { domain: 'whales.example' },
  });
  assert.match(found.query_id, /\S/);
  assert.deepEqual([...idsOf(found)].sort(), [...ids].sort());
  assert.deepEqual([found.offset, found.has_more], [0, false]);
  assert.ok(Array.isArray(found.suggestions));
  assert.ok(Object.values(found.timing_ms).every((ms) => typeof ms === 'number'));
  const scores = found.results.map(({ score }) => score);
  assert.deepEqual(
    scores,
    [...scores].sort((x, y) => y - x),
  );
  for (const result of found.results) {
    const { body: page } = await get<PageResponse>(`/v1/pages/${result.page_id}`);
    const { chunks } = (await get<PageChunksResponse>(`/v1/pages/${result.page_id}/chunks`)).body;
    assert.deepEqual(
      [result.canonical_url, result.title, result.domain, result.first_seen_at, result.visit_count, result.cluster],
      [page.canonical_url, page.title, page.domain, page.first_seen_at, page.visit_count, null],
    );
    assert.ok(result.chunks.length >= 1 && result.chunks.length <= 2);
    for (const { chunk_id, ordinal, text: passage } of result.chunks) {
      assert.deepEqual([chunk_id, passage], [chunks[ordinal].chunk_id, chunks[ordinal].text]);
    }
  }
  const none = await search({
    query: 'grey whales lagoons',
    chunks_per_page: 0,
    filters: { domain: 'whales.example' },
  });
  assert.deepEqual(idsOf(none), idsOf(found));
  assert.ok(none.results.every(({ chunks }) => chunks.length === 0));
  const pages: string[] = [];
  for (let offset = 0; offset < 5; offset += 2) {
    const page = await search({ query: 'grey whales lagoons', k: 2, offset, filters: { domain: 'whales.example' } });
    assert.deepEqual([page.offset, page.has_more], [offset, offset + 2 < 5]);
    pages.push(...idsOf(page));
  }
  assert.deepEqual(pages, idsOf(found));
  const past = await search({ query: 'grey whales lagoons', offset: 5000 });
  assert.deepEqual([past.results, past.has_more, past.offset], [[], false, 5000]);
});

test('a search for words that nobody knows finds nothing', async () => {
  for (const query of ['xqzzyvkw', 'qqqqxxzz wwkkpptt', '???', '   ', '🜁']) {
    const { results, has_more, suggestions } = await search({ query });
    assert.deepEqual({ results, has_more, suggestions }, { results: [], has_more: false, suggestions: [] }, query);
  }
});

test('filters keep to a domain with its subdomains, and to the time of the visits', async () => {
  const body_extracted = 'The quarry workers of the slate valley kept bees.';
  const page = async (url: string, fetched_at: string) => addIndexed({ url, body_extracted, fetched_at });
  const old = await page('https://slate.example/old', '2020-01-01T00:00:00Z');
  const young = await page('https://www.slate.example/young', '2022-01-01T00:00:00Z');
  const other = await page('https://notslate.example/other', '2021-01-01T00:00:00Z');
  await post('/v1/pages', { url: 'https://slate.example/old', fetched_at: '2023-01-01T00:00:00Z' });
  const found = async (filters: Record<string, unknown>) =>
    idsOf(await search({ query: 'slate quarry bees', filters }))
      .filter((id) => [old, young, other].includes(id))
      .sort();
  assert.deepEqual(await found({ domain: 'slate.example' }), [old, young].sort());
  assert.deepEqual(await found({ domain: 'WWW.slate.example' }), [young]);
  assert.deepEqual(await found({ domain: 'late.example' }), []);
  assert.deepEqual(await found({ after: '2022-06-01T00:00:00Z' }), [old], 'last seen');
  assert.deepEqual(await found({ before: '2021-01-01T00:00:00Z' }), [old], 'first seen, the end is not in it');
  assert.deepEqual(await found({ before: '2021-01-01T01:00:00+01:00', after: '2020-01-01T00:00:00Z' }), [old]);
  assert.deepEqual(
    await found({ domain: null, after: null, before: null, cluster_id: null, entity: null }),
    [old, young, other].sort(),
  );
  assert.deepEqual(await found({ cluster_id: 'unknown' }), []);
  assert.equal((await post('/v1/search', { query: 'slate', filters: { entity: 'Nobody' } })).status, 404);
  assert.equal((await post('/v1/search', { query: 'slate', filters: { after: '2022-06-01' } })).status, 422);
  assert.equal((await post('/v1/search', { query: 'slate', filters: { colour: 'grey' } })).status, 422);
});

test('the title, the address and a quoted phrase are exact matches, and the first two come first', async () => {
  const exact = await addIndexed({
    url: 'https://exact.example/ferns',
    title: 'On Ferns  and Their Spores',
    body_extracted: 'Nothing here names the plant, but the small print says: dust upon the leaf.',
  });
  for (let no = 0; no < 3; no++) {
    await addIndexed({
      url: `https://exact.example/${no}`,
      title: `Ferns ${no}`,
      body_extracted: `${'On ferns and their spores, again: ferns, ferns and spores. '.repeat(5)} ${no}`,
    });
  }
  for (const query of [
    'on ferns and THEIR spores',
    '"On Ferns and Their Spores"',
    'https://exact.example/ferns?utm_source=x',
  ]) {
    for (const rerank of [true, false]) {
      const { results } = await search({ query, rerank });
      assert.deepEqual([results[0].page_id, results[0].exact_match], [exact, true], query);
    }
  }
  const { results } = await search({ query: 'plant "Dust upon  the leaf"' });
  assert.equal(results.find(({ page_id }) => page_id === exact)?.exact_match, true);
  assert.ok((await search({ query: 'ferns spores' })).results.every(({ exact_match }) => !exact_match));
});

test('a page can be searched by the time its status says indexed', async () => {
  for (let no = 0; no < 10; no++) {
    const word = `bdg${'bcdfghjklm'[no]}qx`;
    const id = await add({ url: `https://prompt.example/${no}`, body_extracted: `The secret word is ${word}.` });
    await until(
      async () => (await get<PageStatusResponse>(`/v1/pages/${id}/status`)).body.status === 'indexed',
      'indexed',
    );
    assert.deepEqual(idsOf(await search({ query: word })), [id]);
  }
});

test('search refuses what is out of bounds', async () => {
  const wrong: Record<string, unknown>[] = [
    {},
    { query: '' },
    { query: 'x'.repeat(4001) },
    { query: 'x', k: 0 },
    { query: 'x', k: 101 },
    { query: 'x', k: 1.5 },
    { query: 'x', k: '10' },
    { query: 'x', offset: -1 },
    { query: 'x', candidates: 0 },
    { query: 'x', candidates: 1001 },
    { query: 'x', chunks_per_page: 11 },
    { query: 'x', rollup: 'min' },
    { query: 'x', rollup_m: 21 },
    { query: 'x', rrf_k: 0 },
    { query: 'x', suggest: 11 },
    { query: 'x', mediation: 'magic' },
    { query: 'x', recency_half_life_days: 0 },
    { query: 'x', queries: ['x'] },
  ];
  for (const request of wrong)
    assert.equal((await post('/v1/search', request)).status, 422, JSON.stringify(request).slice(0, 80));
  const widest = {
    query: 'whale '.repeat(666),
    k: 100,
    candidates: 1000,
    chunks_per_page: 10,
    rollup_m: 20,
    suggest: 10,
  };
  for (const rollup of ['max', 'mean_top_m', 'sum_rrf']) {
    for (const mediation of ['vector', 'cluster', 'entity']) await search({ ...widest, rollup, mediation });
  }
});

test('tokens: none or a wrong one is 401, a reader may not write, and each is told who it is', async () => {
  const unauthenticated = { status: 401, body: { detail: 'missing or invalid bearer token' } };
  for (const token of [null, 'wrong', readToken.slice(0, -1), `${readToken}x`]) {
    for (const [method, path] of [
      ['GET', '/v1/whoami'],
      ['POST', '/v1/search'],
      ['GET', '/metrics'],
      ['GET', '/v1/none'],
    ]) {
      const { status, body } = await service.call(method, path, method === 'POST' ? {} : undefined, { token });
      assert.deepEqual({ status, body }, unauthenticated, `${method} ${path}`);
    }
  }
  const asReader = { token: readToken };
  assert.deepEqual((await service.call('GET', '/v1/whoami', undefined, asReader)).body, {
    name: 'phone',
    scopes: ['read'],
  });
  assert.equal((await service.call('POST', '/v1/search', { query: 'whale' }, asReader)).status, 200);
  for (const path of ['/v1/pages', '/v1/pages/batch', '/v1/jobs/retry', '/v1/jobs/jb_1/retry']) {
    const { status, body } = await service.call('POST', path, {}, asReader);
    assert.deepEqual({ status, body }, { status: 403, body: { detail: 'token lacks required scope: write' } }, path);
  }
  assert.equal((await service.call('POST', '/v1/pages/status/batch', { page_ids: ['pg_1'] }, asReader)).status, 200);
});

test('health and readiness are public, and the metrics count what came in', async () => {
  const anonymous = { token: null };
  assert.deepEqual((await service.call('GET', '/healthz', undefined, anonymous)).body, { status: 'ok' });
  assert.deepEqual((await service.call('GET', '/readyz', undefined, anonymous)).body, {
    status: 'ready',
    features: { batch_ingest: true, batch_status: true },
  });
  const counted = async () => {
    const { body, headers } = await get<string>('/metrics');
    assert.match(headers.get('content-type') ?? '', /^text\/plain/);
    return (outcome: string) =>
      Number(new RegExp(`^ingest_pages_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)?.[1]);
  };
  const earlier = await counted();
  const page = { url: 'https://metrics.example/', body_extracted: 'Counted.' };
  await post('/v1/pages', page);
  await post('/v1/pages/batch', { pages: [page, { url: 'bad' }, { ...page, url: 'https://metrics.example/2' }] });
  const later = await counted();
  assert.deepEqual(
    ['queued', 'revisit', 'blacklisted'].map((outcome) => later(outcome) - earlier(outcome)),
    [2, 1, 0],
  );
});

test('bodies: broken JSON is 422, too large ones 413, and text comes back exactly as it went in', async () => {
  assert.equal((await post('/v1/pages', '{"url": ')).status, 422);
  assert.equal(
    (await post('/v1/pages', '{"url": "https://proto.example/", "__proto__": {"admin": true}}')).status,
    422,
  );
  const large = { url: 'https://large.example/', body_extracted: 'x'.repeat(16 * 1024 * 1024) };
  assert.equal((await post('/v1/pages', large)).status, 413);
  const exact =
    'Ünïcödé\u0000 null, \u202eright to left\u202c, tabs\t, emoji 👩‍👩‍👧, 漢字かな交じり文, \r\n line ends\r\n';
  const metadata = {
    'a.b': '\u0000',
    empty: {},
    list: [[], [{}]],
    number: 1.5e300,
    '': null,
    constructor: { prototype: 1 },
  };
  const id = await addIndexed({ url: 'https://exact.example/text', title: exact, body_extracted: exact, metadata });
  const { body } = await get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([body.title, body.body_text, body.metadata], [exact, exact, metadata]);
});

test('a forget answers with its rule, which is listed, refuses its target, and can be taken away', async () => {
  const url = 'https://forget.example/one';
  const id = await addIndexed({ url, body_extracted: 'Soon nobody knows this.' });
  const { status, body } = await post<ForgetResponse>('/v1/forget', { url: `${url}?utm_source=x`, reason: 'private' });
  const { blacklist_id, ...rest } = body;
  assert.equal(status, 200);
  assert.match(blacklist_id, /^bl_/);
  assert.deepEqual(rest, { pattern: url, kind: 'url', pages_purged: 1, vector_deletes_queued: 1 });
  assert.equal((await get(`/v1/pages/${id}`)).status, 404);
  assert.equal((await get(`/v1/pages/${id}/chunks`)).status, 404);
  const domain = await post<ForgetResponse>('/v1/forget', { domain: 'Other.Forget.example' });
  const { entries } = (await get<BlacklistResponse>('/v1/blacklist')).body;
  assert.deepEqual(
    entries.slice(0, 2).map(({ created_at, ...entry }) => [entry, Number.isNaN(Date.parse(created_at))]),
    [
      [{ id: domain.body.blacklist_id, pattern: 'other.forget.example', kind: 'domain', reason: null }, false],
      [{ id: blacklist_id, pattern: url, kind: 'url', reason: 'private' }, false],
    ],
  );
  const refused = await post('/v1/pages', { url, body_extracted: 'again' });
  assert.deepEqual([refused.status, refused.body], [403, { error: 'blacklisted', pattern: url }]);
  assert.equal((await post('/v1/pages', { url: `${url}/below`, body_extracted: 'another page' })).status, 202);
  for (const wrong of [
    {},
    { url, domain: 'a.example' },
    { url: null, domain: null },
    { domain: 'co.uk' },
    { url, x: 1 },
  ]) {
    assert.equal((await post('/v1/forget', wrong)).status, 422, JSON.stringify(wrong));
  }
  const take = () => service.call('DELETE', `/v1/blacklist/${blacklist_id}`);
  const taken = await take();
  assert.deepEqual([taken.status, taken.body], [204, '']);
  assert.equal((await take()).status, 404);
  assert.equal((await get(`/v1/pages/${id}`)).status, 404);
  assert.equal((await post('/v1/pages', { url, body_extracted: 'Read again.' })).status, 202);
});
