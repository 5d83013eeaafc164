/** Pages that are submitted by their URL only, from a small web on loopback, over the whole service: each ends as it should. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { PageResponse } from '../../src/domain/page.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { realPages, wallPages } from '../compute/extraction/wall-pages.ts';
import { encodeText } from '../compute/text/encode-text.ts';
import { type Page, redirectTo, Site, say } from '../providers/small-web.ts';
import { newestFirst } from '../scope.ts';
import { RunningService } from './service.ts';

const maxBytes = 200_000;
const env = {
  SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: JSON.stringify(['127.0.0.1']),
  SERVICE_FETCH__PER_HOST_GAP_MS: '100',
  SERVICE_FETCH__MAX_BYTES: String(maxBytes),
  SERVICE_JOBS__MAX_ATTEMPTS: '2',
  SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
};

let service: RunningService;
let site: Site;
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope, env);
  await service.pauseVectors();
  site = await Site.open(scope, pages);
});

const article = (words: string, title = 'The fishers of the river', head = '') =>
  `<!doctype html><html lang="en"><head>${head}<title>${title}</title></head><body><nav><a href="/">Home</a></nav><article><h1>${title}</h1><p>${`${words} `.repeat(4)}</p></article></body></html>`;

const russian = 'Утром над рекой поднялся туман, и рыбаки вышли на берег.';
const japanese = '朝の川には霧が立ちこめていた。漁師たちは岸に出て、天気と昔のことについて話していた。';

/** A path, what it answers, and a phrase that the stored text has. */
const readable: [path: string, answer: Page, phrase: string][] = [
  ['/plain-html', say(article('Nets were mended before the storm.')), 'Nets were mended'],
  ['/gzip', say(gzipSync(article('Gzipped nets were mended.')), { 'content-encoding': 'gzip' }), 'Gzipped nets'],
  [
    '/windows-1251',
    say(encodeText(article(russian), 'windows-1251'), { 'content-type': 'text/html; charset=windows-1251' }),
    russian,
  ],
  [
    '/shift-jis',
    say(encodeText(article(japanese, 'River', '<meta charset="Shift_JIS">'), 'shift_jis'), {
      'content-type': 'text/html',
    }),
    japanese,
  ],
  [
    '/xhtml',
    say(
      `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="a.js"/><title>X</title></head><body><div class="top"/><p>${'Strict markup for boats. '.repeat(9)}</p></body></html>`,
      { 'content-type': 'application/xhtml+xml' },
    ),
    'Strict markup for boats.',
  ],
  [
    '/plain',
    say('Line one about eels.\r\nLine two <b>about</b> eels.\r\n', { 'content-type': 'text/plain' }),
    'one about eels.\nLine two <b>',
  ],
  [
    '/notes.md',
    say('---\ntitle: Front\n---\n# Eel traps\n\nSet them at *dusk*.\n', {
      'content-type': 'text/plain; charset=utf-8',
    }),
    'Set them at *dusk*.',
  ],
  ['/markdown', say('# Weirs\n\nBuilt of willow.\n', { 'content-type': 'text/markdown' }), 'Built of willow.'],
  ['/no-type', (_request, response) => response.end(article('Nobody said what this is.')), 'Nobody said'],
  [
    '/octets',
    say(article('A server that knows no types.'), { 'content-type': 'application/octet-stream' }),
    'knows no types',
  ],
  ['/redirected', redirectTo('/plain-html?moved'), 'Nets were mended'],
  ['/about-captchas', say(realPages['an article about captchas'] ?? ''), 'I’m not a robot'],
  [
    '/content-length-too-small',
    (request) =>
      request.socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\n${'Twenty letters here.'} and more`,
      ),
    'Twenty letters here.',
  ],
];

/** A path, what it answers, the error that stays, and how many attempts were worth it. */
const unreadable: [path: string, answer: Page, error: string, attempts: number][] = [
  ['/404', say(article('Not here.'), {}, 404), 'HTTP 404', 1],
  ['/403', say('no', {}, 403), 'HTTP 403', 2],
  ['/500', say('oops', {}, 500), 'HTTP 500', 2],
  ['/challenged', say(wallPages['a JavaScript challenge']?.html ?? '', {}, 403), 'challenge page', 1],
  ['/mitigated', say('', { 'cf-mitigated': 'challenge' }, 403), 'challenge page', 1],
  ['/zip', say('PK', { 'content-type': 'application/zip' }), 'unsupported content type application/zip', 1],
  [
    '/binary',
    say(Buffer.from(Array.from({ length: 3000 }, (_, at) => at % 7)), { 'content-type': 'text/plain' }),
    'is not a text, although its content type says so',
    1,
  ],
  ['/huge', say(Buffer.alloc(maxBytes + 1, 'a'), { 'content-type': 'text/plain' }), `larger than ${maxBytes} bytes`, 1],
  ['/loop', redirectTo('/loop'), 'too many redirects', 2],
  [
    '/to-metadata',
    redirectTo('http://169.254.169.254/latest/'),
    'blocked address: fetch.allow_private_hosts does not list it',
    1,
  ],
  ['/deep', say('<div>'.repeat(8000)), 'has too many or too deeply nested elements', 1],
];

const wallErrors = {
  challenge: 'challenge page',
  login_wall: 'login page',
  cookie_wall: 'cookie wall',
  error_page: 'error page',
  needs_script: 'a page that needs JavaScript',
};

const pages: Record<string, Page> = {
  ...Object.fromEntries(readable.map(([path, answer]) => [path, answer])),
  ...Object.fromEntries(unreadable.map(([path, answer]) => [path, answer])),
  ...Object.fromEntries(Object.values(wallPages).map(({ html }, at) => [`/wall-${at}`, say(html)])),
};

async function add(url: string, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await service.call<{ page_id: string }>('POST', '/v1/pages', { url, ...more });
  assert.equal(status, 202, JSON.stringify(body));
  return body.page_id;
}

const pageOf = async (id: string) => (await service.call<PageResponse>('GET', `/v1/pages/${id}`)).body;

/** The job of the page that was added last. */
async function newestJob() {
  const { body } = await service.call<JobListResponse>('GET', '/v1/jobs?kind=fetch_and_index&limit=1');
  const [job] = body.jobs;
  assert.ok(job !== undefined);
  return job;
}

test('what can be read is stored and found', async () => {
  const ids = await Promise.all(readable.map(([path]) => add(site.url(`${path}?utm_source=mail`))));
  const statuses = await service.settled(ids);
  for (const [at, [path, , phrase]] of readable.entries()) {
    const page = await pageOf(ids[at] ?? '');
    assert.equal(statuses[at], 'indexed', path);
    assert.ok(page.body_text?.includes(phrase), `${path}: ${page.body_text}`);
    assert.equal(page.canonical_url, site.url(path), 'a page stays under the URL that it was submitted under');
    assert.notEqual(page.indexed_at, null);
  }
  assert.ok(!site.asked.some((path) => path.includes('utm_source')), 'tracking parameters are not sent');
  for (const [query, path] of [
    ['strict markup boats', '/xhtml'],
    ['willow weirs', '/markdown'],
  ]) {
    const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query });
    assert.equal(body.results[0]?.canonical_url, site.url(path), JSON.stringify(body.results[0]));
  }
});

test('what cannot be read says why, and is tried again only where that may help', async () => {
  for (const [path, , error, attempts] of unreadable) {
    const id = await add(site.url(path));
    assert.deepEqual(await service.settled([id]), ['dead'], path);
    const job = await newestJob();
    assert.deepEqual([job.last_error, job.attempts], [error, attempts], path);
    assert.equal((await pageOf(id)).body_text, null);
  }
});

test('what stands in front of pages is never indexed', async () => {
  const kinds = new Set<string>();
  for (const [at, [name, { wall }]] of Object.entries(wallPages).entries()) {
    if (kinds.has(wall)) continue;
    kinds.add(wall);
    const id = await add(site.url(`/wall-${at}`));
    assert.deepEqual(await service.settled([id]), ['dead'], name);
    assert.equal((await newestJob()).last_error, wallErrors[wall], name);
  }
  const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query: 'enable JavaScript and cookies' });
  assert.ok(!body.results.some(({ canonical_url }) => canonical_url.includes('/wall-')));
});

test('a dead page is fetched again when its job is retried', async (t) => {
  let works = false;
  const shy = await Site.open(t, {
    '/': (request, response) => (works ? say(article('Back again.')) : say('gone', {}, 410))(request, response),
  });
  const id = await add(shy.url());
  assert.deepEqual(await service.settled([id]), ['dead']);
  works = true;
  const { job_id } = await newestJob();
  assert.equal((await service.call('POST', `/v1/jobs/${job_id}/retry`)).status, 200);
  assert.deepEqual(await service.settled([id]), ['indexed']);
});

test('many pages of one host are fetched one by one, and do not hold up those of others', async (t) => {
  let running = 0;
  const ended: string[] = [];
  /** The first page of the host with many is not answered before the other host's was. */
  let letGo = () => {};
  const otherAnswered = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const page: Page = async (request, response) => {
    const host = request.headers.host?.split(':')[0] ?? '';
    if (host === 'localhost') {
      assert.equal(++running, 1);
      await otherAnswered;
      running--;
    } else letGo();
    ended.push(host);
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`Page ${request.url} of ${host}.`);
  };
  const one = await Site.open(t, { '*': page });
  // A name that is not listed itself but leads to a listed address has turns.
  const many = await Promise.all(Array.from({ length: 15 }, (_, at) => add(one.url(`/${at}`, 'localhost'))));
  const other = await add(one.url('/other'));
  assert.deepEqual(await service.settled([other]), ['indexed']);
  assert.equal(ended[0], '127.0.0.1');
  assert.deepEqual(new Set(await service.settled(many)), new Set(['indexed']));
  assert.equal(one.asked.length, 16);
});
