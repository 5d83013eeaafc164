import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { intakeService } from '../../../src/actors/ingest/intake.ts';
import { CommitFeed, type SystemAsk } from '../../../src/actors/system/service.ts';
import type { ExtractedPage } from '../../../src/compute/extraction/extract-html.ts';
import { defaultTrackingParams } from '../../../src/compute/web/canonical-url.ts';
import { DomainError } from '../../../src/domain/errors.ts';
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

async function startIntake(
  extract: () => Promise<ExtractedPage> = async () => extracted,
  quotaBytes: number | null = null,
) {
  /** All pages have their chunks. */
  const noPages = (async () => []) as unknown as SystemAsk;
  const temporary = await TemporaryStore.open();
  const hosted = new Hosted(
    intakeService({
      ask: noPages,
      reader: temporary.reader,
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
  return {
    reader: temporary.reader,
    hosted,
    ingest: (request: IngestPageRequest) => hosted.ask('page.ingest', request),
    [Symbol.asyncDispose]: () => hosted.stop().then(() => temporary[Symbol.asyncDispose]()),
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const page1 = idOf('page', 1);

test('HTML becomes text, sections and, where none was given, a title', async () => {
  await using intake = await startIntake();
  await intake.ingest({ url: 'https://example.com/a', body_html: '<p>x' });
  await intake.ingest({ url: 'https://example.com/b', body_html: '<p>x', title: 'Given' });
  const { pages } = intake.reader;
  assert.deepEqual([pages.get(1)?.title, pages.get(2)?.title], ['Title of the HTML', 'Given']);
  assert.deepEqual([pages.body(1), pages.sections(1)], ['the text', extracted.sections]);
  assert.equal(pages.get(1)?.content_hash, sha256('the text'));
});

test('what stands in front of a page is kept without a text, with its title and the reason, until the page itself comes', async () => {
  const wall = { ...extracted, title: 'Sign in', text: 'Sign in to continue', wall: 'login_wall' as const };
  const checking = 'Checking your browser before accessing example.com.';
  const notFound = { title: '404 Not Found', body_extracted: '404 Not Found\nnginx/1.18.0' };
  const walls: [Omit<IngestPageRequest, 'url'>, string][] = [
    [{ title: 'Just a moment…', body_extracted: checking }, 'challenge page'],
    [notFound, 'error page'],
    [{ title: 'Just a moment...', body_extracted: '' }, 'challenge page'],
    [{ title: null, body_html: '<form>' }, 'login page'],
  ];
  await using intake = await startIntake(async () => wall);
  const { pages, jobs } = intake.reader;
  const stored = (no: number) => [pages.get(no)?.title, pages.body(no), pages.get(no)?.content_hash];
  const url = (at: number) => `https://example.com/${at}`;
  for (const [at, [request, name]] of walls.entries()) {
    assert.equal((await intake.ingest({ ...request, url: url(at) })).outcome, 'accepted');
    const job = jobs.get(pages.get(at + 1)?.index_job ?? 0);
    assert.deepEqual(stored(at + 1), [request.title ?? 'Sign in', undefined, null]);
    assert.deepEqual([job?.kind, job?.last_error], ['fetch_and_index', `submitted: ${name}`]);
  }
  const page = { title: 'Eels', body_extracted: 'Eels climb.' };
  assert.equal((await intake.ingest({ ...page, url: url(0) })).outcome, 'revisit');
  assert.deepEqual(stored(1), ['Eels', 'Eels climb.', sha256('Eels climb.')]);
  await intake.ingest({ ...walls[0][0], url: url(0) });
  assert.deepEqual(stored(1).slice(0, 2), ['Eels', 'Eels climb.'], 'a wall takes nothing from a page that is there');
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
  await using intake = await startIntake(async () => ({ ...extracted, wall: 'error_page' as const }));
  const { pages } = intake.reader;
  for (const [at, [title, body_extracted]] of texts.entries()) {
    await intake.ingest({ url: `https://example.com/${at}`, title, body_extracted });
    assert.equal(pages.body(at + 1), body_extracted, `${title}: ${body_extracted}`);
  }
  const wall = { title: 'Just a moment...', body_is_article: true };
  const checking = 'Checking your browser before the visit';
  await intake.ingest({ ...wall, url: 'https://example.com/text', body_extracted: checking });
  await intake.ingest({ ...wall, url: 'https://example.com/html', body_html: '<p>x' });
  assert.deepEqual([pages.body(texts.length + 1), pages.body(texts.length + 2)], [checking, 'the text']);
});

test('why an extraction fails is the answer, and fails its whole batch, of which nothing is stored', async () => {
  const overloaded = { code: 'overloaded', message: 'too many pages are waiting' } as const;
  await using intake = await startIntake(() => Promise.reject(new DomainError(overloaded.code, overloaded.message)));
  const html = { url: 'https://example.com/b', body_html: '<p>x' };
  await assert.rejects(intake.ingest(html), overloaded);
  const pages = [{ url: 'https://example.com/a', body_extracted: 'x' }, html];
  await assert.rejects(intake.hosted.ask('page.ingestBatch', { pages }), overloaded);
  assert.equal(intake.reader.pages.count(), 0);
});

test('an item with the key __proto__ is rejected alone, and keys named as parts of objects are stored as they are', async () => {
  await using intake = await startIntake();
  const metadata = '{"constructor":{"prototype":1},"prototype":[],"toJSON":1,"hasOwnProperty":null}';
  const results = await intake.hosted.ask('page.ingestBatch', {
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
  assert.equal(JSON.stringify(intake.reader.pages.get(1)?.metadata), metadata);
});

test('a lone surrogate in extracted text becomes U+FFFD, so that offsets agree with what is stored', async () => {
  await using intake = await startIntake(async () => ({ ...extracted, text: 'a\ud800b', title: '\udc00' }));
  await intake.ingest({ url: 'https://example.com/a', body_html: '<p>x' });
  const { pages } = intake.reader;
  assert.deepEqual([pages.body(1), pages.get(1)?.title], ['a\ufffdb', '\ufffd']);
});

test('at the quota new pages and batches are refused, and what is stored stays readable', async () => {
  await using intake = await startIntake(undefined, 1);
  const overQuota = { code: 'over_quota' };
  await assert.rejects(intake.ingest({ url: 'https://a.example/', body_extracted: 'a' }), overQuota);
  const pages = [{ url: 'https://a.example/' }];
  await assert.rejects(intake.hosted.ask('page.ingestBatch', { pages }), overQuota);
  assert.equal(intake.reader.pages.count(), 0);
});
