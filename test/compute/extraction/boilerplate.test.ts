/** Boilerplate goes, the article stays: whole pages through extraction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCall, isCredit, isFact, isLabel, isLabelled } from '../../../src/compute/extraction/boilerplate-lines.ts';
import { boilerplateName } from '../../../src/compute/extraction/boilerplate-signs.ts';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const paragraphs = Array.from({ length: 6 }, (_, i) =>
  `Paragraph number ${i} tells of weirs and eel traps, of willow rods, and of what the millers said about them. `
    .repeat(3)
    .trim(),
);
const textOf = (inner: string, around = '') =>
  extractHtml(
    `<html><head><title>Weirs of the north</title></head><body>${around}<article>${inner}</article></body></html>`,
    'https://a.example/',
  ).text;
const [first, second, ...others] = paragraphs.map((each) => `<p>${each}</p>`);
const rest = others.join('');
const wanted = paragraphs.join('\n\n');

test('what stands around and between paragraphs goes, and nothing else', () => {
  const boilerplate: Record<string, string> = {
    'related links':
      '<div class="related-posts"><h3>Related</h3><ul><li><a href="/a">How to build a dam</a></li></ul></div>',
    'a label with links':
      '<p>You may also like...</p><p><a href="/b">Ten dams worth a visit</a></p><p><a href="/c">A dam</a></p>',
    'a label and a link in one line': '<p>Related: <a href="/b">Ten dams worth a visit this year</a></p>',
    'a caption': '<figure><img src="x.jpg"><figcaption>A weir in 1903, seen from the bridge.</figcaption></figure>',
    'a named caption': '<div class="wp-caption"><img src="x.jpg"><p class="wp-caption-text">A weir in 1903.</p></div>',
    'a credit': '<p>Photo: Jo Weaver/Getty Images</p>',
    'a byline': '<div class="byline">By Jo Weaver</div>',
    'a row of buttons':
      '<div class="share-buttons"><a href="#">Share on one thing</a><a href="#">Share on another</a></div>',
    'a newsletter':
      '<div class="newsletter-signup"><p>Get the best of the river in your inbox every single Friday morning.</p></div>',
    'a question about cookies':
      '<div id="cookie-banner"><p>We use cookies to make the site better for everyone who reads it.</p></div>',
    'a table of contents': '<div id="toc"><ul><li><a href="#1">One</a></li><li><a href="#2">Two</a></li></ul></div>',
    tags: '<div class="post-tags">Tags: <a href="/t">eels</a>, <a href="/u">weirs</a></div>',
    'a headline of something else': '<p><a href="/x">MILLERS UNITE AGAINST THE NEW DAM</a></p>',
  };
  for (const [name, html] of Object.entries(boilerplate)) {
    assert.equal(textOf(first + html + second + rest), wanted, name);
    assert.equal(textOf(first + second + rest + html), wanted, `${name}, at the end`);
  }
  assert.equal(textOf(`<p>Published: May 1, 2024 10:00</p>${first}${second}${rest}<p>Filed under: eels</p>`), wanted);
});

test('comments below an article go; a page of comments stays', () => {
  const comment = (i: number) =>
    `<div class="comment"><p>Comment ${i}: I have seen such traps when I was young, by the old mill.</p></div>`;
  const comments = (count: number) =>
    `<div class="comments">${Array.from({ length: count }, (_, i) => comment(i)).join('')}</div>`;
  assert.equal(textOf(first + second + rest, comments(3)), wanted);
  const thread = extractHtml(`<html><body><h1>Eel traps?</h1>${comments(30)}</body></html>`, 'https://a.example/').text;
  assert.equal(thread.match(/Comment \d+:/g)?.length, 30);
});

test('comments of declared articles go in other languages, too', () => {
  const declared = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>';
  for (const name of 'comments comentarios Commentaires kommentare-list reacties yorumlar комментарии'.split(' ')) {
    const comments = `<div class="${name}">${first.repeat(12)}</div>`;
    assert.equal(textOf(`${declared}${first}${second}${rest}${comments}`), wanted, name);
  }
});

test('an article in an element with a misleading name stays', () => {
  for (const name of ['related-content', 'comments', 'newsletter', 'sidebar promo', 'share', 'author']) {
    assert.equal(textOf(`<div class="${name}">${first}${second}${rest}</div>`), wanted, name);
  }
});

test('what is hidden goes; a style that hides something else hides nothing', () => {
  const styled = (style: string) => textOf(`${first}<div style="${style}">${second}</div>${rest}`);
  const without = [paragraphs[0], ...paragraphs.slice(2)].join('\n\n');
  for (const style of ['display:none', 'color: red;display : NONE', 'margin: 0; visibility: hidden'])
    assert.equal(styled(style), without, style);
  for (const style of ['--footer-display: none', '--a: 1; --mobile-visibility:hidden', 'backface-visibility: hidden'])
    assert.equal(styled(style), wanted, style);
});

test('quotations of posts stay, whatever their frames are called and however much of them is links', () => {
  const post =
    '<div class="social-embed"><blockquote><p>Dams! <a href="/p">pic.example/abcdefghijk</a></p>Jo <a href="/q">May 1</a></blockquote></div>';
  const left = textOf(first + post + second + rest);
  assert.equal(left, [paragraphs[0], 'Dams! pic.example/abcdefghijk', 'Jo May 1', ...paragraphs.slice(1)].join('\n\n'));
});

test('words of headings and sentences, tables and lists of the article stay', () => {
  const inner = `<h2><a class="toc-backref" href="#x">How they are built</a></h2>${second}
    <table><tr><th>Height</th><td><a href="/h">two metres</a></td></tr></table><ul><li>willow</li><li>stones</li></ul>`;
  assert.match(textOf(first + inner + rest), /How they are built\n\n.*\n\nHeight\ttwo metres\n\n- willow\n- stones\n/s);
});

test('a page that is filled in by scripts gives the text that it declares', () => {
  const body = paragraphs.join('\n');
  const data = JSON.stringify({ '@type': 'Article', headline: 'Weirs', articleBody: body });
  const page = extractHtml(
    `<html><head><script type="application/ld+json">${data}</script></head><body><div id="app">Loading</div></body></html>`,
    'x',
  );
  assert.deepEqual([page.title, page.text], ['Weirs', body]);
  const marked = JSON.stringify({
    '@type': 'Article',
    articleBody: paragraphs.map((each) => `<p>${each}</p>`).join(''),
  });
  assert.equal(extractHtml(`<script type="application/ld+json">${marked}</script><p>Loading</p>`, 'x').text, wanted);
});

test('lines are boilerplate only as a whole', () => {
  const assertLines = (asked: (line: string) => unknown, yes: readonly string[], no: readonly string[] = []) => {
    for (const line of yes) assert.ok(asked(line), line);
    for (const line of no) assert.ok(!asked(line), line);
  };
  const labels = ['Related', 'Read more:', 'You may also like...', 'Lesen Sie auch', '関連記事', 'More from The Daily'];
  const sentences = ['Related work', 'More than a hundred people', 'Watch the birds go by', 'See the results'];
  assertLines(isLabel, labels, sentences);
  assertLines(isLabelled, ['Also: something'], ['Also something']);
  const calls = ['Follow us on Mastodon', 'Subscribe to our newsletter', 'Tags: a, b', '3 comments', 'Advertisement'];
  assertLines(isCall, calls);
  const facts = ['By Ada Example', 'Posted on May 1, 2024', '3 min read', '2024-05-01', 'Image 1 of 23'];
  assertLines(isFact, facts, ['By then it was late, and nobody had seen the ship since noon; it was gone.']);
  const credits = ['Getty Images', 'Photo: A. Person', '(Image: © Somebody)', 'Jo Weaver/Reuters'];
  assertLines(isCredit, credits, ['Reuters reported this first.', 'Photo editing is an art']);
});

test('names are read by their words, not by their letters', () => {
  for (const name of ['share', 'c-share__list', 'relatedPosts', 'article__read-more', 'wp-caption-text', 'most-read'])
    assert.ok(boilerplateName(name), name);
  for (const name of ['shareholder', 'unrelated', 'header', 'story-read', 'more', 'navy', 'captioned'])
    assert.equal(boilerplateName(name), null, name);
});

test('patterns take time in proportion to lines that are made to take long', () => {
  const words = ['by a ', 'photo ', 'read more ', 'a. ', '- ', 'more a', 'may 1 ', '@', ' ', '((', 'more from '];
  const seeds = [...words, 'via via', 'get a newsletter '];
  // Most of them ask nothing of long lines: short ones are asked about again and again.
  const asks = [isLabel, isLabelled, isCall, isFact, isCredit, boilerplateName];
  for (const [longest, times] of [[152, 200] as const, [200_000, 1] as const]) {
    for (const seed of seeds) {
      for (const ask of asks) {
        const repeated = (length: number) => `${seed.repeat(length / seed.length)}\u0000`;
        const askOften = (line: string) => {
          for (let no = 0; no < times; no++) ask(line);
        };
        assertGrowsInProportion(longest, repeated, askOften, `${ask.name} ${seed}`);
      }
    }
  }
});
