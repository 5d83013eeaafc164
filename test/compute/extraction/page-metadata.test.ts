import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHTML } from 'linkedom';
import type { DomDocument } from '../../../src/compute/extraction/dom-tree.ts';
import { asHeaded, readDeclaredFacts, uncut, withoutSite } from '../../../src/compute/extraction/page-metadata.ts';

function factsOf(head: string, body = '', url = 'https://example.org/weirs') {
  const page: DomDocument = parseHTML(`<!doctype html><html><head>${head}</head><body>${body}</body></html>`).document;
  if (page.documentElement === null) throw new Error('no root');
  return readDeclaredFacts(page.documentElement, url);
}

const ld = (json: string) => `<script type="application/ld+json">${json}</script>`;
const none = {
  title: null,
  author: null,
  published_at: null,
  lang: null,
  site_name: null,
  image: null,
  description: null,
  window: null,
  headings: [],
  subheadings: [],
  isArticle: false,
  declaredBody: null,
};

test('JSON-LD gives everything, in a graph with references and beside other things', () => {
  const graph = {
    '@graph': [
      { '@type': 'WebSite', name: 'The Site' },
      {
        '@type': ['NewsArticle'],
        headline: 'Locks',
        datePublished: '2024-05-01T10:00:00+02:00',
        author: [{ '@id': '#a' }, 'Bo'],
        publisher: { '@type': 'Organization', name: 'The Daily' },
        inLanguage: 'en-GB',
        image: [{ '@type': 'ImageObject', url: '/lock.jpg' }],
        articleBody: 'All of it.',
      },
      { '@id': '#a', '@type': 'Person', name: 'Ada Example' },
    ],
  };
  assert.deepEqual(factsOf(ld(JSON.stringify(graph))), {
    ...none,
    title: 'Locks',
    author: 'Ada Example, Bo',
    published_at: '2024-05-01T08:00:00.000Z',
    lang: 'en-GB',
    site_name: 'The Daily',
    image: 'https://example.org/lock.jpg',
    isArticle: true,
    declaredBody: 'All of it.',
  });
});

test('JSON-LD is read with comments, raw line breaks and commas too many, and passed over where it is hopeless', () => {
  const broken =
    '<!--\n{"@type": "BlogPosting", "headline": "Two\nlines", "author": {"name": "A, ]",}, "keywords": ["a", "b",],}\n-->';
  assert.deepEqual([factsOf(ld(broken)).title, factsOf(ld(broken)).author], ['Two lines', 'A, ]']);
  assert.deepEqual(factsOf(ld('{"@type": "Article", headline: }')), none);
  const nested = `{"@type": "Article", "headline": ${'['.repeat(50_000)}"Deep"${']'.repeat(50_000)}}`;
  assert.equal(factsOf(ld(nested)).title, 'Deep');
  assert.deepEqual(factsOf(ld('null') + ld('[]') + ld('"x"') + ld('')), none);
});

test('meta elements, microdata and time elements stand in for it', () => {
  const facts = factsOf(
    `<title>Weirs | The River Journal</title><meta property="og:site_name" content="The River Journal">
     <meta name="citation_author" content="Ada"><meta name="citation_author" content="Bo"><meta name="DC.date.issued" content="2019-11-18">
     <meta property="og:locale" content="de_DE">`,
  );
  assert.deepEqual(facts, {
    ...none,
    window: 'Weirs | The River Journal',
    title: 'Weirs',
    author: 'Ada, Bo',
    published_at: '2019-11-18T00:00:00.000Z',
    lang: 'de-DE',
    site_name: 'The River Journal',
  });
  const micro =
    '<h1>Eels</h1><span itemprop="author">By Jo Weaver</span><time itemprop="datePublished" datetime="2020-02-03T04:05:06Z">x</time>';
  assert.deepEqual(factsOf('', micro), {
    ...none,
    title: 'Eels',
    headings: ['Eels'],
    author: 'Jo Weaver',
    published_at: '2020-02-03T04:05:06.000Z',
  });
  assert.equal(factsOf('', '<p class="byline">Written by Jo Weaver | November 19, 2019</p>').author, 'Jo Weaver');
  assert.equal(factsOf('<meta name="date" content="November 19, 2019">').published_at, '2019-11-19T00:00:00.000Z');
});

test('what is no name, no date and no language is left out', () => {
  const facts = factsOf(
    `<meta name="author" content="https://example.com/people/1"><meta property="article:published_time" content="soon">
     <meta name="date" content="05/06/2019"><meta property="og:locale" content="English, of course">`,
    `<time datetime="2020-01-01">a</time><time datetime="2021-01-01">b</time><p class="author">${'word '.repeat(200)}</p>`,
  );
  assert.deepEqual(facts, none);
});

test("a site's name is cut off a title only behind a separator", () => {
  assert.equal(withoutSite('Weirs – The Site', 'The Site'), 'Weirs');
  assert.equal(withoutSite('Visit the site', 'The Site'), 'Visit the site');
  assert.equal(withoutSite('The Site', 'The Site'), 'The Site');
});

test("a title is what the heading says of it, where the site's name stands behind a separator", () => {
  const headed = (title: string | null, heading: string) =>
    asHeaded(title, ['The River', heading], 'https://www.riverjournal.example.org/weirs');
  assert.equal(headed('Weirs of the Wye | Water | The River Journal', 'Weirs of the Wye'), 'Weirs of the Wye');
  assert.equal(headed('川の堰を見る - 川の新聞 River', '川の堰を見る'), '川の堰を見る');
  for (const title of ['Weirs of the Wye are old', 'Weirs of the Wye | Jo Weaver', 'Journal: Weirs of the Wye', null]) {
    assert.equal(headed(title, 'Weirs of the Wye'), title);
  }
  assert.equal(headed('Weirs: a journal', 'Weirs'), 'Weirs: a journal');
});

test('what templates have escaped twice is read', () => {
  const escaped = ld('{"@type": "NewsArticle", "headline": "K&uuml;hlt&uuml;rme &amp; mehr"}');
  assert.equal(factsOf(escaped).title, 'Kühltürme & mehr');
  assert.equal(factsOf('<title>Use of &amp;nbsp; in HTML</title>').title, 'Use of &nbsp; in HTML', 'not what is shown');
});

test('the lead image is an address of the web, absolute', () => {
  const image = (content: string) => factsOf(`<meta property="og:image" content="${content}">`).image;
  assert.equal(image('/a b.jpg'), 'https://example.org/a%20b.jpg');
  assert.equal(image('//cdn.example.org/a.jpg'), 'https://cdn.example.org/a.jpg');
  assert.equal(image('data:image/png;base64,AAAA'), null);
  assert.equal(image('http://'), null);
  assert.equal(image(`https://example.org/${'川'.repeat(1000)}`), null, 'too long as an address');
  const second = '<meta property="og:image" content="data:,"><meta name="twitter:image" content="a.jpg">';
  assert.equal(factsOf(`<base href="https://cdn.example.org/x/">${second}`).image, 'https://cdn.example.org/x/a.jpg');
  const list = '{"@type": "Article", "image": ["https://example.org/1.jpg", "https://example.org/2.jpg"]}';
  assert.equal(factsOf(ld(list)).image, 'https://example.org/1.jpg');
});

test('a byline names people, whatever stands beside them', () => {
  const jo = 'Jo Weaver';
  const rows: [body: string, author: string | null][] = [
    [
      `<div class="article_byline"><div>By <span>${jo}</span></div><div>The Post</div><time>Dec 13, 2016</time></div>`,
      jo,
    ],
    [
      `<p class="byline">By <a href="/staff/jo">${jo}</a> and <a href="/staff/bo">Bo Reed</a> in <a href="/topics/eels">Eels</a></p>`,
      'Jo Weaver, Bo Reed',
    ],
    [`<p class="story__authors">By <b>${jo}</b> jo@example.org</p>`, jo],
    ['<p class="kg-bookmark-author">Somebody</p><p class="webmention-author">Somebody</p>', null],
    ['<p class="comment-author">Somebody</p><p class="image-byline">A Photographer</p>', null],
    [
      `<a rel="author nofollow" href="/jo">${jo}</a><div><ul><li><a rel="author" href="/bo">Bo Reed</a></li></ul></div>`,
      jo,
    ],
    [`<span itemprop="author" itemscope><meta itemprop="name" content="${jo}"></span>`, jo],
  ];
  for (const [body, author] of rows) assert.equal(factsOf('', body).author, author, body);
});

test('where data name only the site as the author, a byline names the person', () => {
  const head = '<meta property="og:site_name" content="The River"><meta name="author" content="The River">';
  assert.equal(factsOf(head, '<p class="byline">By Jo Weaver</p>').author, 'Jo Weaver');
  assert.equal(factsOf(head, '').author, 'The River');
  const own = {
    '@type': 'Article',
    author: { '@type': 'Person', name: 'Jo Weaver' },
    publisher: { '@type': 'Organization', name: 'Jo Weaver' },
  };
  assert.equal(factsOf(ld(JSON.stringify(own)), '<p class="byline">By Bo Reed</p>').author, 'Jo Weaver');
});

test('without data a date is that of the address, then what the page shows behind its heading', () => {
  const date = (body: string, url?: string) => factsOf('', body, url).published_at?.slice(0, 10) ?? null;
  assert.equal(date('<time>2019-02-03</time>', 'https://example.org/2020/04/15/eels'), '2020-04-15');
  assert.equal(date('', 'https://example.org/news/2020-04-15-eels.html'), '2020-04-15');
  assert.equal(date('', 'https://example.org/2020/44/15/eels'), null);
  assert.equal(date('', 'https://example.org/20200415/eels'), '2020-04-15');
  assert.equal(date('', 'https://example.org/orders-20881231'), null);
  const others = '<time>2021-01-01</time><time>2021-01-02</time>';
  assert.equal(date(`<time>2022-01-01</time><h1>Eels</h1><time datetime="2019-02-03">x</time>${others}`), '2019-02-03');
  assert.equal(date(`<h1>Eels</h1><p class="meta__date">Freitag, 15. März 2019, 10:00</p>`), '2019-03-15');
  assert.equal(date(`<h1>Eels</h1><p class="comment-date">15. März 2019</p>`), null);
});

test('declared dates are read as people write them, except those with two meanings', () => {
  const day = (written: string) => [
    factsOf(ld(JSON.stringify({ '@type': 'NewsArticle', datePublished: written }))).published_at,
    factsOf(`<meta property="article:published_time" content="${written}">`).published_at,
    factsOf('', `<span itemprop="datePublished">${written}</span>`).published_at,
  ];
  const same = ['2021/01/23 21:20', '23/01/2021', '2021-01-23T17:40:00EET', '23.01.2021 17:40', '2021年1月23日'];
  for (const written of same) assert.deepEqual(day(written), Array(3).fill('2021-01-23T00:00:00.000Z'), written);
  assert.deepEqual(day('05/06/2019'), [null, null, null]);
  const unread = '<meta property="article:published_time" content="soon"><meta name="date" content="2021-01-23">';
  assert.equal(factsOf(unread).published_at, '2021-01-23T00:00:00.000Z');
});

test('a date of a reference or of a change is not that of the page', () => {
  const date = (body: string) => factsOf('', `<h1>Eels</h1>${body}`).published_at?.slice(0, 10) ?? null;
  for (const body of [
    '<span class="reference-accessdate">. Retrieved February 10, 2024</span>',
    '<p>Last modified: <time datetime="2024-05-05">May 5</time></p>',
    '<p><b>Updated on</b> <time datetime="2024-05-05">May 5</time></p>',
    '<time class="date-modified" datetime="2024-05-05">May 5</time>',
  ]) {
    assert.equal(date(body), null, body);
    assert.equal(date(`${body}<time>2019-02-03</time>`), '2019-02-03', body);
  }
  assert.equal(date('<time class="entry-date published updated" datetime="2024-05-05">May 5</time>'), '2024-05-05');
});

test('a user name keeps its digits; a date behind a name goes', () => {
  const author = (name: string) => factsOf(`<meta name="author" content="${name}">`).author;
  assert.equal(author('william17051'), 'william17051');
  assert.equal(author('Jo Weaver, 3 May 2020'), 'Jo Weaver');
  assert.equal(author('Jo Weaver 3 May 2020'), 'Jo Weaver');
  assert.equal(author('3 May 2020'), null);
});

test('the language of a page in XHTML is read', () => {
  const page = parseHTML('<html xml:lang="de-AT"><body></body></html>').document as DomDocument;
  assert.equal(page.documentElement && readDeclaredFacts(page.documentElement, 'https://example.org/').lang, 'de-AT');
});

test('a title that was cut off its heading is the heading', () => {
  const titled = (found: string, window: string, body: string) =>
    uncut(found, factsOf(`<title>${window}</title>`, body), 'https://riverjournal.example.org/weirs');
  const manual = 'Apache HTTP Server Version 2.5';
  assert.equal(titled(manual, `Password Formats - ${manual}`, '<h1>Password Formats</h1>'), 'Password Formats');
  const colon = 'Changing Channels: how they were dug';
  assert.equal(titled('how they were dug', colon, `<h1>${colon}</h1>`), colon);
  assert.equal(titled('River Journal', 'River Journal | Eels', '<h1>Eels</h1>'), 'Eels');
  for (const [found, window, body] of [
    ['Eels of the Wye', 'River Journal - Eels of the Wye', '<h1>River Journal</h1><h3>Eels of the Wye</h3>'],
    ['Eels of the Wye', 'All news - Eels of the Wye', '<h1>All news</h1><h2>Eels of the Wye</h2>'],
    ['Eels of the Wye', 'Eels of the Wye | All news', '<h1>All news</h1>'],
    ['Eels of the Wye', 'Eels of the Wye', '<h1>Eels</h1>'],
    ['how they were dug', 'Changing Channels: how they were dug', '<h1>Chang</h1>'],
    ['how they were dug', 'Changing Channels: how they were dug', '<h1>Changing Channels</h1>'],
    ['What the page declares', 'Eels | The River', '<h1>Eels</h1>'],
  ])
    assert.equal(titled(found, window, body), found, window);
});
