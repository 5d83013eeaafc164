/** The fetch job against a real store and a real site: what is stored, what is not, and what an attempt after a crash does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recoverOrphans } from '../../../src/commands/claim-jobs.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { completeJob } from '../../../src/commands/move-job.ts';
import { refreshPages } from '../../../src/commands/store-fetched.ts';
import { FetchError } from '../../../src/providers/fetch-error.ts';
import { submission } from '../../commands/submissions.ts';
import { redirectTo, Site, say } from '../../providers/small-web.ts';
import { claim, setUp } from './fetch-set-up.ts';

const words = 'The lock keeper opens the gate at dawn. '.repeat(10).trim();

test('the text, its hash and its title are stored, then the page is indexed', async (t) => {
  const site = await Site.open(t, { '/a': say(`<title>Locks</title><h2>Dawn</h2><p>${words}</p>`) });
  const { temporary, indexed, run } = await setUp(t, site, '/a');
  await run();
  const { pages } = temporary.store.reader;
  assert.ok(pages.body(1)?.includes(words));
  assert.equal(pages.get(1)?.title, 'Locks');
  assert.equal(pages.get(1)?.content_hash?.length, 64);
  assert.deepEqual(pages.sections(1), [{ char_start: 0, title: 'Dawn' }]);
  assert.deepEqual(indexed, [1]);
});

test('a page that stays without a text is found by what its answer says of it', async (t) => {
  const head =
    '<title>Eels</title><meta property="og:title" content="Eels of the north"><meta property="og:description" content="How eels climb weirs.">';
  const answers: [string, string, string | null, object | null][] = [
    ['no readable text', `${head}<div id="root"></div>`, 'Eels of the north', { description: 'How eels climb weirs.' }],
    [
      'login page',
      `${head}<h1>Sign in</h1><form><input type="password"></form>`,
      'Eels of the north',
      { description: 'How eels climb weirs.' },
    ],
    ['challenge page', '<title>Just a moment...</title><script>_cf_chl_opt</script>', null, null],
  ];
  for (const [message, html, title, metadata] of answers) {
    const site = await Site.open(t, { '/a': say(html) });
    const { temporary, indexed, bare, run } = await setUp(t, site, '/a');
    await assert.rejects(run(), new RegExp(message));
    const { pages } = temporary.store.reader;
    assert.deepEqual(
      [pages.get(1)?.title, pages.get(1)?.metadata, pages.body(1)],
      [title, metadata, undefined],
      message,
    );
    assert.deepEqual([indexed, bare], [[], title === null ? [] : [{ title, metadata, attempt: null }]]);
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
    await assert.rejects(run(), (error) => error instanceof FetchError && error.permanent === permanent);
  }
});

test('a refresh whose text could not be indexed indexes it when it is tried again, though it is stored', async (t) => {
  const site = await Site.open(t, { '/a': say(`<title>Locks</title><p>${words}</p>`) });
  const { temporary, bare, run } = await setUp(t, site, '/a');
  const { pages, jobs } = temporary.store.reader;
  await run();
  await temporary.commit(completeJob({ job_no: 1, claim: jobs.get(1)?.claim ?? 0 }, 10_000));
  const refresh = async () => {
    await temporary.commit(refreshPages([1], { at: 5000, max_attempts: 3 }));
    const [job] = (await temporary.commit(claim)).jobs;
    const completion = await run(job);
    await temporary.commit(completeJob({ job_no: job.no, claim: job.claim }, 20_000, completion));
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
  const { canonical_url } = temporary.store.reader.pages.get(1) ?? assert.fail();
  await temporary.commit(ingestPage(submission({ canonical_url, title: canonical_url, body: null })));
  assert.equal(temporary.store.reader.pages.get(1)?.title, canonical_url);
  await run();
  assert.equal(temporary.store.reader.pages.get(1)?.title, 'Locks');
});

test('an attempt after a crash indexes the text that is there, and fetches nothing', async (t) => {
  const site = await Site.open(t, { '/a': say(words, { 'content-type': 'text/plain' }) });
  const { temporary, indexed, run } = await setUp(t, site, '/a');
  await run();
  await temporary.commit(recoverOrphans('life 2', 20_000));
  const { jobs } = await temporary.commit(claim);
  await run(jobs[0]);
  assert.deepEqual(site.asked, ['/a']);
  assert.deepEqual(indexed, [1, 1]);
});

test('a rule that is made while the page is fetched counts', async (t) => {
  const { promise: asked, resolve: tell } = gate();
  const { promise: ruled, resolve: goOn } = gate();
  const site = await Site.open(t, {
    '/short': redirectTo('/slow'),
    '/slow': async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('The first half. ');
      tell();
      await ruled;
      response.end('The second half.');
    },
  });
  const { temporary, run } = await setUp(t, site, '/short');
  const running = assert.rejects(run(), { message: 'redirected to a blacklisted page' });
  await asked;
  await temporary.commit(({ blacklist }) =>
    blacklist.put({ no: 1, pattern: '127.0.0.1', kind: 'domain', reason: null, created_at: 1, purging: false }),
  );
  goOn();
  await running;
  assert.equal(temporary.store.reader.pages.body(1), undefined);
});

test('an attempt that has lost its job stores nothing', async (t) => {
  const site = await Site.open(t, { '/a': say(words, { 'content-type': 'text/plain' }) });
  const { temporary, indexed, run } = await setUp(t, site, '/a');
  await temporary.commit(recoverOrphans('life 2', 20_000));
  await assert.rejects(run(), { message: 'another attempt has taken over' });
  assert.equal(temporary.store.reader.pages.body(1), undefined);
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
  const { pages } = temporary.store.reader;
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
  assert.equal(temporary.store.reader.pages.get(1)?.title, 'Мост');
  assert.equal(temporary.store.reader.pages.body(1), words);
});

test('what names no content type is passed over', async (t) => {
  const html = `<!doctype html><p>${words}</p>`;
  for (const type of ['text/html, charset=utf-8', 'text/html, */*', 'utf-8']) {
    const site = await Site.open(t, { '/a': say(html, { 'content-type': type }) });
    const { temporary, run } = await setUp(t, site, '/a');
    await run();
    assert.equal(temporary.store.reader.pages.body(1), words, type);
  }
});

test('a type that nobody reads is refused before its body is sent', async (t) => {
  const site = await Site.open(t, {
    '/film': (_request, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).flushHeaders(),
  });
  const { run } = await setUp(t, site, '/film');
  await assert.rejects(
    run(),
    (error) => error instanceof FetchError && error.message === 'unsupported content type video/mp4' && error.permanent,
  );
});

function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve };
}
