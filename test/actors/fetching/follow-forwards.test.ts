/** Pages that forward by their content or the header `Refresh`, against real sites: each is a redirect, with all that holds for one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Page, redirectTo, Site, say } from '../../providers/small-web.ts';
import { setUp } from './fetch-set-up.ts';

const words = 'The lock keeper opens the gate at dawn. '.repeat(10).trim();
const article = say(`<title>Locks</title><p>${words}</p>`);
const forwardTo = (target: string, delayS = 0): Page =>
  say(`<html><head><meta http-equiv="refresh" content="${delayS}; url=${target}"></head><body></body></html>`);
const failure = (message: string, permanent: boolean) => ({ name: 'FetchError', message, permanent });
const blocked = failure('blocked address: fetch.allow_private_hosts does not list it', true);

test('the page that another forwards to is stored under the address that was submitted', async (t) => {
  const site = await Site.open(t, {
    '/short': say('<noscript><meta http-equiv="refresh" content="0;URL=/moved"></noscript><title>elsewhere</title>'),
    '/moved': say('<base href="/dir/"><meta http-equiv="refresh" content="5;page"><p>This page has been moved.</p>'),
    '/dir/page': article,
  });
  const { temporary, indexed, run } = await setUp(t, site, '/short');
  await run();
  const { pages } = temporary.reader;
  assert.deepEqual(site.asked, ['/short', '/moved', '/dir/page']);
  assert.deepEqual([pages.body(1), pages.get(1)?.title], [words, 'Locks']);
  assert.equal(pages.get(1)?.canonical_url, site.url('/short'));
  assert.deepEqual(indexed, [1]);
});

test('a chain of redirects of both kinds has five in all', async (t) => {
  const chain = (from: number): Record<string, Page> =>
    Object.fromEntries(
      Array.from({ length: from }, (_, at) => [`/${at + 1}`, (at % 2 === 0 ? forwardTo : redirectTo)(`/${at}`)]),
    );
  const site = await Site.open(t, { ...chain(6), '/0': article });
  const five = await setUp(t, site, '/5');
  await five.run();
  assert.equal(five.temporary.reader.pages.body(1), words);
  site.asked.length = 0;
  const six = await setUp(t, site, '/6');
  await assert.rejects(six.run(), failure('too many redirects', false));
  assert.deepEqual(site.asked, ['/6', '/5', '/4', '/3', '/2', '/1']);
});

test('pages that forward to each other end like any loop', async (t) => {
  const site = await Site.open(t, { '/a': forwardTo('/b'), '/b': forwardTo('/a') });
  const { run } = await setUp(t, site, '/a');
  await assert.rejects(run(), failure('too many redirects', false));
  assert.deepEqual(site.asked, ['/a', '/b', '/a', '/b', '/a', '/b']);
});

test('no forward leads to an address that must not be connected to', async (t) => {
  const inner = await Site.open(t, { '*': article }, '127.0.0.2');
  for (const target of [inner.url('/', '127.0.0.2'), inner.url('/', '[::ffff:7f00:2]'), inner.url('/', 'inner.test')]) {
    const site = await Site.open(t, { '/a': forwardTo(target) });
    const { run } = await setUp(t, site, '/a', async () => [{ address: '127.0.0.2', family: 4 }]);
    await assert.rejects(run(), blocked, target);
  }
  assert.equal(inner.connections, 0);
});

test('scripts, data and files are not gone to, and the page is what it is', async (t) => {
  for (const target of ['javascript:alert(1)', 'data:text/html,<p>Hello</p>', 'file:///etc/passwd']) {
    const site = await Site.open(t, {
      '/empty': forwardTo(target),
      '/words': say(`<meta http-equiv="refresh" content="0; url=${target}"><p>A few words.</p>`),
    });
    const empty = await setUp(t, site, '/empty');
    await assert.rejects(empty.run(), failure('no readable text', true));
    const few = await setUp(t, site, '/words');
    await few.run();
    assert.equal(few.temporary.reader.pages.body(1), 'A few words.');
    assert.deepEqual(site.asked, ['/empty', '/words']);
  }
});

test('a page that loads itself anew is read once, whatever its delay', async (t) => {
  for (const content of ['300', '0', '0; url=/news', '0; url=#top']) {
    const site = await Site.open(t, {
      '/news': say(`<meta http-equiv="refresh" content="${content}"><p>Boats are late.</p>`),
    });
    const { temporary, run } = await setUp(t, site, '/news');
    await run();
    assert.equal(temporary.reader.pages.body(1), 'Boats are late.');
    assert.deepEqual(site.asked, ['/news']);
  }
});

test('a page with an article is that article, wherever it forwards to', async (t) => {
  const site = await Site.open(t, {
    '/a': say(`<meta http-equiv="refresh" content="0; url=/b"><p>${words} ${words}</p>`),
    '/b': say('<p>Another.</p>'),
  });
  const { temporary, run } = await setUp(t, site, '/a');
  await run();
  assert.equal(temporary.reader.pages.body(1), `${words} ${words}`);
});

test('where a forward leads to is looked up in the blacklist, in its canonical form, and so is what forwards', async (t) => {
  const site = await Site.open(t, {
    '/to': forwardTo('/forgotten?utm_source=short#top'),
    '/through': redirectTo('/forgotten'),
    '/forgotten': forwardTo('/fine'),
    '/fine': article,
  });
  for (const path of ['/to', '/through']) {
    const { temporary, indexed, run } = await setUp(t, site, path);
    const pattern = site.url('/forgotten');
    await temporary.commit(({ blacklist }) =>
      blacklist.put({ no: 1, pattern, kind: 'url', reason: null, created_at: 1, purging: false }),
    );
    await assert.rejects(run(), failure('redirected to a blacklisted page', true));
    assert.equal(temporary.reader.pages.body(1), undefined);
    assert.deepEqual(indexed, []);
  }
  assert.ok(!site.asked.includes('/fine'));
});

test('of an answer that is no success no forward is followed', async (t) => {
  const forward = '<meta http-equiv="refresh" content="0; url=/">';
  const site = await Site.open(t, { '/gone': say(forward, {}, 404), '/': article });
  const { run } = await setUp(t, site, '/gone');
  await assert.rejects(run(), failure('HTTP 404', true));
  assert.deepEqual(site.asked, ['/gone']);
});

test('the header forwards like the element, whatever the kind of text', async (t) => {
  const byHeader = (body: string, headers: Record<string, string> = {}, target = '/to'): Page =>
    say(body, { refresh: `0; url=${target}`, ...headers });
  const site = await Site.open(t, {
    '/to': article,
    '/empty': byHeader(''),
    '/plain': byHeader('Moved.', { 'content-type': 'text/plain' }),
    '/unnamed': (_request, response) => response.writeHead(200, { refresh: '0; url=/to' }).end(),
    '/chain': byHeader('', {}, '/plain'),
    '/self': byHeader('<p>Boats are late.</p>', {}, '/self'),
    '/gone': say('', { refresh: '0; url=/to' }, 404),
    '/outside': byHeader('', {}, 'http://inner.test/'),
  });
  for (const path of ['/empty', '/plain', '/unnamed', '/chain']) {
    const { temporary, run } = await setUp(t, site, path);
    await run();
    assert.equal(temporary.reader.pages.body(1), words, path);
  }
  const self = await setUp(t, site, '/self');
  await self.run();
  assert.equal(self.temporary.reader.pages.body(1), 'Boats are late.');
  const gone = await setUp(t, site, '/gone');
  await assert.rejects(gone.run(), failure('HTTP 404', true));
  const outside = await setUp(t, site, '/outside', async () => [{ address: '127.0.0.2', family: 4 }]);
  await assert.rejects(outside.run(), blocked);
});
