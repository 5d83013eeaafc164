import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Feed, type FeedReading, maxEntries } from '../../../src/compute/feed/feed.ts';
import { feedDate } from '../../../src/compute/feed/feed-date.ts';
import { readFeed } from '../../../src/compute/feed/read-feed.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const address = 'https://site.test/blog/feed.xml';

function read(source: string | Uint8Array, charset: string | null = null): FeedReading {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  return readFeed({ bytes, charset, url: address });
}

function feedOf(source: string | Uint8Array, charset: string | null = null): Feed {
  const reading = read(source, charset);
  assert.ok(reading.kind === 'feed', JSON.stringify(reading));
  return reading;
}

const inRss = (items: string) => `<rss version="2.0"><channel><title>F</title>${items}</channel></rss>`;
const urlsOf = (feed: Feed) => feed.items.map(({ url }) => url);

test('RSS 2.0, RSS 1.0, Atom and JSON Feed say the same in four ways', () => {
  const item = {
    url: 'https://site.test/a',
    title: 'A',
    published_at: '2026-11-20T09:00:00.000Z',
    content: '<p>Text</p>',
  };
  const same: Feed = { kind: 'feed', title: 'F', items: [item], leftOut: 0 };
  const sources = [
    inRss(
      '<item><title>A</title><link>https://site.test/a</link><pubDate>Fri, 20 Nov 2026 10:00:00 +0100</pubDate><description><![CDATA[<p>Text</p>]]></description></item>',
    ),
    `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:d="http://purl.org/dc/elements/1.1/">
      <channel rdf:about="x"><title>F</title></channel>
      <item rdf:about="https://site.test/a"><title>A</title><d:date>2026-11-20T10:00:00+01:00</d:date><description>&lt;p&gt;Text&lt;/p&gt;</description></item></rdf:RDF>`,
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><title type="text">A</title><link rel="edit" href="/edit"/>
      <link href="/a"/><published>2026-11-20T09:00:00Z</published><content type="xhtml"><p>Text</p></content></entry></feed>`,
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'F',
      items: [{ id: '1', url: '/a', title: 'A', content_html: '<p>Text</p>', date_published: '2026-11-20T09:00:00Z' }],
    }),
  ];
  for (const source of sources) assert.deepEqual(feedOf(source), same);
});

test('malformed feeds are read as feed readers do', () => {
  const item = '<item><title>Caf&eacute; & b < c</title><link>/x?a=1&b=2&copy=3</link></item>';
  const expected = [
    { url: 'https://site.test/x?a=1&b=2&copy=3', title: 'Café & b < c', published_at: null, content: null },
  ];
  const sources = [
    inRss(item),
    `  \n<!-- junk --> PHP Warning: x in y\n<?xml version="1.0"?>${inRss(item)}`,
    `\uFEFF${inRss(item)}`,
    inRss(item).replace('</item></channel></rss>', ''),
    inRss(item).replace('</channel>', '</wrong>'),
    inRss(item.replace('</link>', '</link><dc:nonsense>undeclared</dc:nonsense><pubDate>someday</pubDate>')),
  ];
  for (const source of sources) assert.deepEqual(feedOf(source).items, expected, source);
});

test('an address is taken from link, permanent guid, id or original link, against the nearest base', () => {
  const cases: [item: string, url: string | undefined][] = [
    ['<item><guid>https://site.test/g</guid></item>', 'https://site.test/g'],
    ['<item><guid isPermaLink="false">https://site.test/g</guid></item>', 'https://site.test/g'],
    ['<item><guid>abc-1</guid></item>', undefined],
    ['<item><link>javascript:alert(1)</link><guid>https://site.test/g</guid></item>', 'https://site.test/g'],
    [
      '<item><link>https://proxy.test/1</link><feedburner:origLink>https://site.test/o</feedburner:origLink></item>',
      'https://site.test/o',
    ],
    ['<item xml:base="https://other.test/d/"><link>p</link></item>', 'https://other.test/d/p'],
    ['<item><atom:link rel="self" href="/self"/><atom:link href="/alt"/></item>', 'https://site.test/alt'],
    [`<item><link>https://a.test/${'x'.repeat(1_000_000)}</link></item>`, undefined],
  ];
  for (const [item, url] of cases)
    assert.deepEqual(urlsOf(feedOf(inRss(item))), url === undefined ? [] : [url], item.slice(0, 200));
  const withHome = inRss('<link>https://home.test/</link><item><link>/p</link></item>');
  assert.deepEqual(urlsOf(feedOf(withHome)), ['https://home.test/p']);
});

test('the encoding is that of the mark, the answer, the declaration, or what fits', () => {
  const body = (declared: string) => `${declared}${inRss('<item><title>Grüße</title><link>/a</link></item>')}`;
  const titleOf = (bytes: Uint8Array, charset: string | null = null) => feedOf(bytes, charset).items[0].title;
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  assert.equal(titleOf(Buffer.from(body(''))), 'Grüße');
  assert.equal(titleOf(latin1(body('<?xml version="1.0" encoding="ISO-8859-1"?>'))), 'Grüße');
  assert.equal(titleOf(latin1(body('<?xml version="1.0" encoding="utf-8"?>')), 'iso-8859-1'), 'Grüße');
  assert.equal(titleOf(latin1(body(''))), 'Grüße');
  assert.equal(titleOf(latin1(body('<?xml version="1.0" encoding="klingon"?>'))), 'Grüße');
  assert.equal(titleOf(Buffer.from(body('<?xml version="1.0" encoding="utf-16"?>'))), 'Grüße');
  assert.equal(titleOf(Buffer.from(`\uFEFF${body('')}`, 'utf16le')), 'Grüße');
});

test('a page that is no feed names the feeds that it announces, comments last', () => {
  const head = `<!DOCTYPE html><html><head><meta charset=utf-8><link rel=stylesheet href=/s.css>
    <link rel="alternate" type="application/rss+xml" title="Comments" href="/comments"><link rel=alternate type=application/atom+xml href=atom>
    <link rel=alternate type=text/html hreflang=de href=/de></head><body>${'<br><p>'.repeat(5000)}`;
  assert.deepEqual(read(head), { kind: 'links', urls: ['https://site.test/blog/atom', 'https://site.test/comments'] });
  assert.equal(read('<html><body>Not found').kind, 'none');
});

test('dates are UTC whatever the zone of the machine; what is no date is left out', () => {
  const cases: [text: string, date: string | null][] = [
    ['Fri, 20 Nov 2026 10:00:00 GMT', '2026-11-20T10:00:00.000Z'],
    ['20 Nov 26 10:00 EST', '2026-11-20T15:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:00:00.5-02:30', '2026-11-20T12:30:00.500Z'],
    ['2026-11-20 10:00:00', '2026-11-20T10:00:00.000Z'],
    ['yesterday', null],
    ['2026-13-45', null],
    ['12', null],
    ['x'.repeat(100_000), null],
  ];
  for (const [text, date] of cases) assert.equal(feedDate(text), date, text.slice(0, 50));
});

const items = (count: number) => inRss('<item><link>/a</link></item>'.repeat(count));

/** Feeds made to cost time or memory, of any length: the longest that is tried, and what is read of it. */
const bombs: [
  name: string,
  most: number,
  sourceOf: (length: number) => string,
  expected: (r: FeedReading) => boolean,
][] = [
  ['items', 280_000, items, (r) => r.kind === 'feed' && r.items.length === maxEntries],
  [
    'attributes',
    100_000,
    (length) =>
      `<rss ${Array.from({ length }, (_, i) => `a${i}="b"`).join(' ')}><channel><item><link>/a</link></item></channel></rss>`,
    (r) => r.kind === 'feed' && r.items.length === 1,
  ],
  ['depth', 10_000, (length) => inRss('<a>'.repeat(length)), (r) => r.kind === 'none'],
  [
    'closing tags',
    1_000_000,
    (length) => `<rss>${'<a>'.repeat(length)}${'</b>'.repeat(length)}`,
    (r) => r.kind === 'none',
  ],
  ['less-thans', 5_000_000, (length) => `<rss>${'<'.repeat(length)}`, (r) => r.kind === 'feed' && r.items.length === 0],
  ['comments', 1_000_000, (length) => `<rss>${'<!--'.repeat(length)}`, (r) => r.kind === 'feed'],
  [
    'entities that grow by the square',
    50_000,
    (length) =>
      `<!DOCTYPE l [<!ENTITY a "${'x'.repeat(length)}">]>${inRss(`<item><title>${'&a;'.repeat(length)}</title><link>/a</link></item>`)}`,
    (r) => r.kind === 'feed' && (r.items[0].title?.length ?? 0) <= 150_000,
  ],
  [
    'a long guid',
    1_000_000,
    (length) =>
      inRss(`<item><guid>https://example.com/${'g'.repeat(length)}</guid></item><item><link>/a</link></item>`),
    (r) => r.kind === 'feed' && r.items.some(({ url }) => url.endsWith('/a')),
  ],
  [
    'what is no feed',
    200_000,
    (length) => Array.from({ length }, (_, at) => `${at} `).join(''),
    (r) => r.kind === 'none',
  ],
  [
    'titles that never end',
    300_000,
    (length) => inRss('<item><title>'.repeat(length)),
    (r) => r.kind === 'none' || r.kind === 'feed',
  ],
  [
    'a title of tags',
    300_000,
    (length) => inRss(`<item><title><![CDATA[${'<b>'.repeat(length)}]]></title><link>/a</link></item>`),
    (r) => r.kind === 'feed' && r.items.length === 1,
  ],
  ['deep JSON', 100_000, (length) => `{"items": ${'['.repeat(length)}`, (r) => r.kind === 'none'],
];

for (const [name, most, sourceOf, expected] of bombs) {
  test(`hostile: ${name}`, () => {
    const reading = read(sourceOf(most));
    assert.ok(expected(reading), JSON.stringify(reading).slice(0, 300));
    assertGrowsInProportion(most, sourceOf, read);
  });
}

/** Feeds made to be expanded, or to reach what is not theirs. */
const tricks: [name: string, source: string, expected: (reading: FeedReading) => boolean][] = [
  [
    'entities that grow, and of other files',
    `<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>${inRss('<item><title>&b;&f;</title><link>/a</link></item>')}`,
    (r) => r.kind === 'feed' && r.items[0].title === '&b;&f;',
  ],
  [
    'names of the prototype',
    inRss('<__proto__ __proto__="x"><item><constructor>a</constructor><link>/a</link></item></__proto__>'),
    (r) => r.kind === 'feed' && Object.getPrototypeOf(r) === Object.prototype,
  ],
  [
    'a definition of another host',
    `<!DOCTYPE rss SYSTEM "http://127.0.0.1:9/x.dtd">${inRss('<item><link>/a</link></item>')}`,
    (r) => r.kind === 'feed' && r.items.length === 1,
  ],
];

for (const [name, source, expected] of tricks) {
  test(`hostile: ${name}`, () => {
    const reading = read(source);
    assert.ok(expected(reading), JSON.stringify(reading).slice(0, 300));
  });
}

test('hostile: 280,000 items in UTF-16', () => {
  const bytes = Buffer.from(`\uFEFF${items(280_000)}`, 'utf16le');
  const reading = readFeed({ bytes, charset: null, url: 'https://example.com/feed' });
  assert.ok(reading.kind === 'feed' && reading.items.length === maxEntries);
});

test('an entry without a link is at the address of its identifier, or of its first file; one without any is counted', () => {
  const audio = '<enclosure url="/e.mp3" type="audio/mpeg" length="1"/>';
  const cases: [source: string, urls: string[], leftOut?: number][] = [
    [inRss('<item><guid isPermaLink="false">https://site.test/?p=1</guid></item>'), ['https://site.test/?p=1']],
    [inRss(`<item><guid isPermaLink="false">urn:x</guid>${audio}</item>`), ['https://site.test/e.mp3']],
    [inRss(`<item><guid>https://site.test/a</guid>${audio}</item>`), ['https://site.test/a']],
    [
      inRss(`<item><link>/b</link><guid isPermaLink="false">https://site.test/a</guid>${audio}</item>`),
      ['https://site.test/b'],
    ],
    [inRss(`<item><link>javascript:x</link>${audio}</item>`), ['https://site.test/e.mp3']],
    [
      '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>https://site.test/a</id></entry><entry><id>tag:a</id><link rel="enclosure" href="f.pdf"/></entry></feed>',
      ['https://site.test/a', 'https://site.test/blog/f.pdf'],
    ],
    [
      JSON.stringify({
        items: [
          { id: 'https://site.test/a' },
          { id: '2', attachments: [{ url: '/e.mp3', mime_type: 'audio/mpeg' }] },
          { id: '3', url: 'javascript:x', external_url: 'https://other.test/' },
          { id: 4 },
        ],
      }),
      ['https://site.test/a', 'https://site.test/e.mp3', 'https://other.test/'],
      1,
    ],
    [inRss('<item><title>Nowhere</title><guid isPermaLink="false">urn:x</guid></item>'), [], 1],
  ];
  for (const [source, urls, leftOut = 0] of cases) {
    const feed = feedOf(source);
    assert.deepEqual([urlsOf(feed), feed.leftOut], [urls, leftOut], source);
  }
});

const feedsDir = join(import.meta.dirname, '../../../../shared/data/feeds');

test('every public feed is read, and XML of another kind is not', {
  skip: !existsSync(feedsDir) && 'no ../shared/data',
}, (t) => {
  const names = readdirSync(feedsDir);
  const readings = names.map((name) => read(readFileSync(join(feedsDir, name))));
  const failed = readings.flatMap((reading) => (reading.kind === 'feed' ? [] : [reading]));
  assert.deepEqual(failed, [{ kind: 'none', reason: 'not a feed: an HTML page that announces none' }]);
  const urls = readings.flatMap((reading) => (reading.kind === 'feed' ? urlsOf(reading) : []));
  t.diagnostic(`${names.length} feeds, ${urls.length} items`);
  assert.ok(urls.length > 50 && urls.every((url) => /^https?:/.test(url)));
});
