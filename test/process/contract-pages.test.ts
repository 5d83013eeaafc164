/** Contract section: Pages. Ingest of one and of many, revisits, chunks, status, bodies, forgetting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlacklistResponse, ForgetResponse } from '../../src/domain/blacklist.ts';
import type { JobListResponse } from '../../src/domain/job.ts';
import type {
  IngestBatchResult,
  PageChunksResponse,
  PageListResponse,
  PageResponse,
  PageStatusBatchResponse,
  PageStatusResponse,
} from '../../src/domain/page.ts';
import type { SimilarResponse } from '../../src/domain/search.ts';
import { noDetails } from '../rows.ts';
import { until, withEntities } from './service.ts';
import { type Accepted, sharedService } from './shared-service.ts';

/** One attempt, so that a page which cannot be fetched is dead at once. */
const shared = sharedService({ ...withEntities, SERVICE_JOBS__MAX_ATTEMPTS: '1' });
const iso = (text: string) => new Date(text).toISOString();

test('a new page is stored as it came, under its canonical URL, and dated by its fetch', async () => {
  const url = 'HTTPS://News.Example:443/Story/1?utm_source=mail&id=7&fbclid=x&gclid=y&ref=z&si=s#top';
  const metadata = { tags: ['a', 1, null], nested: { deep: true } };
  const began = Date.now();
  const id = await shared.addIndexed({
    url,
    title: 'A story of tides',
    body_extracted: 'Tides rise and fall twice a day.',
    fetched_at: '2024-05-01T12:00:00+02:00',
    source: 'history import',
    metadata,
  });
  const { status, body } = await shared.get<PageResponse>(`/v1/pages/${id}`);
  assert.equal(status, 200);
  const indexedAt = Date.parse(body.indexed_at ?? '');
  assert.ok(indexedAt >= began && indexedAt <= Date.now());
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
    cluster: null,
    headings: [],
    ...noDetails,
    read_minutes: 1,
  });
});

test('who wrote a page, when, where and in which language is told wherever the page is', async () => {
  const details = {
    author: 'Ada Lovelace',
    published_at: iso('2024-04-30T22:00:00Z'),
    language: 'en-GB',
    site_name: 'Notes',
    read_minutes: 2,
  };
  const url = 'https://known.example/engine';
  const body_extracted =
    'The analytical engine weaves algebraic patterns as the loom of Jacquard weaves flowers. '.repeat(40);
  const metadata = {
    author: { name: 'Ada Lovelace' },
    published_at: '2024-05-01T00:00:00+02:00',
    lang: 'en_gb',
    site_name: 'Notes',
  };
  const id = await shared.addIndexed({ url, title: 'Engines', body_extracted, metadata });
  const like = { url: `${url}/2`, title: 'Looms', body_extracted: `${body_extracted} And so on.` };
  const other = await shared.addIndexed(like);
  const told = (page: object) => Object.fromEntries(Object.keys(details).map((key) => [key, Reflect.get(page, key)]));
  const listed = await shared.found<PageListResponse>(`/v1/pages?url=${encodeURIComponent(url)}`);
  const similar = await shared.found<SimilarResponse>(`/v1/pages/${other}/similar`);
  const { results } = await shared.search({ query: 'Engines' });
  assert.deepEqual(
    [await shared.found<PageResponse>(`/v1/pages/${id}`), listed.pages[0], similar.results[0], results[0]].map(told),
    [details, details, details, details],
  );
  assert.match(
    results[0].chunks[0].link,
    /^https:\/\/known\.example\/engine#:~:text=The%20analytical%20engine%20weaves/,
  );
});

test('fields that are left out are null, and the server dates the page', async () => {
  const began = Date.now();
  const id = await shared.addIndexed({ url: 'https://bare.example/', body_extracted: 'Only a body.' });
  const { body } = await shared.get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([body.title, body.source, body.metadata], [null, null, null]);
  const seen = Date.parse(body.first_seen_at);
  assert.ok(seen >= began && seen <= Date.now());
  assert.equal(body.first_seen_at, body.last_seen_at);
});

async function visitsOf(url: string) {
  const { pages } = await shared.found<PageListResponse>(`/v1/pages?url=${encodeURIComponent(url)}&visits=true`);
  const [{ visit_count, first_seen_at, last_seen_at, visits }] = pages;
  return { visit_count, first_seen_at, last_seen_at, visits };
}

test('visits are counted, each with its time', async () => {
  const url = 'https://visited.example/';
  const visit = async (fetched_at: string) =>
    shared.post('/v1/pages', { url, body_extracted: 'Often read.', fetched_at });
  await shared.addIndexed({ url, body_extracted: 'Often read.', fetched_at: '2024-03-02T00:00:00Z' });
  const visits = () => visitsOf(url);
  const [first, once, last] = ['2024-03-01', '2024-03-02', '2024-03-05'].map((day) => iso(`${day}T00:00:00Z`));
  assert.deepEqual(await visits(), { visit_count: 1, first_seen_at: once, last_seen_at: once, visits: [once] });
  await visit(last);
  await visit(first);
  assert.deepEqual(await visits(), {
    visit_count: 3,
    first_seen_at: first,
    last_seen_at: last,
    visits: [last, once, first],
  });
});

test('a revisit counts, widens the dates, keeps the content and says whether the body differs', async () => {
  const url = 'https://again.example/a';
  const first = { url, title: 'First', body_extracted: 'First body.', fetched_at: '2024-03-01T00:00:00Z' };
  const id = await shared.addIndexed(first);
  const revisit = async (page: Record<string, unknown>) => {
    const { status, body } = await shared.post<unknown>('/v1/pages', { url: `${url}?utm_campaign=x`, ...page });
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
  const { body } = await shared.get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual(
    [body.visit_count, body.title, body.body_text, body.first_seen_at, body.last_seen_at],
    [4, 'First', 'First body.', iso('2024-02-01T00:00:00Z'), iso('2024-06-01T00:00:00Z')],
  );
});

test('with `once` a visit counts once however often it is handed in: the first, the last, and each in the middle of others', async () => {
  const url = 'https://again.example/unanswered';
  const visit = (day: number) => ({
    url,
    body_extracted: 'Read now and then.',
    fetched_at: `2024-05-0${day}T08:00:00Z`,
  });
  await shared.addIndexed({ ...visit(1), once: true });
  const handIn = async (...days: number[]) => {
    const pages = days.map((day) => ({ ...visit(day), once: true }));
    const { body } = await shared.post<{ results: IngestBatchResult[] }>('/v1/pages/batch', { pages });
    assert.deepEqual(new Set(body.results.map(({ outcome }) => outcome)), new Set(['revisit']));
    const { visit_count, visits = [] } = await visitsOf(url);
    return [visit_count, ...visits.map((at) => at.slice(8, 10))];
  };
  assert.deepEqual(await handIn(2, 5, 3), [4, '05', '03', '02', '01']);
  const all = ['05', '04', '03', '02', '01'];
  // The answer was lost: all of them come again, with what was read in between, and some alone.
  assert.deepEqual(await handIn(2, 5, 3, 4), [5, ...all]);
  for (const day of [1, 2, 3, 4, 5]) await handIn(day);
  assert.deepEqual(await handIn(3, 3, 2), [5, ...all]);
  // Who does not ask for it counts each time.
  await shared.post('/v1/pages', visit(3));
  assert.deepEqual(await handIn(3), [6, ...all]);
});

test('a hundred simultaneous posts of one page in a hundred forms are one page, one job and ninety-nine revisits', async () => {
  const url = 'https://crowd.example/page';
  const jobsBefore = (await shared.get<JobListResponse>('/v1/jobs?limit=1000&kind=index_page')).body.jobs.length;
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, no) =>
      shared.post<Accepted>('/v1/pages', {
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
  assert.equal((await shared.get<PageResponse>(`/v1/pages/${id}`)).body.visit_count, 100);
  assert.equal(
    (await shared.get<JobListResponse>('/v1/jobs?limit=1000&kind=index_page')).body.jobs.length,
    jobsBefore + 1,
  );
});

test('what cannot be ingested is 422, and the reason of an ingest rule is a sentence', async () => {
  const detailOf = async (page: unknown) => {
    const { status, body } = await shared.post<{ detail: string | { loc: (string | number)[] }[] }>('/v1/pages', page);
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
  assert.equal((await shared.search({ query: 'https://wrong.example/' })).results.length, 0, 'nothing was ingested');
});

test('the text of HTML is extracted before the answer, and a page without text is indexed with no chunks', async () => {
  const id = await shared.addPage({
    url: 'https://html.example/story',
    body_html: `<html><head><title>Herons at dawn</title></head><body><nav>Home About Contact</nav><article><h1>Herons at dawn</h1>
<p>${'The heron stands in the shallow water and waits for the light. '.repeat(8)}</p><h2>What it eats</h2>
<p>${'It eats frogs, and eels where there are any left in the river. '.repeat(8)}</p></article></body></html>`,
  });
  const { body: page } = await shared.get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([page.title, page.headings], ['Herons at dawn', ['What it eats']]);
  assert.match(page.body_text ?? '', /stands in the shallow water/);
  assert.doesNotMatch(page.body_text ?? '', /<p>|Contact/);
  await shared.service.settled([id]);
  const { body } = await shared.get<PageChunksResponse>(`/v1/pages/${id}/chunks`);
  assert.ok(body.chunks.some(({ section_title }) => section_title === 'What it eats'));

  const empty = await shared.addIndexed({ url: 'https://html.example/empty', body_html: '<html><body></body></html>' });
  assert.deepEqual((await shared.get<PageChunksResponse>(`/v1/pages/${empty}/chunks`)).body, {
    page_id: empty,
    chunks: [],
  });
  assert.equal((await shared.get<PageResponse>(`/v1/pages/${empty}`)).body.body_text, '');
});

test('chunks are slices of the body in order, no longer than the limit', async () => {
  const text = Array.from(
    { length: 400 },
    (_, no) => `Sentence ${no} tells of the harbour, of ropes and of weather that changes 🌧 quickly.`,
  ).join(' ');
  const id = await shared.addIndexed({ url: 'https://chunks.example/', body_extracted: text });
  const { body } = await shared.get<PageChunksResponse>(`/v1/pages/${id}/chunks`);
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
  const known = await shared.addIndexed({ url: `${url}known`, body_extracted: 'Known.' });
  const { status, body } = await shared.post<{ results: IngestBatchResult[] }>('/v1/pages/batch', {
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
  await shared.service.settled([page_id]);
  const page = (await shared.get<PageResponse>(`/v1/pages/${page_id}`)).body;
  assert.deepEqual([page.visit_count, page.body_text], [3, 'One.']);
});

test('status is told of one page and of many, each once and in the order first asked for', async () => {
  const id = await shared.addIndexed({ url: 'https://status.example/', body_extracted: 'A status.' });
  const features = { entities: { status: 'done', last_error: null } };
  await until(
    async () =>
      (await shared.get<PageStatusResponse>(`/v1/pages/${id}/status`)).body.features?.entities?.status === 'done',
    'its entities were read',
  );
  const status = { page_id: id, status: 'indexed', last_error: null, features };
  assert.deepEqual((await shared.get(`/v1/pages/${id}/status`)).body, status);
  const { body } = await shared.post<PageStatusBatchResponse>('/v1/pages/status/batch', {
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
      const { status, body } = await shared.get<{ detail: unknown }>(`/v1/pages/${id}${path}`);
      assert.equal(status, 404, `${id}${path}`);
      assert.equal(typeof body.detail, 'string');
    }
  }
});

test('bodies: broken JSON is 422, too large ones 413, and text comes back exactly as it went in', async () => {
  assert.equal((await shared.post('/v1/pages', '{"url": ')).status, 422);
  assert.equal(
    (await shared.post('/v1/pages', '{"url": "https://proto.example/", "__proto__": {"admin": true}}')).status,
    422,
  );
  const large = { url: 'https://large.example/', body_extracted: 'x'.repeat(16 * 1024 * 1024) };
  assert.equal((await shared.post('/v1/pages', large)).status, 413);
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
  const id = await shared.addIndexed({
    url: 'https://exact.example/text',
    title: exact,
    body_extracted: exact,
    metadata,
  });
  const { body } = await shared.get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([body.title, body.body_text, body.metadata], [exact, exact, metadata]);
});

test('a forget answers with its rule, which is listed, refuses its target, and can be taken away', async () => {
  const url = 'https://forget.example/one';
  const id = await shared.addIndexed({ url, body_extracted: 'Soon nobody knows this.' });
  const { status, body } = await shared.post<ForgetResponse>('/v1/forget', {
    url: `${url}?utm_source=x`,
    reason: 'private',
  });
  const { blacklist_id, ...rest } = body;
  assert.equal(status, 200);
  assert.match(blacklist_id, /^bl_/);
  assert.deepEqual(rest, { pattern: url, kind: 'url', pages_purged: 1, vector_deletes_queued: 1 });
  assert.equal((await shared.get(`/v1/pages/${id}`)).status, 404);
  assert.equal((await shared.get(`/v1/pages/${id}/chunks`)).status, 404);
  const domain = await shared.post<ForgetResponse>('/v1/forget', { domain: 'Other.Forget.example' });
  const { entries } = (await shared.get<BlacklistResponse>('/v1/blacklist')).body;
  assert.deepEqual(
    entries.slice(0, 2).map(({ created_at, ...entry }) => [entry, Number.isNaN(Date.parse(created_at))]),
    [
      [{ id: domain.body.blacklist_id, pattern: 'other.forget.example', kind: 'domain', reason: null }, false],
      [{ id: blacklist_id, pattern: url, kind: 'url', reason: 'private' }, false],
    ],
  );
  const refused = await shared.post('/v1/pages', { url, body_extracted: 'again' });
  assert.deepEqual([refused.status, refused.body], [403, { error: 'blacklisted', pattern: url }]);
  assert.equal((await shared.post('/v1/pages', { url: `${url}/below`, body_extracted: 'another page' })).status, 202);
  for (const wrong of [
    {},
    { url, domain: 'a.example' },
    { url: null, domain: null },
    { domain: 'co.uk' },
    { url, x: 1 },
  ]) {
    assert.equal((await shared.post('/v1/forget', wrong)).status, 422, JSON.stringify(wrong));
  }
  const take = () => shared.call('DELETE', `/v1/blacklist/${blacklist_id}`);
  const taken = await take();
  assert.deepEqual([taken.status, taken.body], [204, '']);
  assert.equal((await take()).status, 404);
  assert.equal((await shared.get(`/v1/pages/${id}`)).status, 404);
  assert.equal((await shared.post('/v1/pages', { url, body_extracted: 'Read again.' })).status, 202);
});

test('pages are listed newest first, part by part, and found by their address', async () => {
  const read = (n: number) => ({
    url: `https://list.example/${n}`,
    title: `Page ${n}`,
    body_extracted: `Number ${n}.`,
  });
  const ids = await shared.add([1, 2, 3, 4, 5].map(read));
  const list = async (query: string) => {
    const { status, body } = await shared.get<PageListResponse>(`/v1/pages?${query}`);
    assert.equal(status, 200, query);
    return body;
  };
  const listed: string[] = [];
  let cursor: string | null = null;
  for (let parts = 0; parts < 3; parts++) {
    const part: PageListResponse = await list(
      `domain=list.example&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    listed.push(...part.pages.map(({ page_id }) => page_id));
    cursor = part.next_cursor;
  }
  assert.deepEqual([listed, cursor], [[...ids].reverse(), null]);
  const [first] = (await list('domain=list.example&limit=1&status=indexed')).pages;
  const {
    original_url: _url,
    metadata: _metadata,
    body_text: _text,
    cluster: _cluster,
    headings: _headings,
    ...facts
  } = (await shared.get<PageResponse>(`/v1/pages/${first.page_id}`)).body;
  assert.deepEqual(first, facts);
  for (const none of ['status=dead', 'after=2999-01-01T00:00:00Z', 'before=1999-01-01T00:00:00Z']) {
    assert.deepEqual(await list(`domain=list.example&${none}`), { pages: [], next_cursor: null }, none);
  }

  const at = async (url: string) => (await list(`url=${encodeURIComponent(url)}`)).pages.map(({ page_id }) => page_id);
  for (const url of [
    'https://list.example/3',
    'HTTPS://LIST.example/3?utm_source=x#top',
    'http://www.list.example/3/',
  ]) {
    assert.deepEqual(await at(url), [ids[2]], url);
  }
  assert.deepEqual(await at('https://list.example/never'), []);
  for (const wrong of 'url=nothing url= limit=0 limit=501 cursor=x status=gone after=2026 domain='.split(' ')) {
    assert.equal((await shared.get(`/v1/pages?${wrong}`)).status, 422, wrong);
  }
});

test('the list names the rule that blocks an address, and none for the rest of its site', async () => {
  const url = 'https://forget-one.example/a';
  await shared.add([url, `${url}/b`].map((each) => ({ url: each, body_extracted: `This is ${each}.` })));
  const { body } = await shared.post<ForgetResponse>('/v1/forget', { url });
  const lookUp = async (address: string) =>
    (await shared.get<PageListResponse>(`/v1/pages?url=${encodeURIComponent(address)}`)).body;
  const rule = { id: body.blacklist_id, kind: 'url', pattern: url };
  assert.deepEqual(await lookUp(`${url}?utm_source=x`), { pages: [], next_cursor: null, blocked_by: rule });
  assert.equal((await lookUp(`${url}/b`)).blocked_by, null);
});
