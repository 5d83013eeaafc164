import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHTML } from 'linkedom';
import type { DomDocument } from '../../../src/compute/extraction/dom-tree.ts';
import { readDeclaredFacts, withoutSite } from '../../../src/compute/extraction/page-metadata.ts';

function factsOf(head: string, body = '') {
  const page: DomDocument = parseHTML(`<!doctype html><html><head>${head}</head><body>${body}</body></html>`).document;
  if (page.documentElement === null) throw new Error('no root');
  return readDeclaredFacts(page.documentElement);
}

const ld = (json: string) => `<script type="application/ld+json">${json}</script>`;
const none = {
  title: null,
  author: null,
  published_at: null,
  lang: null,
  site_name: null,
  description: null,
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
        articleBody: 'All of it.',
      },
      { '@id': '#a', '@type': 'Person', name: 'Ada Example' },
    ],
  };
  assert.deepEqual(factsOf(ld(JSON.stringify(graph))), {
    title: 'Locks',
    author: 'Ada Example, Bo',
    published_at: '2024-05-01T08:00:00.000Z',
    lang: 'en-GB',
    site_name: 'The Daily',
    description: null,
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
