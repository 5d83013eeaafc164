/** What is read of yt-dlp's JSON, most of which sites write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readVideoInfo } from '../../../src/compute/transcript/video-info.ts';

const read = (value: unknown) => readVideoInfo(JSON.stringify(value));

function videoOf(value: object) {
  const info = read(value);
  assert.ok(info?.kind === 'video');
  return info;
}

test('a video is read with its chapters and every form of its captions', () => {
  const info = read({
    _type: 'video',
    id: 'abc',
    title: 'How rivers\n turn ',
    uploader: 'The river school',
    channel: 'another name',
    extractor_key: 'Youtube',
    webpage_url: 'https://www.youtube.com/watch?v=abc',
    language: 'en_US',
    duration: 754,
    timestamp: 1_700_000_000,
    upload_date: '20200101',
    live_status: 'not_live',
    chapters: [
      { start_time: 0, end_time: 61.5, title: 'Source' },
      { start_time: 61.5, end_time: 754, title: null },
    ],
    subtitles: {
      en: [
        { ext: 'json3', url: 'https://captions.example/1?fmt=json3' },
        { ext: 'vtt', url: 'https://captions.example/1?fmt=vtt', name: 'English' },
      ],
      de: [{ ext: 'vtt', url: 'https://captions.example/de.m3u8', protocol: 'm3u8_native' }],
      live_chat: [{ ext: 'json', url: 'https://www.youtube.com/live_chat' }],
    },
    automatic_captions: {
      'en-orig': [{ ext: 'vtt', url: 'https://captions.example/2?lang=en' }],
      fr: [{ ext: 'VTT', url: 'https://captions.example/2?lang=en&tlang=fr' }],
      it: [{ ext: 'srt', data: '1\n00:00:01,000 --> 00:00:02,000\nCiao' }],
    },
    formats: [{ url: 'https://videos.example/1' }],
  });
  const form = (ext: string, url: string | null, data: string | null = null) => ({ ext, url, data });
  assert.deepEqual(info, {
    kind: 'video',
    url: 'https://www.youtube.com/watch?v=abc',
    title: 'How rivers turn',
    uploader: 'The river school',
    site: 'Youtube',
    lang: 'en-US',
    published_at: '2023-11-14T22:13:20.000Z',
    duration_s: 754,
    state: 'there',
    chapters: [
      { startS: 0, title: 'Source' },
      { startS: 61.5, title: null },
    ],
    captions: [
      {
        lang: 'en',
        automatic: false,
        forms: [
          form('json3', 'https://captions.example/1?fmt=json3'),
          form('vtt', 'https://captions.example/1?fmt=vtt'),
        ],
      },
      {
        lang: 'en-orig',
        automatic: true,
        forms: [form('vtt', 'https://captions.example/2?lang=en')],
      },
      {
        lang: 'it',
        automatic: true,
        forms: [form('srt', null, '1\n00:00:01,000 --> 00:00:02,000\nCiao')],
      },
    ],
  });
});

test('a field that is not as expected is as if it were not there', () => {
  const nothing = {
    kind: 'video',
    url: null,
    title: null,
    uploader: null,
    site: null,
    lang: null,
    published_at: null,
    duration_s: null,
    state: 'there',
    chapters: [],
    captions: [],
  };
  assert.deepEqual(read({}), nothing);
  const odd = {
    title: ['a'],
    uploader: 7,
    webpage_url: 'file:///etc/passwd',
    language: '<script>',
    duration: -1,
    timestamp: 1e300,
    upload_date: '20201399',
    chapters: 'none',
    subtitles: { en: [{ url: 'file:///etc/passwd', ext: 'vtt' }], de: { url: 'x' }, fr: [{ ext: 'vtt' }, null] },
    automatic_captions: [],
    __proto__: null,
  };
  assert.deepEqual(read(odd), nothing);
  assert.deepEqual(videoOf({ chapters: [{ start_time: -1 }, null, { start_time: 3, title: 4 }] }).chapters, [
    { startS: 3, title: null },
  ]);
  assert.equal(videoOf({ title: `a\u0000\u202e${'b'.repeat(5000)}\ud800` }).title?.length, 1000);
  assert.equal(videoOf({ upload_date: '20240229' }).published_at, '2024-02-29T00:00:00.000Z');
  const states = ['is_upcoming', 'is_live', 'was_live', 'post_live'].map(
    (live_status) => videoOf({ live_status }).state,
  );
  assert.deepEqual(states, ['later', 'live', 'there', 'there']);
  assert.equal(videoOf({ extractor_key: 'HTML5MediaEmbed', title: 'A talk (1)' }).title, 'A talk');
  assert.equal(videoOf({ extractor_key: 'Vimeo', title: 'A talk (1)' }).title, 'A talk (1)');
  // Of a page that is no known site's, the date is when the server changed its file.
  assert.equal(videoOf({ extractor_key: 'HTML5MediaEmbed', timestamp: 1_700_000_000 }).published_at, null);
  for (const text of ['', 'null', '[]', '7', '"x"', '{"title":', '<html>'])
    assert.equal(readVideoInfo(text), null, text);
});

test('a list is read with the lists in it, and names its only video', () => {
  const entry = (id: string, more: object = {}) => ({
    _type: 'url',
    id,
    url: `https://v.example/${id}`,
    title: id,
    ...more,
  });
  const found = (url: string, isList = false) => ({
    url: `https://v.example/${url}`,
    title: url,
    published_at: null,
    isList,
  });
  const list = read({
    _type: 'playlist',
    title: 'A channel',
    entries: [
      entry('a'),
      null,
      entry('tab', { ie_key: 'YoutubeTab' }),
      { _type: 'playlist', title: 'inner', entries: [entry('b'), { _type: 'playlist', entries: 'none' }] },
      { id: 'c', title: 'c', webpage_url: 'https://v.example/c', url: 'https://files.example/c.mp4' },
      { _type: 'url', url: 'relative', title: 'no address' },
      'text',
    ],
  });
  assert.deepEqual(list, {
    kind: 'list',
    title: 'A channel',
    entries: [found('a'), found('tab', true), found('b'), found('c')],
    only: null,
  });
  const single = read({ _type: 'playlist', entries: [{ title: 'the one', webpage_url: 'https://v.example/1' }] });
  assert.ok(single?.kind === 'list');
  assert.equal(single.only?.title, 'the one');
  assert.deepEqual(read({ _type: 'playlist' }), { kind: 'list', title: null, entries: [], only: null });
  let deep: object = { _type: 'playlist', entries: [entry('deepest')] };
  for (let i = 0; i < 50; i++) deep = { _type: 'playlist', entries: [deep] };
  assert.deepEqual(read(deep), { kind: 'list', title: null, entries: [], only: null });
});

test('whatever JSON a site brings in, it is read or it is not', () => {
  const key = fc.constantFrom(...'title entries _type subtitles chapters url timestamp en __proto__'.split(' '));
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      fc.constant('playlist'),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(json, (value) => {
      const info = read(value);
      assert.ok(info === null || info.kind === 'video' || info.kind === 'list');
    }),
  );
});
