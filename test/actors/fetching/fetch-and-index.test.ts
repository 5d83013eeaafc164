/** The fetch job against a real store and a real site: what is stored, what is not, and what an attempt after a crash does. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recoverOrphans } from '../../../src/commands/claim-jobs.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { completeJob } from '../../../src/commands/move-job.ts';
import { refreshPages } from '../../../src/commands/store-fetched.ts';
import { submission } from '../../commands/submissions.ts';
import { deferred } from '../../deferred.ts';
import { redirectTo, Site, say } from '../../providers/small-web.ts';
import { setUp } from './fetch-set-up.ts';

const words = 'The lock keeper opens the gate at dawn. '.repeat(10).trim();

test('the text, its hash and its title are stored, then the page is indexed', async (t) => {
  const site = await Site.open(t, { '/a': say(`<title>Locks</title><h2>Dawn</h2><p>${words}</p>`) });
  const { temporary, indexed, run } = await setUp(t, site, '/a');
  await run();
  const { pages } = temporary.reader;
  assert.ok(pages.body(1)?.includes(words));
  assert.equal(pages.get(1)?.title, 'Locks');
  assert.equal(pages.get(1)?.content_hash?.length, 64);
  assert.deepEqual(pages.sections(1), [{ char_start: 0, title: 'Dawn' }]);
  assert.deepEqual(indexed, [1]);
});

test('a page that stays without a text is found by what its answer says of it', async (t) => {
  const head =
    '<title>Eels</title><meta property="og:title" content="Eels of the north"><meta property="og:description" content="How eels climb weirs.">';
  const sign = { title: 'Eels of the north', metadata: { description: 'How eels climb weirs.' } };
  const nothing = { title: null, metadata: null };
  for (const [message, html, told] of [
    ['no readable text', `${head}<div id="root"></div>`, sign],
    ['login page', `${head}<h1>Sign in</h1><form><input type="password"></form>`, sign],
    ['challenge page', '<title>Just a moment...</title><script>_cf_chl_opt</script>', nothing],
  ] as const) {
    const site = await Site.open(t, { '/a': say(html) });
    const { temporary, indexed, bare, run } = await setUp(t, site, '/a');
    await assert.rejects(run(), new RegExp(message));
    const { title, metadata } = temporary.reader.pages.get(1) ?? assert.fail();
    assert.deepEqual([{ title, metadata }, temporary.reader.pages.body(1)], [told, undefined], message);
    assert.deepEqual([indexed, bare], [[], told === nothing ? [] : [{ ...told, attempt: null }]]);
  }
});

test('a challenge is tried again only where the server says that it is busy', async (t) => {
  const challenge = '<title>Just a moment...</title><script>_cf_chl_opt</script>';
  for (const [status, permanent] of [
    [403, true],
    [429, false],
    [503, false],
  ] as const) {
    const site = await Site.open(t, { '/a': say(challenge, {}, status) });
    const { run } = await setUp(t, site, '/a');
    await assert.rejects(run(), { name: 'FetchError', permanent });
  }
});

test('a refresh whose text could not be indexed indexes it when it is tried again, though it is stored', async (t) => {
  const site = await Site.open(t, { '/a': say(`<title>Locks</title><p>${words}</p>`) });
  const { temporary, bare, run } = await setUp(t, site, '/a');
  const { pages, jobs } = temporary.reader;
  await run();
  await temporary.commit(completeJob({ job_no: 1, claim: jobs.get(1)?.claim ?? 0 }, 10_000));
  const refresh = async () => {
    await temporary.commit(refreshPages([1], { at: 5000, max_attempts: 3 }));
    const [{ job, attempt }] = await temporary.claim(10_000);
    const completion = await run(job);
    await temporary.commit(completeJob(attempt, 20_000, completion));
  };
  await refresh();
  assert.deepEqual([bare.length, pages.get(1)?.indexed_at], [0, 20_000], 'the text is the same');
  // As the commit of an earlier run leaves it.
  await temporary.commit((transaction) => {
    const page = transaction.pages.get(1) ?? assert.fail();
    transaction.pages.put({ ...page, indexed_at: null }, page);
  });
  await refresh();
  assert.deepEqual([bare.length, pages.get(1)?.indexed_at], [1, 20_000]);
});

test('a title that is only the address is replaced by that of the page', async (t) => {
  const site = await Site.open(t, { '/a': say(`<title>Locks</title><p>${words}</p>`) });
  const { temporary, run } = await setUp(t, site, '/a');
  const { canonical_url } = temporary.reader.pages.get(1) ?? assert.fail();
  await temporary.commit(ingestPage(submission({ canonical_url, title: canonical_url, body: null })));
  assert.equal(temporary.reader.pages.get(1)?.title, canonical_url);
  await run();
  assert.equal(temporary.reader.pages.get(1)?.title, 'Locks');
});

test('an attempt after a crash indexes the text that is there, and fetches nothing', async (t) => {
  const site = await Site.open(t, { '/a': say(words, { 'content-type': 'text/plain' }) });
  const { temporary, indexed, run } = await setUp(t, site, '/a');
  await run();
  await temporary.commit(recoverOrphans('life 2', 20_000));
  const [{ job }] = await temporary.claim(20_000, { incarnation: 'life 2' });
  await run(job);
  assert.deepEqual(site.asked, ['/a']);
  assert.deepEqual(indexed, [1, 1]);
});

test('a rule that is made while the page is fetched counts', async (t) => {
  const [asked, ruled] = [deferred(), deferred()];
  const site = await Site.open(t, {
    '/short': redirectTo('/slow'),
    '/slow': async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('The first half. ');
      asked.resolve();
      await ruled.promise;
      response.end('The second half.');
    },
  });
  const { temporary, run } = await setUp(t, site, '/short');
  const running = assert.rejects(run(), { message: 'redirected to a blacklisted page' });
  await asked.promise;
  await temporary.commit(({ blacklist }) =>
    blacklist.put({ no: 1, pattern: '127.0.0.1', kind: 'domain', reason: null, created_at: 1, purging: false }),
  );
  ruled.resolve();
  await running;
  assert.equal(temporary.reader.pages.body(1), undefined);
});

test('an attempt that has lost its job stores nothing', async (t) => {
  const site = await Site.open(t, { '/a': say(words, { 'content-type': 'text/plain' }) });
  const { temporary, indexed, run } = await setUp(t, site, '/a');
  await temporary.commit(recoverOrphans('life 2', 20_000));
  await assert.rejects(run(), { message: 'another attempt has taken over' });
  assert.equal(temporary.reader.pages.body(1), undefined);
  assert.deepEqual(indexed, []);
});

test('a redirect to a known page leaves the submitted page a page of its own', async (t) => {
  const site = await Site.open(t, {
    '/short': redirectTo('/long'),
    '/long': say(words, { 'content-type': 'text/plain' }),
  });
  const { temporary, indexed, run } = await setUp(t, site, '/short');
  await temporary.commit(ingestPage(submission({ canonical_url: site.url('/long'), body: 'as it was' })));
  await run();
  const { pages } = temporary.reader;
  assert.deepEqual([pages.body(1), pages.body(2)], [words, 'as it was']);
  assert.deepEqual([pages.get(1)?.canonical_url, pages.get(2)?.visit_count], [site.url('/short'), 1]);
  assert.deepEqual(indexed, [1]);
});

test('of content types that a proxy joined with commas the last one holds, with the charset that was said of it', async (t) => {
  const type = 'text/plain, text/html; charset=windows-1251, text/html';
  const page = Buffer.from(`<title>\xcc\xee\xf1\xf2</title><p>${words}</p>`, 'latin1');
  const site = await Site.open(t, {
    '/joined': (_request, response) => response.writeHead(200, { 'content-type': type }).end(page),
  });
  const { temporary, run } = await setUp(t, site, '/joined');
  await run();
  assert.equal(temporary.reader.pages.get(1)?.title, 'Мост');
  assert.equal(temporary.reader.pages.body(1), words);
});

test('what names no content type is passed over', async (t) => {
  const html = `<!doctype html><p>${words}</p>`;
  for (const type of ['text/html, charset=utf-8', 'text/html, */*', 'utf-8']) {
    const site = await Site.open(t, { '/a': say(html, { 'content-type': type }) });
    const { temporary, run } = await setUp(t, site, '/a');
    await run();
    assert.equal(temporary.reader.pages.body(1), words, type);
  }
});

test('a type that nobody reads is refused before its body is sent', async (t) => {
  const site = await Site.open(t, {
    '/film': (_request, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).flushHeaders(),
  });
  const { run } = await setUp(t, site, '/film');
  const message = 'unsupported content type video/mp4';
  await assert.rejects(run(), { name: 'FetchError', message, permanent: true });
});
