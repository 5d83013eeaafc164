/** Files sent to a running service to be imported: what comes in, what is left out and why, stopping, going on, refusals. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ImportListResponse, ImportPreviewResponse, ImportResponse } from '../../src/domain/import.ts';
import { writeHistory } from '../importers/history-file.ts';
import { newestFirst } from '../scope.ts';
import { RunningService, token, until, withoutModel } from './service.ts';

interface Answer<Body> {
  status: number;
  body: Body;
  headers: Headers;
}

async function send<Body = ImportResponse>(
  name: string,
  file: string | Buffer,
  { format = '', headers = {} }: { format?: string; headers?: Record<string, string> } = {},
): Promise<Answer<Body>> {
  const query = new URLSearchParams({ name, ...(format === '' ? {} : { format }) });
  const response = await fetch(`${service.url}/v1/imports?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream', ...headers },
    body: file,
  });
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers };
}

const get = async (id: string) => (await service.call<ImportResponse>('GET', `/v1/imports/${id}`)).body;

async function ended(id: string): Promise<ImportResponse> {
  await until(async () => (await get(id)).status !== 'running', 'the import has ended');
  return get(id);
}

async function imported(name: string, file: string | Buffer): Promise<ImportResponse> {
  const { status, body } = await send(name, file);
  assert.equal(status, 202, JSON.stringify(body));
  assert.equal(body.status, 'running');
  return ended(body.id);
}

const spooled = () => {
  const folder = join(service.dataDir, 'tmp', 'imports');
  return existsSync(folder) ? readdirSync(folder) : [];
};

const netscape = (links: readonly string[]) =>
  `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n${links
    .map((url, i) => `<DT><A HREF="${url}" ADD_DATE="1700000000">Page ${i}</A>`)
    .join('\n')}\n</DL><p>`;

const reader = 'process-test-import-reader';
let service: RunningService;
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope, {
    ...withoutModel,
    // Nothing is fetched: pages without a text only wait.
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '[]',
    SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: reader, scopes: ['read'] }]),
  });
});

test('a bookmark file comes in once, and what is left out is told with its reason', async () => {
  await service.call('POST', '/v1/forget', { domain: 'gone.example' });
  const name = '<img src=x onerror=alert(1)>\u202e"bookmarks".html';
  const file = netscape([
    'https://a.example/1',
    'https://a.example/2',
    'https://a.example/2#part',
    'https://www.gone.example/x',
    'javascript:alert(1)',
    'place:sort=8',
    'https://exa mple/',
  ]);
  const result = await imported(name, file);
  const { id, started_at, ended_at, ...rest } = result;
  assert.match(id, /^im_[0-9a-f]{16}$/);
  assert.ok(ended_at !== null && Date.parse(started_at) <= Date.parse(ended_at));
  assert.deepEqual(rest, {
    name,
    format: 'bookmarks',
    status: 'done',
    bytes: Buffer.byteLength(file),
    items: 7,
    created: 2,
    revisits: 1,
    skipped: [
      { reason: 'not a web address', count: 2 },
      { reason: 'forgotten, and blocked by its rule', count: 1 },
      { reason: 'url must have a valid host', count: 1 },
    ],
    error: null,
  });
  const { body } = await service.call<{ pages: { canonical_url: string }[] }>('GET', '/v1/pages');
  assert.deepEqual(body.pages.map(({ canonical_url }) => canonical_url).sort(), [
    'https://a.example/1',
    'https://a.example/2',
  ]);
  const again = await imported('a copy of it', file);
  assert.deepEqual(
    [again.status, again.items, again.created, again.revisits, again.skipped],
    ['done', 7, 0, 0, [{ reason: 'imported before', count: 7 }]],
  );
  const list = await service.call<{ imports: ImportResponse[] }>('GET', '/v1/imports');
  assert.deepEqual(list.body.imports, [again, result]);
  assert.deepEqual(spooled(), []);
});

test('a preview tells what would be imported, with the line of what is skipped, and stores nothing', async () => {
  const preview = async (name: string, file: string, columns = '') => {
    const query = new URLSearchParams({ name, dry_run: 'true', ...(columns === '' ? {} : { columns }) });
    const headers = { 'content-type': 'application/octet-stream' };
    return service.call<ImportPreviewResponse>('POST', `/v1/imports?${query}`, file, { headers });
  };
  const before = await service.call('GET', '/v1/imports');
  const list = netscape(['https://p.example/1', 'https://p.example/1#x', 'place:sort=8', 'https://exa mple/']);
  const { status, body } = await preview('list.html', list);
  const { bytes, examples, ...rest } = body;
  const date = '2023-11-14T22:13:20.000Z';
  assert.deepEqual([status, bytes], [200, Buffer.byteLength(list)]);
  assert.deepEqual(examples, [
    { place: 'list.html, line 6', title: 'Page 2', reason: 'not a web address' },
    { place: 'list.html, line 7', title: 'Page 3', reason: 'url must have a valid host' },
  ]);
  const skipped = { 'not a web address': 1, 'url must have a valid host': 1 };
  const first = [
    { url: 'https://p.example/1', title: 'Page 0' },
    { url: 'https://p.example/1#x', title: 'Page 1' },
  ];
  const nothing = { unreadable: 0, faults: [], columns: [], error: null };
  const known = { name: 'list.html', format: 'bookmarks', imported_before: false };
  const counts = { items: 2, addresses: 1, with_text: 0, oldest: date, newest: date };
  assert.deepEqual(rest, { ...known, ...counts, first, skipped, ...nothing });
  const table = 'a;b\nhttps://p.example/1;https://p.example/2\n';
  const unclear = (await preview('x.csv', table)).body;
  assert.deepEqual([unclear.items, unclear.columns.length], [0, 2]);
  assert.match(unclear.error ?? '', /^x\.csv has addresses in several columns/);
  const named = (await preview('x.csv', table, 'url=2')).body;
  assert.deepEqual([named.items, named.first[0]?.url, named.error], [1, 'https://p.example/2', null]);
  const cut = (await preview('cut.json', '[{"url":"https://p.example/1"},{"url":')).body;
  assert.deepEqual([cut.items, cut.error], [1, 'cut.json is cut off: it ends within its JSON']);
  assert.equal((await preview('x', 'hello there')).status, 422);
  assert.deepEqual((await service.call('GET', '/v1/imports')).body, before.body);
  assert.deepEqual(spooled(), []);
  const again = netscape(['https://a.example/1']);
  await imported('again', again);
  assert.ok((await preview('again', again)).body.imported_before);
});

test('a history of a browser comes in with its visits, and links in frames are counted as left out', async () => {
  const path = join(service.home, 'History');
  writeHistory(path, [
    { url: 'https://history.example/1', title: 'One', visits: [{ at: 1_700_000_000_000 }, { at: 1_700_000_100_000 }] },
    { url: 'https://history.example/2', title: 'Two', visits: [{ at: 1_700_000_200_000 }] },
    { url: 'https://history.example/frame', visits: [{ at: 1_700_000_300_000, transition: 3 }] },
  ]);
  const { status, format, items, created, revisits, skipped } = await imported('History', readFileSync(path));
  assert.deepEqual(
    [status, format, items, created, revisits],
    ['done', 'chromium', 4, 2, 1],
    'each is new, known or skipped',
  );
  assert.deepEqual(
    skipped.map(({ reason, count }) => [reason.startsWith('visits left out: '), count]),
    [[true, 1]],
  );
  assert.deepEqual(spooled(), []);
});

test('what is no file, or none that is understood, is refused with a reason, and leaves nothing', async () => {
  type Refusal = { detail: unknown };
  const refused = async (file: string, options = {}, name = 'x') => {
    const { status, body } = await send<Refusal>(name, file, options);
    return [status, body.detail];
  };
  const listed = async () =>
    (await service.call<ImportListResponse>('GET', '/v1/imports')).body.imports.map(({ id }) => id);
  const earlier = await listed();
  const [status, detail] = await refused('hello there');
  assert.equal(status, 422);
  assert.match(String(detail), /^the format of x is not recognised; known are .*pocket/);
  assert.deepEqual(await refused(''), [422, 'x is empty']);
  assert.deepEqual(await refused(netscape(['https://a.example/']), { format: 'urls' }), [
    422,
    'x is bookmarks by its content, not urls: leave the format out',
  ]);
  assert.equal((await refused('https://a.example/', { format: 'magic' }))[0], 422);
  assert.equal((await refused('https://a.example/', {}, ''))[0], 422);
  assert.equal((await refused('https://a.example/', {}, 'n'.repeat(256)))[0], 422);
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x'])
    assert.equal((await refused('{"a":1}', { headers: { 'content-type': type } }))[0], 422, type);
  const bare = await service.call<Refusal>('POST', '/v1/imports?name=x');
  assert.equal(bare.status, 422);
  for (const method of ['GET', 'DELETE']) assert.equal((await service.call(method, '/v1/imports/im_x')).status, 404);
  assert.deepEqual(await listed(), earlier);
  assert.deepEqual(spooled(), []);
});

test('a file of more than a gigabyte is refused before it is sent', async () => {
  const answer = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const sent = request(`${service.url}/v1/imports?name=x`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/octet-stream',
        'content-length': String(1024 ** 3 + 1),
      },
    });
    sent.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    sent.on('error', reject);
    sent.write('x');
  });
  assert.deepEqual(answer, { status: 413, body: '{"detail":"the body is larger than 1073741824 bytes"}' });
});

test('only who may write imports, also by a session; what was imported is known after kill -9', async () => {
  const file = 'https://b.example/1\nhttps://b.example/2\n';
  const forbidden = await send('x', file, { headers: { authorization: `Bearer ${reader}` } });
  assert.equal(forbidden.status, 403);
  assert.equal((await send('x', file, { headers: { authorization: 'Bearer wrong' } })).status, 401);
  const page = { 'sec-fetch-site': 'same-origin' };
  const signedIn = await service.call('POST', '/v1/sessions', { token }, { token: null, headers: page });
  const cookie = String(signedIn.headers.get('set-cookie')).split(';')[0];
  const response = await fetch(`${service.url}/v1/imports?name=x`, {
    method: 'POST',
    headers: { ...page, cookie, 'content-type': 'application/octet-stream' },
    body: file,
  });
  assert.equal(response.status, 202);
  const { id } = (await response.json()) as ImportResponse;
  assert.equal((await ended(id)).created, 2);
  await service.kill();
  await service.start();
  assert.deepEqual((await service.call<ImportListResponse>('GET', '/v1/imports')).body.imports, []);
  assert.deepEqual((await imported('x', file)).skipped, [{ reason: 'imported before', count: 2 }]);
});
