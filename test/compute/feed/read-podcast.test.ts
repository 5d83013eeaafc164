/** What feeds say of episodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Episode } from '../../../src/compute/feed/episode.ts';
import { readFeed, readPodcast } from '../../../src/compute/feed/read-feed.ts';

const bytesOf = (text: string) => ({
  bytes: Buffer.from(text),
  charset: null,
  url: 'https://site.test/feeds/a.xml',
});

function episodesOf(text: string): Episode[] {
  const feed = readPodcast(bytesOf(text));
  return feed.kind === 'feed' ? feed.items : assert.fail(feed.kind);
}

const rss = (items: string, more = '') =>
  `<rss version="2.0" xmlns:pc="https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md"
    xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>F</title>${more}${items}</channel></rss>`;

const nothing = {
  title: null,
  guid: null,
  published_at: null,
  content: null,
  link: null,
  author: null,
  duration_s: null,
  lang: null,
  transcripts: [],
  chapters_url: null,
};

test('RSS: enclosures with what the iTunes and the podcast namespace say, whatever their prefix', () => {
  const item = `<item><title>One &amp;amp; a half</title><guid isPermaLink="false"> river-1 </guid><link>/one</link><pubDate>Fri, 20 Nov 2026 10:00:00 +0100</pubDate>
    <description>Notes</description><itunes:author>Ada</itunes:author><itunes:duration> 1:02:03 </itunes:duration>
    <enclosure url="/one.mp3" type="audio/mpeg" length="1"/>
    <pc:transcript url="/one.vtt" type="text/vtt; charset=utf-8" language="en-gb"/>
    <pc:transcript url="javascript:alert(1)" type="text/vtt"/>
    <pc:transcript type="text/plain"/>
    <pc:transcript url="https://other.test/one.json" type="application/json" language="no such language"/>
    <pc:chapters url="/one-chapters.json" type="application/json+chapters"/></item>`;
  assert.deepEqual(episodesOf(rss(item, '<link>https://site.test/</link><language>en</language>')), [
    {
      url: 'https://site.test/one.mp3',
      title: 'One & a half',
      guid: 'river-1',
      published_at: '2026-11-20T09:00:00.000Z',
      content: 'Notes',
      link: 'https://site.test/one',
      author: 'Ada',
      duration_s: 3723,
      lang: 'en',
      transcripts: [
        { url: 'https://site.test/one.vtt', type: 'text/vtt', lang: 'en-gb' },
        { url: 'https://other.test/one.json', type: 'application/json', lang: null },
      ],
      chapters_url: 'https://site.test/one-chapters.json',
    },
  ]);
});

test('an episode is an entry with a recording: the first enclosure that is one; a link is not needed', () => {
  const items = [
    '<item><enclosure url="https://a.test/v.mp4" type="video/mp4"/><enclosure url="https://a.test/a.m4a" type="video/mp4"/></item>',
    '<item><enclosure url="https://a.test/b.opus?x=1"/></item>',
    '<item><enclosure url="https://a.test/c" type="Audio/X-M4A"/></item>',
    '<item><enclosure url="https://a.test/cover.jpg" type="image/jpeg"/><enclosure url="https://a.test/d.mp3" type="application/force-download"/></item>',
    '<item><enclosure url="https://a.test/e.mp3" type="text/plain"/></item>',
    '<item><enclosure url="https://a.test/notes.txt" type="text/plain"/></item>',
    '<item><enclosure url="https://a.test/f.mp3" type="text/html"/></item>',
    '<item><enclosure url="https://a.test/list.m3u" type="audio/x-mpegurl"/></item>',
    '<item><enclosure url="https://a.test/book.pdf" type="application/pdf"/></item>',
    '<item><enclosure type="audio/mpeg"/></item>',
    '<item><link>https://a.test/article</link></item>',
  ];
  assert.deepEqual(episodesOf(rss(items.join(''))), [
    { ...nothing, url: 'https://a.test/a.m4a' },
    { ...nothing, url: 'https://a.test/b.opus?x=1' },
    { ...nothing, url: 'https://a.test/c' },
    { ...nothing, url: 'https://a.test/d.mp3' },
    { ...nothing, url: 'https://a.test/e.mp3' },
  ]);
});

test('Atom and JSON Feed', () => {
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><title>A</title>
    <link href="https://a.test/a"/><link rel="enclosure" type="audio/ogg" href="a.ogg" length="1"/></entry></feed>`;
  assert.deepEqual(episodesOf(atom), [
    { ...nothing, url: 'https://site.test/feeds/a.ogg', title: 'A', link: 'https://a.test/a' },
  ]);
  const json = JSON.stringify({
    title: 'F',
    language: 'de',
    items: [
      {
        url: 'https://a.test/a',
        title: 'A',
        authors: [{ name: 'Ada' }],
        attachments: [
          { url: 'https://a.test/a.pdf', mime_type: 'application/pdf' },
          { url: 'https://a.test/a.mp3', mime_type: 'audio/mpeg', duration_in_seconds: 61.5 },
        ],
      },
      { url: 'https://a.test/b' },
      null,
    ],
  });
  assert.deepEqual(episodesOf(json), [
    {
      ...nothing,
      url: 'https://a.test/a.mp3',
      title: 'A',
      link: 'https://a.test/a',
      author: 'Ada',
      duration_s: 61.5,
      lang: 'de',
    },
  ]);
});

test('as a feed of pages, a podcast is the list of its links', () => {
  const text = rss(
    '<item><link>https://a.test/1</link><enclosure url="https://a.test/1.mp3" type="audio/mpeg"/></item>',
  );
  const feed = readFeed(bytesOf(text));
  assert.deepEqual(feed.kind === 'feed' && feed.items, [
    { url: 'https://a.test/1', title: null, published_at: null, content: null },
  ]);
});

test('an entry with a hundred thousand transcripts keeps ten; what is no feed is none', () => {
  const many = '<podcast:transcript url="https://a.test/t.vtt" type="text/vtt"/>'.repeat(100_000);
  const [episode] = episodesOf(rss(`<item><enclosure url="https://a.test/a.mp3" type="audio/mpeg"/>${many}</item>`));
  assert.equal(episode.transcripts.length, 10);
  assert.equal(readPodcast(bytesOf(' ')).kind, 'none');
  assert.equal(readPodcast(bytesOf('words')).kind, 'none');
});
