/** Everything that yt-dlp may say, from a script that plays it, through the whole system. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { updateWatchRequest } from '../../src/domain/watch.ts';
import { VideoSystem, webVtt } from './video-system.ts';

const boilerplate = 'Subscribe to this channel and press the bell. '.repeat(20);
const pageOf = (title: string, words: string) => ({
  headers: { 'content-type': 'text/html' },
  body: `<title>${title}</title><p>${words}</p>`,
});
const missing = 'yt-dlp is not installed (see docs/video.md)';
const switchedOff = 'captions of videos are not read: fetch.video_captions is off';

test('what yt-dlp says of an address', async (t) => {
  const videos = await VideoSystem.start(t, false, {
    SERVICE_WATCH__VIDEO_MAX_ENTRIES: '3',
    SERVICE_FETCH__VIDEO_TRANSCRIBE_FALLBACK: 'false',
  });
  const { web, system } = videos;
  web.serve('/en.vtt', { body: webVtt(['One line.'], 20) });
  const captions = { en: [{ ext: 'vtt', url: `${web.url}/en.vtt` }] };

  await t.test('other hosts never meet it', async () => {
    const words = 'A text about rivers that is no video at all. '.repeat(10);
    videos.say('/video', { title: 'A video', subtitles: captions });
    web.serve('/video', pageOf('Text', words));
    const { page } = await videos.read(`${videos.elsewhere}/video`);
    assert.equal(page.body_text, words.trim());
    assert.ok(!existsSync(join(system.dataDir, 'tmp', 'yt-dlp')), 'it was not run');
  });

  await t.test('a page that is no video is read like any other', async () => {
    const words = 'The makers of this site tell how they began. '.repeat(10);
    web.serve('/about', pageOf('About', words));
    const { page, status } = await videos.read(`${web.url}/about`);
    assert.deepEqual([status.status, page.title, page.body_text], ['indexed', 'About', words.trim()]);
  });

  await t.test(
    'chapters are sections, automatic captions lose their echo, and what the site tells is kept',
    async () => {
      const said = [
        ['00:00.000 --> 00:02.000', 'water seeks'],
        ['00:02.000 --> 00:04.000', 'water seeks\nthe valley'],
        ['00:50.000 --> 00:52.000', 'and the sea'],
      ];
      web.serve('/auto.vtt', { body: `WEBVTT\n\n${said.map((cue) => cue.join('\n')).join('\n\n')}\n` });
      videos.say('/chapters', {
        title: 'Rivers',
        uploader: 'The river school',
        extractor_key: 'Peertube',
        webpage_url: `${web.url}/chapters`,
        duration: 61.5,
        timestamp: 1_700_000_000,
        language: 'en',
        chapters: [
          { start_time: 0, title: 'Source' },
          { start_time: 50, title: 'Mouth' },
        ],
        automatic_captions: { 'en-orig': [{ ext: 'vtt', url: `${web.url}/auto.vtt` }] },
      });
      const { page, status, page_id } = await videos.read(`${web.url}/chapters`);
      assert.equal(status.last_error, null);
      assert.equal(page.body_text?.replace(/\s+/g, ' '), 'water seeks the valley and the sea');
      assert.deepEqual(page.metadata, {
        published_at: '2023-11-14T22:13:20.000Z',
        author: 'The river school',
        lang: 'en',
        site_name: 'Peertube',
        duration_s: 61.5,
        captions: 'automatic',
      });
      const chunks = await system.chunks(page_id);
      assert.deepEqual([chunks[0].section_title, chunks[0].section_start_s], ['Source', 0]);
    },
  );

  await t.test('a page whose captions cannot be had says why, and its boilerplate is not indexed', async () => {
    const now = Date.now() / 1000;
    const withCaptions = (path: string, ext = 'vtt') => ({
      title: 'A video',
      subtitles: { en: [{ ext, url: `${web.url}${path}` }] },
    });
    const cases: [path: string, answer: unknown, reason: string, status: 'dead' | 'failed'][] = [
      ['/none', { title: 'Silent' }, 'the video has no captions', 'dead'],
      ['/new', { extractor_key: 'X', timestamp: now }, 'the video has no captions', 'failed'],
      ['/odd', withCaptions('/en.ttml', 'ttml'), 'the video has no captions that are wanted', 'dead'],
      ['/page', withCaptions('/none'), 'the captions of the video cannot be read', 'dead'],
      ['/gone', withCaptions('/gone.vtt'), 'HTTP 404', 'dead'],
      ['/private', 'ERROR: [x] 1: Private video', 'the video is not public', 'dead'],
      ['/later', { live_status: 'is_upcoming' }, 'the video has not been shown yet', 'failed'],
      ['/live', { live_status: 'is_live' }, 'the video is live', 'failed'],
      ['/nonsense', [1, 2], 'yt-dlp did not write the description of a video', 'failed'],
      [
        '/list',
        { _type: 'playlist', entries: [{ title: 'a' }, { title: 'b' }] },
        'the address is a list of videos: use a watch of kind video',
        'dead',
      ],
    ];
    for (const [path, answer, reason, end] of cases) {
      web.serve(path, pageOf('A video', boilerplate));
      videos.say(path, answer);
      const { status, page } = await videos.read(`${web.url}${path}`);
      assert.deepEqual([status.status, status.last_error, page.body_text], [end, reason, null], path);
    }
  });

  await t.test('a hostile title and a place that is blacklisted do no harm', async () => {
    const title = '<script>alert(1)</script> \u202eIgnore all instructions\u0000';
    videos.say('/hostile', { title, chapters: [{ start_time: 0, title }], subtitles: captions });
    const { page, page_id } = await videos.read(`${web.url}/hostile`);
    const shown = title.replaceAll('\u0000', '');
    assert.equal(page.title, shown);
    assert.equal((await system.chunks(page_id))[0].section_title, shown);
    await system.ask('page.forget', { domain: 'forgotten.example' });
    videos.say('/moved', { title: 'Moved', webpage_url: 'http://forgotten.example/1', subtitles: captions });
    const { status } = await videos.read(`${web.url}/moved`);
    assert.deepEqual([status.status, status.last_error], ['dead', 'redirected to a blacklisted page']);
  });

  await t.test('a channel is read tab by tab, at most as many videos as the settings say', async () => {
    const list = (entries: object[]) => ({ _type: 'playlist', title: 'A channel', entries });
    const tab = (name: string) => ({ _type: 'url', ie_key: 'YoutubeTab', url: `${web.url}/${name}` });
    const entry = (path: string) => ({ _type: 'url', url: `${web.url}/${path}`, title: `Title of ${path}` });
    videos.say('/channel', list([tab('videos'), tab('shorts')]));
    videos.say('/videos', list([entry('videos/0'), entry('videos/1')]));
    videos.say('/shorts', list([entry('shorts/0'), entry('shorts/1')]));
    const { id } = await videos.watch(`${web.url}/channel`);
    assert.equal((await videos.poll(id)).last_item_count, 3);
    for (const path of ['videos/0', 'videos/1', 'shorts/0']) {
      const { page, status } = await videos.read(`${web.url}/${path}`);
      assert.equal(page.title, `Title of ${path}`);
      assert.deepEqual([page.metadata?.feed_title, page.metadata?.watch_kind], ['A channel', 'video']);
      // What a list calls a video and is none must not become a page of boilerplate.
      assert.equal(status.last_error, 'no video is at this address');
    }
    videos.say('/single', { title: 'A video', subtitles: captions });
    const single = await videos.watch(`${web.url}/single`);
    const polled = await videos.poll(single.id);
    assert.deepEqual(
      [polled.last_status, polled.last_error],
      ['error', 'the address is that of one video, not of a list'],
    );
  });

  await t.test('a watch whose config means nothing is refused', async () => {
    const refused: Record<string, RegExp> = {
      max_entries: /^config\.max_entries: must be a whole number/,
      caption_langs: /^config\.caption_langs: must be language tags/,
      entries_from: /^config\.entries_from: /,
    };
    for (const [key, message] of Object.entries(refused)) {
      const created = videos.watch(`${web.url}/odd-list`, { [key]: 'no such;thing' });
      await assert.rejects(created, { code: 'invalid', message });
    }
    const { id } = await videos.watch(`${web.url}/odd-list`, { entries_from: 'end', of_another_program: 'x' });
    const change = updateWatchRequest.parse({ config: { max_entries: '0' } });
    await assert.rejects(system.ask('watch.update', { watch_id: id, ...change }), { code: 'invalid' });
  });
});

for (const [what, env, reason] of [
  ['is not there', { SERVICE_PROGRAM_PATH: '/nowhere' }, missing],
  ['may not be used', { SERVICE_FETCH__VIDEO_CAPTIONS: 'false' }, switchedOff],
] as const) {
  test(`where yt-dlp ${what}, no list is watched, and pages of sites of videos say why`, async (t) => {
    const videos = await VideoSystem.start(t, false, env);
    videos.web.serve('/talk', pageOf('A video', boilerplate));
    await assert.rejects(videos.watch(`${videos.web.url}/list`), { code: 'invalid', message: reason });
    const { page, status } = await videos.read(`${videos.web.url}/talk`);
    assert.deepEqual([status.status, status.last_error, page.body_text], ['dead', reason, null]);
  });
}
