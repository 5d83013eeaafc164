/** Podcasts and audio files in a whole system: feeds, transcripts, recordings, with programs made for the test. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PageResponse } from '../../src/domain/page.ts';
import { idOf } from '../../src/domain/values.ts';
import { createWatchRequest } from '../../src/domain/watch.ts';
import { until } from '../process/service.ts';
import { FakePrograms, fakeFfmpeg, isAlive } from '../providers/fake-programs.ts';
import { redirectTo, Site, say } from '../providers/small-web.ts';
import { WholeSystem } from './whole-system.ts';

/** A system with a recognizer that says the same of every recording. */
async function startSystem(t: TestContext, { speech, env = {} }: { speech: string; env?: NodeJS.ProcessEnv }) {
  const programs = new FakePrograms(t);
  programs.add('ffmpeg', fakeFfmpeg(20));
  programs.add('speech', speech);
  const system = await WholeSystem.start(t, {
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_WATCH__POLL_TICK_ENABLED: 'false',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    SERVICE_FETCH__TIMEOUT_S: '60',
    SERVICE_PROGRAM_PATH: `${programs.path}:${process.env.PATH}`,
    SERVICE_TRANSCRIBE__COMMAND: 'speech {audio}',
    ...env,
  });
  const add = async (url: string, more: object = {}) => {
    const outcome = await system.ask('page.ingest', { url, ...more });
    assert.equal(outcome.outcome, 'accepted');
    return 'page_id' in outcome ? outcome.page_id : assert.fail();
  };
  /** The page when its job has ended, with the error of it. */
  const settled = async (page_id: string) => {
    const isSettled = async () => ['indexed', 'dead'].includes((await system.ask('page.status', { page_id })).status);
    await until(isSettled, `${page_id} is settled`);
    const { last_error } = await system.ask('page.status', { page_id });
    return { ...(await system.page(page_id)), last_error };
  };
  const temporary = join(system.dataDir, 'tmp', 'recordings');
  return { system, programs, add, settled, temporary };
}

const found = async (system: WholeSystem, query: string) => {
  const { results } = await system.search(query);
  return results.map(({ page_id }) => page_id);
};

const printed = (...lines: string[]) => `process.stdout.write(${JSON.stringify(lines.join('\n'))})`;

const transcripts: Record<string, [type: string, body: string]> = {
  vtt: ['text/vtt', 'WEBVTT\n\n00:05.000 --> 00:09.000\n<v Ada>The weir was built of alder.\n'],
  srt: ['application/x-subrip', '1\r\n00:00:05,000 --> 00:00:09,000\r\nThe sluice was built of beech.\r\n'],
  json: [
    'application/json',
    JSON.stringify({
      version: '1.0.0',
      segments: [{ speaker: 'Ada', startTime: 5, endTime: 9, body: 'The jetty was built of cedar.' }],
    }),
  ],
  html: ['text/html', '<cite>Ada:</cite><time>0:05</time><p>The bridge was built of dogwood.</p>'],
  txt: ['text/plain', 'The ferry was built of elm.'],
};

const feedOf = (items: string[]) => `<?xml version="1.0"?>
<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel><title>River talk</title><link>/home</link><language>en-GB</language>${items.join('')}</channel></rss>`;

test('every format of published transcripts, and a recording without one, becomes a page that is found by a word of it', async (t) => {
  const { system, programs, settled, temporary } = await startSystem(t, {
    speech: printed('[00:01.000 --> 00:03.000] The mill was built of fir.'),
  });
  const items = Object.entries(transcripts).map(
    ([name, [type]], i) =>
      `<item><title>Talk ${i}</title><link>/talk/${i}</link><pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate>
      <itunes:author>Ada</itunes:author><itunes:duration>1:02:03</itunes:duration>
      <enclosure url="/audio/${i}.mp3?utm_source=feed" type="audio/mpeg" length="9"/>
      <podcast:transcript url="/gone.vtt" type="text/vtt" language="de"/>
      <podcast:transcript url="/transcript.${name}" type="${type}" language="en"/>
      <podcast:chapters url="/chapters.json" type="application/json+chapters"/></item>`,
  );
  items.push(
    '<item><title>Video</title><link>/talk/v</link><enclosure url="/v.mov" type="video/quicktime"/></item>',
    '<item><title>Article</title><link>/talk/a</link></item>',
    '<item><title>Spoken</title><enclosure url="/audio/spoken.mp3" type="audio/mpeg"/><podcast:transcript url="/broken.vtt" type="text/vtt"/></item>',
    '<item><title>Known</title><enclosure url="/audio/known.mp3" type="audio/mpeg"/></item>',
    '<item><title>Forgotten</title><enclosure url="/audio/forgotten.mp3" type="audio/mpeg"/></item>',
  );
  const web = await Site.open(t, {
    '/feed': say(feedOf(items), { 'content-type': 'application/rss+xml' }),
    '/chapters.json': say(JSON.stringify({ chapters: [{ startTime: 0, title: 'Building' }] }), {
      'content-type': 'application/json',
    }),
    '/broken.vtt': say('no transcript here', {}, 404),
    '/audio/spoken.mp3': say('sound', { 'content-type': 'audio/mpeg' }),
    ...Object.fromEntries(
      Object.entries(transcripts).map(([name, [type, body]]) => [
        `/transcript.${name}`,
        say(body, { 'content-type': type }),
      ]),
    ),
  });
  await system.ask('page.ingest', { url: web.url('/audio/known.mp3'), body_extracted: 'Known.' });
  await system.ask('page.forget', { url: web.url('/audio/forgotten.mp3') });
  const watch = await system.ask('watch.create', createWatchRequest.parse({ url: web.url('/feed'), kind: 'podcast' }));
  await system.ask('watch.run', { watch_id: watch.id });
  const polled = async () => (await system.ask('watch.get', { watch_id: watch.id })).last_status !== 'pending';
  await until(polled, 'the podcast is polled');
  const { last_status, last_error, last_item_count } = await system.ask('watch.get', { watch_id: watch.id });
  assert.deepEqual([last_status, last_error, last_item_count], ['ok', null, 8]);

  const pages: (PageResponse & { last_error: string | null })[] = [];
  for (let no = 2; no <= 7; no++) pages.push(await settled(idOf('page', no)));
  assert.deepEqual(
    pages.map(({ status, title, last_error }) => [status, title, last_error]),
    [...Object.keys(transcripts).map((_, i) => ['indexed', `Talk ${i}`, null]), ['indexed', 'Spoken', null]],
  );
  assert.deepEqual(
    pages.map(({ body_text }) => body_text),
    [
      'Ada: The weir was built of alder.',
      'The sluice was built of beech.',
      'Ada: The jetty was built of cedar.',
      'Ada: The bridge was built of dogwood.',
      'The ferry was built of elm.',
      'The mill was built of fir.',
    ],
  );
  assert.equal(pages[0].canonical_url, web.url('/audio/0.mp3'));
  assert.deepEqual(pages[0].metadata, {
    watch_id: watch.id,
    feed_url: web.url('/feed'),
    feed_title: 'River talk',
    published_at: '2026-11-20T10:00:00.000Z',
    watch_kind: 'podcast',
    episode_url: web.url('/talk/0'),
    author: 'Ada',
    duration_s: 3723,
    lang: 'en-GB',
    chapters_url: web.url('/chapters.json'),
    transcripts: [{ url: web.url('/transcript.vtt'), type: 'text/vtt' }],
    transcript: 'published',
  });
  assert.equal(pages[5].metadata?.transcript, 'local');
  const sections = await Promise.all(
    pages.map(async ({ page_id }) => {
      const chunks = await system.chunks(page_id);
      return chunks.map(({ section_start_s, section_title }) => [section_start_s, section_title]);
    }),
  );
  assert.deepEqual(sections, [
    [[5, 'Building']],
    [[5, 'Building']],
    [[5, 'Building']],
    [[5, 'Building']],
    [[null, null]],
    [[1, null]],
  ]);
  for (const [i, wood] of ['alder', 'beech', 'cedar', 'dogwood', 'elm', 'fir'].entries()) {
    assert.deepEqual((await found(system, wood)).slice(0, 1), [pages[i].page_id], wood);
  }
  assert.ok(!web.asked.some((path) => path.startsWith('/audio/0')), 'what is written down already is not loaded');
  assert.equal(web.asked.filter((path) => path === '/gone.vtt').length, 0, 'a translation is not what was said');
  assert.equal(programs.notes('speech').length, 1);
  assert.deepEqual(existsSync(temporary) ? readdirSync(temporary) : [], []);
});

test('what a watch of a podcast asks for: recordings only, a bound, notes of the feed in place of a recording that is gone', async (t) => {
  const { system, settled } = await startSystem(t, { speech: printed('[00:01.000 --> 00:03.000] Recognized here.') });
  const item = (name: string) =>
    `<item><title>${name}</title><description>Notes of ${name}: ${'the river rose. '.repeat(20)}</description>
    <enclosure url="/${name}.mp3" type="audio/mpeg"/><podcast:transcript url="/t.vtt" type="text/vtt"/></item>`;
  const web = await Site.open(t, {
    '/feed': say(feedOf([item('there'), item('gone'), item('later')]), { 'content-type': 'text/xml' }),
    '/there.mp3': say('sound', { 'content-type': 'audio/mpeg' }),
  });
  const config = { transcripts: 'local', max_items: '2', feed_content: 'fallback', source: 'talks' };
  const watch = await system.ask(
    'watch.create',
    createWatchRequest.parse({ url: web.url('/feed'), kind: 'podcast', config }),
  );
  await system.ask('watch.run', { watch_id: watch.id });
  const polled = async () => (await system.ask('watch.get', { watch_id: watch.id })).last_status === 'ok';
  await until(polled, 'the podcast is polled');
  const there = await settled(idOf('page', 1));
  assert.deepEqual(
    [there.body_text, there.source, there.metadata?.transcripts],
    ['Recognized here.', 'talks', undefined],
  );
  assert.match((await settled(idOf('page', 2))).body_text ?? '', /^Notes of gone: the river rose/);
  assert.equal((await system.ask('job.list', { kind: 'fetch_and_index', limit: 10 })).jobs.length, 2);
  for (const [bad, said] of [
    [{ transcripts: 'never' }, /config\.transcripts/],
    [{ max_items: '0' }, /config\.max_items/],
  ] as const) {
    const body = createWatchRequest.parse({ url: web.url('/other'), kind: 'podcast', config: bad });
    await assert.rejects(async () => system.ask('watch.create', body), { code: 'invalid', message: said });
  }
});

test('an episode whose address is signed anew at each fetch stays one page; a guid that two share says nothing', async (t) => {
  const { system, settled } = await startSystem(t, { speech: printed('[00:01.000 --> 00:03.000] Recognized here.') });
  let fetches = 0;
  const item = (name: string, guid: string) =>
    `<item><title>${name}</title><guid isPermaLink="false">${guid}</guid>
    <enclosure url="/${name}.mp3?signature=${fetches}" type="audio/mpeg"/></item>`;
  const web = await Site.open(t, {
    '/feed': (_request, response) => {
      fetches++;
      const items = [item('weirs', 'one'), item('eels', 'same'), item('locks', 'same')];
      response.writeHead(200, { 'content-type': 'text/xml' }).end(feedOf(items.slice(0, fetches < 3 ? 1 : 3)));
    },
    '*': say('sound', { 'content-type': 'audio/mpeg' }),
  });
  const watch = await system.ask('watch.create', createWatchRequest.parse({ url: web.url('/feed'), kind: 'podcast' }));
  const poll = async () => {
    const { job_id } = await system.ask('watch.run', { watch_id: watch.id });
    const isDone = async () =>
      (await system.ask('job.list', { kind: 'poll_watch', status: 'done', limit: 10 })).jobs.some(
        (job) => job.job_id === job_id,
      );
    await until(isDone, 'the podcast is polled');
    return (await system.ask('job.list', { kind: 'fetch_and_index', limit: 10 })).jobs.length;
  };
  assert.deepEqual([await poll(), await poll(), fetches], [1, 1, 2]);
  assert.equal((await settled(idOf('page', 1))).canonical_url, web.url('/weirs.mp3?signature=1'));
  assert.deepEqual([await poll(), fetches], [3, 3]);
});

test('without anything to transcribe with, podcasts are refused and audio is not loaded', async (t) => {
  const { system, add, settled } = await startSystem(t, {
    speech: '',
    env: { SERVICE_PROGRAM_PATH: '/nowhere', SERVICE_TRANSCRIBE__COMMAND: '' },
  });
  const web = await Site.open(t, { '/a.mp3': say('sound', { 'content-type': 'audio/mpeg' }) });
  const body = createWatchRequest.parse({ url: web.url('/feed'), kind: 'podcast' });
  await assert.rejects(async () => system.ask('watch.create', body), {
    code: 'invalid',
    message: 'podcasts cannot be watched: no speech recognizer: set transcribe.command or transcribe.base_url',
  });
  const page = await settled(await add(web.url('/a.mp3')));
  assert.equal(page.status, 'dead');
  assert.match(page.last_error ?? '', /^recordings cannot be read: no speech recognizer/);
  assert.equal(web.connections, 0);
});

test('audio has the same rules as pages: addresses, bytes, time, and nothing is left behind', async (t) => {
  const { system, add, settled, temporary, programs } = await startSystem(t, {
    speech: printed('[00:01.000 --> 00:03.000] The heron waits.'),
    env: { SERVICE_FETCH__AUDIO_MAX_BYTES: '100000' },
  });
  /** Start the system again with other settings. */
  const restart = async (env: NodeJS.ProcessEnv) => {
    await system.stop();
    Object.assign(system.env, env);
    await system.start();
  };
  const audio = { 'content-type': 'audio/mpeg' };
  const inner = await Site.open(t, { '/inner.mp3': say('sound', audio) }, '127.0.0.2');
  const web = await Site.open(t, {
    '/heron.mp3': say('sound', audio),
    '/untyped.mp3': say('sound', { 'content-type': 'application/octet-stream' }),
    '/slow.ogg': (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/ogg' }).write('so');
      setTimeout(() => response.end('und'), 700);
    },
    '/redirect.mp3': redirectTo(inner.url('/inner.mp3', '127.0.0.2')),
    '/large.mp3': say(Buffer.alloc(100_001), audio),
    '/drip.mp3': (_request, response) => {
      response.writeHead(200, audio);
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(drip));
    },
    '/no.mp3': say('no sound', audio),
    '/list.m3u': say('#EXTM3U', { 'content-type': 'audio/x-mpegurl' }),
    '/page.mp3': say('<p>Not found, but politely</p>', {}, 404),
  });
  const outcome = async (path: string) => {
    const { status, body_text, last_error } = await settled(await add(web.url(path)));
    assert.deepEqual(existsSync(temporary) ? readdirSync(temporary) : [], [], path);
    return [status, body_text ?? last_error];
  };
  for (const path of ['/heron.mp3', '/untyped.mp3']) {
    assert.deepEqual(await outcome(path), ['indexed', 'The heron waits.'], path);
  }
  const failures = {
    '/redirect.mp3': 'blocked address: fetch.allow_private_hosts does not list it',
    '/large.mp3': 'larger than 100000 bytes',
    '/no.mp3': 'the recording is damaged or has an unsupported format',
    '/list.m3u': 'unsupported content type audio/x-mpegurl',
    '/page.mp3': 'HTTP 404',
  };
  for (const [path, error] of Object.entries(failures)) assert.deepEqual(await outcome(path), ['dead', error], path);
  await restart({ SERVICE_FETCH__AUDIO_TIMEOUT_S: '1' });
  assert.deepEqual(await outcome('/drip.mp3'), ['dead', 'timed out after 1 s']);
  // It takes longer than a page may. A machine that is held up meanwhile tries again.
  const patient = { SERVICE_JOBS__MAX_ATTEMPTS: '20', SERVICE_JOBS__BACKOFF_BASE_S: '0.01' };
  await restart({ ...patient, SERVICE_FETCH__AUDIO_TIMEOUT_S: '60', SERVICE_FETCH__TIMEOUT_S: '0.5' });
  assert.deepEqual(await outcome('/slow.ogg'), ['indexed', 'The heron waits.']);
  assert.equal(inner.connections, 0);
  assert.equal(programs.notes('speech').length, 3);
  assert.equal((await found(system, 'heron')).length, 3);
});

test('a recording that is forgotten while it is transcribed ends at once, with its program and its file', async (t) => {
  const { system, add, temporary, programs } = await startSystem(t, {
    speech: 'note(String(process.pid)); setInterval(() => {}, 1000)',
  });
  const web = await Site.open(t, { '/a.mp3': say('sound', { 'content-type': 'audio/mpeg' }) });
  await add(web.url('/a.mp3'));
  await until(() => programs.notes('speech').length === 2, 'it is transcribed');
  const [folder] = readdirSync(temporary);
  assert.deepEqual(
    ['', 'recording', 'piece.wav'].map((name) => statSync(join(temporary, folder, name)).mode & 0o777),
    [0o700, 0o600, 0o600],
  );
  await system.ask('page.forget', { url: web.url('/a.mp3') });
  const pid = programs.notes('speech')[1];
  await until(() => readdirSync(temporary).length === 0, 'the file is gone');
  await until(() => !isAlive(Number(pid)), 'the program is gone');
});
