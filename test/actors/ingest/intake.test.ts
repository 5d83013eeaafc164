import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { intakeService } from '../../../src/actors/ingest/intake.ts';
import { CommitFeed, type SystemAsk } from '../../../src/actors/system/service.ts';
import type { ExtractedPage } from '../../../src/compute/extraction/extract-html.ts';
import { defaultTrackingParams } from '../../../src/compute/web/canonical-url.ts';
import { DomainError, type ErrorCode } from '../../../src/domain/errors.ts';
import type { IngestPageRequest } from '../../../src/domain/page.ts';
import { idOf } from '../../../src/domain/values.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { Hosted } from '../hosted.ts';
import { keptLog } from '../quiet-log.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const extracted: ExtractedPage = {
  title: 'Title of the HTML',
  text: 'the text',
  sections: [{ char_start: 0, title: 'One' }],
  author: null,
  published_at: null,
  site_name: null,
  lang: null,
};

/** All pages have their chunks. */
const noPages = (async () => []) as unknown as SystemAsk;

async function startIntake(
  extract: () => Promise<ExtractedPage> = async () => extracted,
  quotaBytes: number | null = null,
) {
  const temporary = await TemporaryStore.open();
  const hosted = new Hosted(
    intakeService({
      ask: noPages,
      reader: temporary.store.reader,
      feed: new CommitFeed(),
      index: async () => {},
      log: keptLog().log,
      commit: (command) => temporary.commit(command),
      extract,
      canonicalize: { tracking_params: defaultTrackingParams, keep_params: {} },
      maxAttempts: 4,
      quotaBytes,
      usedBytes: () => temporary.store.usedBytes(),
      metrics: createMetrics().ofLibrary(),
      now: () => now,
    }),
  );
  const closing = { [Symbol.asyncDispose]: () => hosted.stop().then(() => temporary[Symbol.asyncDispose]()) };
  return { temporary, closing, hosted, ingest: (request: IngestPageRequest) => hosted.ask('page.ingest', request) };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const page1 = idOf('page', 1);

test('HTML becomes text, sections and, where none was given, a title', async () => {
  const { temporary, closing, ingest } = await startIntake();
  await using _ = closing;
  await ingest({ url: 'https://example.com/a', body_html: '<p>x' });
  await ingest({ url: 'https://example.com/b', body_html: '<p>x', title: 'Given' });
  const { pages } = temporary.store.reader;
  assert.deepEqual([pages.get(1)?.title, pages.get(2)?.title], ['Title of the HTML', 'Given']);
  assert.deepEqual([pages.body(1), pages.sections(1)], ['the text', extracted.sections]);
  assert.equal(pages.get(1)?.content_hash, sha256('the text'));
});

test('what stands in front of a page is kept without a text, with its title and the reason, until the page itself comes', async () => {
  const wall = { ...extracted, title: 'Sign in', text: 'Sign in to continue', wall: 'login_wall' as const };
  const walls: [IngestPageRequest, string][] = [
    [
      {
        url: 'https://example.com/0',
        title: 'Just a moment…',
        body_extracted: 'Checking your browser before accessing example.com.',
      },
      'challenge page',
    ],
    [
      { url: 'https://example.com/1', title: '404 Not Found', body_extracted: '404 Not Found\nnginx/1.18.0' },
      'error page',
    ],
    [{ url: 'https://example.com/2', title: 'Just a moment...', body_extracted: '' }, 'challenge page'],
    [{ url: 'https://example.com/3', title: null, body_html: '<form>' }, 'login page'],
  ];
  const { temporary, closing, ingest } = await startIntake(async () => wall);
  await using _ = closing;
  const { pages, jobs } = temporary.store.reader;
  for (const [at, [request, name]] of walls.entries()) {
    assert.equal((await ingest(request)).outcome, 'accepted');
    const page = pages.get(at + 1);
    const job = jobs.get(page?.index_job ?? 0);
    assert.deepEqual(
      [page?.title, pages.body(at + 1), page?.content_hash],
      [request.title ?? 'Sign in', undefined, null],
    );
    assert.deepEqual([job?.kind, job?.last_error], ['fetch_and_index', `submitted: ${name}`]);
  }
  const url = 'https://example.com/0';
  assert.equal(
    await ingest({ url, title: 'Eels', body_extracted: 'Eels climb.' }).then((reply) => reply.outcome),
    'revisit',
  );
  const filled = pages.get(1);
  assert.deepEqual(
    [filled?.title, pages.body(1), filled?.content_hash],
    ['Eels', 'Eels climb.', sha256('Eels climb.')],
  );
  await ingest(walls[0][0]);
  assert.deepEqual(
    [pages.get(1)?.title, pages.body(1)],
    ['Eels', 'Eels climb.'],
    'a wall takes nothing from a page that is there',
  );
});

test('a text that is handed in is stored as given, whatever it is about, and so is an article without its page', async () => {
  const texts: [title: string | null, text: string][] = [
    ['Sign in', 'My account of the library, see the card.'],
    ['Sign in to continue', 'Sign in to continue\nA story in three parts.'],
    ['Sign in', 'SIGN IN\nYou need to sign in to see the timetable. Forgot your password? Ask Jo.'],
    ['Cookies', 'Cookies\nMix butter and sugar, add flour and bake.'],
    ['Cookies', 'Our recipe uses cookies and cream. Accept all changes.'],
    ['Quote', 'Search for meaning'],
    ['Captcha', 'Captcha\nA CAPTCHA is a type of challenge-response test that asks you to prove you are human.'],
    ['My notes', 'Remember me'],
    ['Tip', 'Works without JavaScript'],
    ['Not found', 'The page does not exist in the facsimile; try again in the archive.'],
    ['Maintenance', 'Under maintenance'],
    [null, '404 Not Found'],
  ];
  const { temporary, closing, ingest } = await startIntake(async () => ({ ...extracted, wall: 'error_page' as const }));
  await using _ = closing;
  const { pages } = temporary.store.reader;
  for (const [at, [title, body_extracted]] of texts.entries()) {
    await ingest({ url: `https://example.com/${at}`, title, body_extracted });
    assert.equal(pages.body(at + 1), body_extracted, `${title}: ${body_extracted}`);
  }
  const wall = { title: 'Just a moment...', body_is_article: true };
  await ingest({ ...wall, url: 'https://example.com/text', body_extracted: 'Checking your browser before the visit' });
  await ingest({ ...wall, url: 'https://example.com/html', body_html: '<p>x' });
  assert.deepEqual(
    [texts.length + 1, texts.length + 2].map((no) => pages.body(no)),
    ['Checking your browser before the visit', 'the text'],
  );
});

const refused = (code: ErrorCode, message: RegExp) => (error: unknown) =>
  error instanceof DomainError && error.code === code && message.test(error.message);

test('why an extraction fails is the answer', async () => {
  const { closing, ingest } = await startIntake(() =>
    Promise.reject(new DomainError('extraction_unavailable', 'no extractor')),
  );
  await using _ = closing;
  const request = { url: 'https://example.com/a', body_html: '<p>x' };
  await assert.rejects(ingest(request), refused('extraction_unavailable', /no extractor/));
});

test('an item with the key __proto__ is rejected alone, and keys named as parts of objects are stored as they are', async () => {
  const { temporary, closing, hosted } = await startIntake();
  await using _ = closing;
  const metadata = '{"constructor":{"prototype":1},"prototype":[],"toJSON":1,"hasOwnProperty":null}';
  const results = await hosted.ask('page.ingestBatch', {
    pages: [
      { url: 'https://example.com/a', metadata: JSON.parse(metadata) },
      { url: 'https://example.com/b', metadata: JSON.parse('{"x":[0,{"__proto__":1}]}') },
      JSON.parse('{"url":"https://example.com/c","__proto__":{"title":"x"}}'),
    ],
  });
  assert.deepEqual(results, [
    { outcome: 'accepted', index: 0, page_id: page1, status: 'queued' },
    { outcome: 'rejected', index: 1, detail: 'metadata.x.1.__proto__: this key is not allowed' },
    { outcome: 'rejected', index: 2, detail: '__proto__: this key is not allowed' },
  ]);
  assert.equal(JSON.stringify(temporary.store.reader.pages.get(1)?.metadata), metadata);
});

test('trouble that is not an item’s own fails the batch, and nothing of it is stored', async () => {
  const { temporary, closing, hosted } = await startIntake(() =>
    Promise.reject(new DomainError('overloaded', 'too many pages are waiting', { retryAfterS: 1 })),
  );
  await using _ = closing;
  const pages = [
    { url: 'https://example.com/a', body_extracted: 'x' },
    { url: 'https://example.com/b', body_html: '<p>x' },
  ];
  await assert.rejects(hosted.ask('page.ingestBatch', { pages }), refused('overloaded', /too many/));
  assert.equal(temporary.store.reader.pages.count(), 0);
});

test('a lone surrogate in extracted text becomes U+FFFD, so that offsets agree with what is stored', async () => {
  const { temporary, closing, ingest } = await startIntake(async () => ({
    ...extracted,
    text: 'a\ud800b',
    title: '\udc00',
  }));
  await using _ = closing;
  await ingest({ url: 'https://example.com/a', body_html: '<p>x' });
  const { pages } = temporary.store.reader;
  assert.deepEqual([pages.body(1), pages.get(1)?.title], ['a\ufffdb', '\ufffd']);
});

test('at the quota new pages and batches are refused, and what is stored stays readable', async () => {
  const { temporary, closing, hosted, ingest } = await startIntake(undefined, 1);
  await using _ = closing;
  const overQuota = (error: unknown) => error instanceof DomainError && error.code === 'over_quota';
  await assert.rejects(ingest({ url: 'https://a.example/', body_extracted: 'a' }), overQuota);
  await assert.rejects(hosted.ask('page.ingestBatch', { pages: [{ url: 'https://a.example/' }] }), overQuota);
  assert.equal(temporary.store.reader.pages.count(), 0);
});
