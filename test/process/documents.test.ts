/** PDFs and hostile pages over the whole service: fetched from a site on loopback, indexed and found, or dead with a reason. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { PageResponse } from '../../src/domain/page.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { hostilePdfs } from '../compute/extraction/hostile-pdfs.ts';
import { smallPdf } from '../compute/extraction/small-pdf.ts';
import { type Page, Site, say } from '../providers/small-web.ts';
import { newestFirst } from '../scope.ts';
import { RunningService } from './service.ts';

const pdf = { 'content-type': 'application/pdf' };
const lines = (words: string) =>
  Array.from({ length: 5 }, (_, at) => ({
    text: `${words} was told of in line ${at} of the old`,
    x: 72,
    y: 700 - at * 12,
  }));
const book = (words: string, info?: string) =>
  smallPdf({
    pages: Array.from({ length: 4 }, (_, at) => [
      { text: 'THE RUNNING HEADER', x: 72, y: 770 },
      { text: `${words} on leaf ${at}`, x: 72, y: 720, size: 16 },
      ...lines(words),
      { text: `${at + 1}`, x: 300, y: 20 },
    ]),
    ...(info === undefined ? {} : { info }),
  });

const folder = join(import.meta.dirname, '../../../shared/data/pdf');
/** The others are read by the thread itself: test/actors/fetching/read-pdf.test.ts. */
const bomb = hostilePdfs['a flate bomb'];
const paths: Record<string, Page> = {
  '/book.pdf': say(
    book('Sluice gates', '/Title (A Book of Gates) /Author (Jo Weaver) /CreationDate (D:20200203040506Z)'),
    pdf,
  ),
  '/unnamed': say(book('Mill races'), { 'content-type': 'application/octet-stream' }),
  '/miscalled': say(book('Fish ladders'), { 'content-type': 'text/html' }),
  '/untyped': (_request, response) => void response.writeHead(200, { 'content-type': '' }).end(book('Eel passes')),
  '/pictures.pdf': say(smallPdf({ pages: [[]] }), pdf),
  '/html.pdf': say('<html><p>Not a PDF at all.</p></html>', pdf),
  '/bomb.pdf': say(bomb.bytes(), pdf),
};

let service: RunningService;
let site: Site;
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope, { SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: JSON.stringify(['127.0.0.1']) });
  await service.pauseVectors();
  site = await Site.open(scope, {
    ...paths,
    '*': (request, response) => {
      const name = request.url?.slice(1) ?? '';
      if (!/^[\w-]+\.pdf$/.test(name) || !existsSync(join(folder, name))) return void response.writeHead(404).end();
      response.writeHead(200, pdf).end(readFileSync(join(folder, name)));
    },
  });
});

async function add(body: Record<string, unknown>): Promise<string> {
  const { status, body: answer } = await service.call<{ page_id: string }>('POST', '/v1/pages', body);
  assert.equal(status, 202, JSON.stringify(answer));
  return answer.page_id;
}
const pageOf = async (id: string) => (await service.call<PageResponse>('GET', `/v1/pages/${id}`)).body;
const errorOf = async (id: string) =>
  (await service.call<{ last_error: string | null }>('GET', `/v1/pages/${id}/status`)).body.last_error;

test('PDFs are read, whatever the server calls them, and found by their words', async () => {
  const names = ['/book.pdf', '/unnamed', '/miscalled', '/untyped'];
  const ids = await Promise.all(names.map((name) => add({ url: site.url(name) })));
  assert.deepEqual(
    await service.settled(ids),
    ids.map(() => 'indexed'),
  );
  const page = await pageOf(ids[0]);
  assert.equal(page.title, 'A Book of Gates');
  assert.deepEqual(page.metadata, {
    published_at: '2020-02-03T04:05:06.000Z',
    author: 'Jo Weaver',
    content_type: 'application/pdf',
  });
  assert.ok(page.body_text?.includes('Sluice gates was told of in line 3') && !page.body_text.includes('RUNNING'));
  for (const [query, at] of [
    ['sluice gates', 0],
    ['mill races', 1],
    ['fish ladders', 2],
    ['eel passes', 3],
  ] as const) {
    const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query });
    assert.equal(body.results[0]?.page_id, ids[at], query);
  }
});

test('PDFs that cannot be read are dead with a reason; nobody else waits', async () => {
  const cases: [path: string, reason: RegExp][] = [
    ['/pictures.pdf', /^the PDF has no text: its pages may be pictures$/],
    ['/html.pdf', /^is not a PDF, although its content type says so$/],
    ['/bomb.pdf', bomb.reason],
    ...(existsSync(folder)
      ? ([
          ['/libreoffice-writer-password.pdf', /^the PDF needs a password$/],
          ['/unreadablemetadata.pdf', /^the PDF is broken$/],
        ] as [string, RegExp][])
      : []),
  ];
  const ids = await Promise.all(cases.map(([path]) => add({ url: site.url(path) })));
  let settled = false;
  const settling = service.settled(ids).finally(() => {
    settled = true;
  });
  let answered = 0;
  while (!settled) {
    assert.equal((await service.call('GET', '/healthz')).status, 200);
    answered++;
    await delay(100);
  }
  assert.deepEqual(
    await settling,
    ids.map(() => 'dead'),
  );
  for (const [at, [path, reason]] of cases.entries()) assert.match((await errorOf(ids[at])) ?? '', reason, path);
  assert.ok(answered > 0, 'health was answered meanwhile');
  const { body } = await service.call<JobListResponse>('GET', '/v1/jobs?kind=fetch_and_index&status=dead&limit=100');
  assert.ok(body.jobs.every(({ attempts }) => attempts === 1));
  const next = await add({ url: site.url('/book.pdf?next') });
  assert.deepEqual(await service.settled([next]), ['indexed']);
});

test('pages that are made to take long are answered or refused', async () => {
  const words = 'Weirs were built of willow and of stone by the old millers. ';
  const pages: Record<string, string> = {
    'elements nested deep': `${'<div>'.repeat(500)}${words}${'</div>'.repeat(500)}`,
    'a huge table': `<table>${`<tr>${'<td>a weir</td>'.repeat(20)}</tr>`.repeat(3000)}</table>`,
    'a long line of spaces': `<p>by ${' '.repeat(500_000)}x</p><p>${words.repeat(20)}</p>`,
    'words that labels begin with': `<p>${'read more from about in '.repeat(20_000)}</p><p>${'by A '.repeat(20_000)}</p>`,
    'classes without end': `<p class="${'share-related-'.repeat(50_000)}">${words.repeat(20)}</p>`,
    'quotations in frames': `${'<div><blockquote>x</blockquote></div>'.repeat(20_000)}<p>${words.repeat(20)}</p>`,
    'data that is no data': `<script type="application/ld+json">${'{"a":['.repeat(100_000)}</script><p>${words.repeat(20)}</p>`,
    'data nested deep': `<script type="application/ld+json">${'['.repeat(50_000)}${']'.repeat(50_000)}</script><p>${words.repeat(20)}</p>`,
    'spaces in data': `<meta name="author" content="by ${' '.repeat(300_000)}1"><meta property="og:title" content="${'a '.repeat(300_000)}"><p>${words.repeat(20)}</p>`,
  };
  for (const [name, html] of Object.entries(pages)) {
    const { status } = await service.call('POST', '/v1/pages', {
      url: `https://a.example/${encodeURIComponent(name)}`,
      body_html: html,
    });
    assert.ok(status === 202 || status === 422, `${name}: ${status}`);
    assert.equal((await service.call('GET', '/healthz')).status, 200);
  }
});
