import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addressToFetch,
  canonicalizeUrl,
  defaultTrackingParams,
  presetKeepParams,
} from '../../../src/compute/web/canonical-url.ts';

const settings = { tracking_params: defaultTrackingParams, keep_params: presetKeepParams, known_addresses: true };

function canonical(url: string): string {
  const result = canonicalizeUrl(url, settings);
  return 'invalid' in result ? result.invalid : result.canonical_url;
}

const video = 'https://www.youtube.com/watch?v=dQw4w9WgXcQ';
const thread = 'https://www.reddit.com/r/books/comments/1a2b3c/a_title/';
const post = 'https://x.com/jane/status/1234567890';
const article = 'https://www.example.com/news/a-story';
const wiki = 'https://de.wikipedia.org/wiki/Brot';

/** Page → addresses of it. */
const onePage: Record<string, string[]> = {
  'https://example.com/a': [
    'mc_cid=1&mc_eid=2',
    '_hsenc=1&_hsmi=2',
    'mkt_tok=1',
    'msclkid=1',
    'gad_source=1&gbraid=2&wbraid=3',
    'srsltid=1',
    ...'igsh=1 igshid=1 ref_src=twsrc CMPID=1 at_medium=RSS&at_campaign=KARANGA at_custom1=x ref=hn'.split(' '),
    ...'utm_id=1&utm_anything=2 dclid=1&gclsrc=aw yclid=1 ttclid=1 twclid=1 li_fat_id=1 epik=1 si=1'.split(' '),
    ...['vero_id=1', '_kx=1', 'oly_enc_id=1&oly_anon_id=2', 'hsa_acc=1&hsa_cam=2', 'mtm_campaign=1', 'pk_campaign=1'],
    ...'s_kwcid=1&ef_id=2 __hstc=1&__hssc=2&__hsfp=3 dm_i=1 wt_mc=1 xtor=1 ncid=1 _ga=1&_gl=2 usqp=1'.split(' '),
    'guccounter=1&guce_referrer=2',
    '__twitter_impression=true',
    'spm=a.b',
    'fb_action_ids=1',
    '%6dc_cid=1',
    'mc_cid=',
  ].map((query) => `https://example.com/a?${query}`),
  [video]: [
    'https://youtu.be/dQw4w9WgXcQ http://youtu.be/dQw4w9WgXcQ?si=abc&t=10',
    'https://youtu.be/dQw4w9WgXcQ?list=PL123 https://m.youtube.com/watch?v=dQw4w9WgXcQ',
    'https://www.youtube.com/watch?list=PL123&index=2&v=dQw4w9WgXcQ&pp=x',
    'https://youtube.com/watch?feature=share&v=dQw4w9WgXcQ&t=42s',
    'https://www.youtube.com/shorts/dQw4w9WgXcQ?feature=share https://m.youtube.com/shorts/dQw4w9WgXcQ',
    'https://www.youtube.com/embed/dQw4w9WgXcQ?start=3 https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ',
    'https://www.youtube.com/live/dQw4w9WgXcQ http://www.youtube.com/v/dQw4w9WgXcQ',
    'https://web.archive.org/web/2015/http://www.youtube.com/watch?v=dQw4w9WgXcQ',
  ].flatMap((line) => line.split(' ')),
  'https://www.youtube.com/playlist?list=PL123': ['https://m.youtube.com/playlist?list=PL123&si=x'],
  [thread]: [
    'https://old.reddit.com/r/books/comments/1a2b3c/a_title/',
    'https://m.reddit.com/r/books/comments/1a2b3c/a_title/?rdt=123',
    'https://amp.reddit.com/r/books/comments/1a2b3c/a_title/',
    'https://www.reddit.com/r/books/comments/1a2b3c/a_title/amp/',
    'https://reddit.com/r/books/comments/1a2b3c/a_title/?utm_source=share&share_id=x&context=3',
    'https://www.google.com/amp/s/amp.reddit.com/r/books/comments/1a2b3c/a_title/',
  ],
  [post]: [
    'https://twitter.com/jane/status/1234567890',
    'https://mobile.twitter.com/jane/status/1234567890?s=20&t=abc',
    'http://www.twitter.com/jane/status/1234567890?ref_src=twsrc%5Etfw',
    'https://mobile.x.com/jane/status/1234567890',
  ],
  [wiki]: ['https://de.m.wikipedia.org/wiki/Brot', 'https://de.m.wikipedia.org/wiki/Brot?wprov=sfti1#Backen'],
  'https://zh-min-nan.wikipedia.org/wiki/A': ['https://zh-min-nan.m.wikipedia.org/wiki/A'],
  'https://commons.wikimedia.org/wiki/File:A.jpg': ['https://commons.m.wikimedia.org/wiki/File:A.jpg'],
  'https://www.wikidata.org/wiki/Q42': ['https://m.wikidata.org/wiki/Q42'],
  'https://www.imdb.com/title/tt1/': ['https://m.imdb.com/title/tt1/'],
  [article]: [
    'https://www.google.com/amp/s/www.example.com/news/a-story',
    'https://www.google.com/amp/s/www.example.com/news/a-story.amp?outputType=amp',
    'https://www-example-com.cdn.ampproject.org/c/s/www.example.com/news/a-story?amp=1&amp_js_v=0.1&usqp=mq',
    'https://www-example-com.cdn.ampproject.org/v/s/www.example.com/news/a-story/amp',
    'https://cdn.ampproject.org/c/s/www.example.com/news/a-story',
    'https://www.bing.com/amp/s/www.example.com/news/a-story',
    'https://web.archive.org/web/20200102030405/https://www.example.com/news/a-story',
    'https://web.archive.org/web/20200102030405id_/https://www.example.com/news/a-story?utm_source=x',
    'http://web.archive.org/web/2020/https:/www.example.com/news/a-story#top',
    'https://web.archive.org/web/https://www.example.com/news/a-story',
    'https://web.archive.org/web/2020/https%3A%2F%2Fwww.example.com%2Fnews%2Fa-story',
    'https://archive.org/wayback/20200102/https://www.example.com/news/a-story',
    'https://wayback.archive.org/web/2020/https://www.example.com/news/a-story',
    'https://archive.ph/newest/https://www.example.com/news/a-story',
    'https://web.archive.org/web/2020/https://www.google.com/amp/s/www.example.com/news/a-story/amp',
  ].flatMap((line) => line.split(' ')),
  'http://example.org/page?id=7': [
    'https://web.archive.org/web/19990101000000/http://example.org:80/page?id=7',
    'https://web.archive.org/web/1999/example.org/page?id=7',
    'https://www.google.com/amp/example.org/page?id=7',
  ],
  'https://www.theguardian.com/world/a': ['https://amp.theguardian.com/world/a?CMP=share'],
  'https://www.bbc.com/news/technology-1': ['https://www.bbc.com/news/technology-1.amp?at_medium=x'],
  'https://techcrunch.com/2024/01/02/a-story/': ['https://techcrunch.com/2024/01/02/a-story/amp/'],
  'https://www.bilibili.com/video/BV1/?p=2': ['https://m.bilibili.com/video/BV1/?p=2&vd_source=x&share_source=copy'],
  'https://news.ycombinator.com/item?id=1': ['https://news.ycombinator.com/item?id=1&x=2'],
  'https://www.google.com/search?q=bread&udm=2': [
    'https://www.google.com/search?q=bread&udm=2&ved=1&ei=2&sourceid=chrome',
  ],
};

test('addresses of one page become one', () => {
  for (const [page, addresses] of Object.entries(onePage))
    for (const address of [page, ...addresses]) assert.equal(canonical(address), page, address);
});

/** Each is the address of a page of its own. */
const apart = [
  'https://example.com/?id=1',
  'https://example.com/?id=2',
  'https://example.com/?12345',
  'https://example.com/?mc_cid',
  'https://example.com/#/inbox',
  'https://example.com/#/sent',
  'https://example.com/#!/inbox',
  'https://example.com/',
  ...['https://example.com/a/amp', 'https://example.com/a', 'https://example.com/a?amp', 'https://m.example.com/a'],
  'https://gitlab.com/a/b/-/tree?ref=main',
  'https://gitlab.com/a/b/-/tree?ref=next',
  'https://gitlab.com/a/b/-/tree',
  ...['https://gitlab.example.org/a/b?ref=v1', 'https://api.github.com/repos/a/b/contents/c?ref=v2'],
  ...['https://github.com/a/b/blob/c?ref=v2', 'https://codeberg.org/a/b?ref=x'],
  'https://www.reddit.com/media?url=https%3A%2F%2Fi.redd.it%2Fa.png',
  'https://www.reddit.com/media?url=https%3A%2F%2Fi.redd.it%2Fb.png',
  'https://www.reddit.com/search?q=a&sort=new',
  'https://www.reddit.com/r/a/search?q=b&restrict_sr=1',
  'https://redd.it/1a2b3c',
  ...['https://www.bilibili.com/list/ml1?bvid=BV1', 'https://www.bilibili.com/list/ml1?bvid=BV2'],
  'https://search.bilibili.com/all?keyword=a',
  'https://space.bilibili.com/1/favlist?fid=2',
  'https://m.bilibili.com/space/1',
  ...['https://news.ycombinator.com/front?day=2024-01-01', 'https://news.ycombinator.com/front?day=2024-01-02'],
  'https://news.ycombinator.com/from?site=a.com',
  'https://news.ycombinator.com/newest?next=5&n=31',
  'https://news.ycombinator.com/user?id=a',
  'https://www.youtube.com/results?search_query=a',
  'https://www.youtube.com/results?search_query=a&sp=CAI',
  'https://www.youtube.com/@a/search?query=b',
  ...['https://www.youtube.com/embed/videoseries?list=PL1', 'https://www.youtube.com/embed/live_stream?channel=UC1'],
  'https://music.youtube.com/watch?v=dQw4w9WgXcQ&list=a',
  'https://youtu.be/about',
  'https://www.youtube.com/watch?list=PL1',
  'https://vimeo.com/search?q=a',
  'https://vimeo.com/search?q=b',
  'https://vimeo.com/1?h=2',
  'https://www.dailymotion.com/search?q=a',
  ...['https://help.twitter.com/a', 'https://x.com/search?q=a&f=live', 'https://x.com/search?q=a', 'https://t.co/a'],
  'https://de.wikipedia.org/w/index.php?title=Brot&oldid=5',
  'https://m.wikipedia.org/',
  'https://en.wikipedia.org/wiki/M',
  'https://web.archive.org/web/2020*/https://example.com/',
  'https://web.archive.org/',
  'https://web.archive.org/save/https://example.com/',
  'https://archive.org/details/a',
  'https://archive.org/wayback/available?url=example.com',
  'https://archive.ph/Ab1Cd',
  'https://web.archive.org/web/2020/',
  'https://www.google.com/amp/',
  'https://www.google.com/search?q=a&start=10',
  'https://www.google.com/amp/s/',
  'https://cdn.ampproject.org/v0.js',
  'https://www.bbc.com/news.amp',
  'https://techcrunch.com/tag/amp/',
  'https://example.wordpress.com/amp/',
  'https://notyoutube.com/watch?v=dQw4w9WgXcQ&list=a',
  'https://phpbb.com/community/search.php?keywords=a',
  'https://slashdot.org/comments.pl?sid=1&cid=2',
  'https://bitcointalk.org/index.php?action=profile&u=1',
];

test('addresses of different pages stay as they are', () => {
  assert.deepEqual(apart.map(canonical), apart);
  assert.equal(new Set(apart).size, apart.length);
});

test('without known addresses only the settings count', () => {
  for (const address of ['https://youtu.be/dQw4w9WgXcQ', 'https://example.com/?mc_cid=1', 'https://old.reddit.com/r/a'])
    assert.deepEqual(
      canonicalizeUrl(address, { ...settings, known_addresses: false }),
      canonicalizeUrl(address, { tracking_params: [], keep_params: {} }),
    );
});

test('a canonical address is its own, and an impossible address in another is no page', () => {
  const wrapped = fc.tuple(
    fc.array(
      fc.constantFrom(
        'https://web.archive.org/web/2020/',
        'https://web.archive.org/web/1/',
        'https://www.google.com/amp/s/',
        'http://',
        'https://a.cdn.ampproject.org/c/s/',
        'https://archive.ph/newest/',
        'https://youtu.be/',
        'https://m.youtube.com/',
        ...[
          'old.reddit.com/ twitter.com./ de.m.wikipedia.org/ watch?v=dQw4w9WgXcQ&list= dQw4w9WgXcQ amp/ %3a ..',
          '? #!',
        ].flatMap((line) => line.split(' ')),
        ...['embed/dQw4w9WgXcQ/amp', '.amp', 'https%3A%2F%2Fexample.com', 'b@', ':80/', `${'a'.repeat(64)}.com/`],
      ),
      { maxLength: 6 },
    ),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
  );
  fc.assert(
    fc.property(wrapped, ([prefixes, url]) => {
      const once = canonicalizeUrl(`https://${prefixes.join('').replace(/^https?:\/\//, '')}${url}`, settings);
      if (!('invalid' in once)) assert.deepEqual(canonicalizeUrl(once.canonical_url, settings), once);
    }),
    { numRuns: 1500 },
  );
});

test('a page is fetched in the form that was read, without tracking parameters', () => {
  const fetched: Record<string, string> = {
    'https://web.archive.org/web/2020/https://example.com/a?id=1&mc_cid=2':
      'https://web.archive.org/web/2020/https://example.com/a?id=1',
    'https://u:p@old.reddit.com/r/a/?utm_source=b': 'https://old.reddit.com/r/a/',
    'https://www.youtube.com/shorts/dQw4w9WgXcQ': video,
    'https://example.com/a?mc_cid=1&id=2': 'https://example.com/a?id=2',
  };
  for (const [original_url, address] of Object.entries(fetched))
    assert.equal(addressToFetch({ original_url, canonical_url: canonical(original_url) }, settings), address);
  const other = { original_url: 'https://old.reddit.com/', canonical_url: 'https://example.com/' };
  assert.equal(addressToFetch(other, settings), other.canonical_url);
});
