/** Nothing that a reader would miss is lost: markup and names that extraction once took for boilerplate, one row for each kind. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { parsePage } from '../../../src/compute/extraction/parse-page.ts';
import { listBlocks, restoreBlocks } from '../../../src/compute/extraction/restore-blocks.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const url = 'https://a.example/weirs';
const prose = (of: string, count = 4) =>
  Array.from(
    { length: count },
    (_, at) =>
      `<p>Sentence ${at} of ${of} is about weirs and their keepers, about eels, and about the ladder that they climb.</p>`,
  ).join('');
const within = (inner: string, before = 16, after = 16) =>
  `<html><head><title>Weirs</title></head><body><article><h1>Weirs</h1>${prose('the first part', before)}${inner}${prose('the second part', after)}</article></body></html>`;
const textOf = (html: string) => extractHtml(html, url).text;

const counted =
  'The counter was repaired by two pupils, who found a spider in it; since then it has counted without a fault.';
const named = (name: string) => `<div class="${name}"><h2>Counting</h2><p>${counted}</p></div>`;
/** More than a few sentences; `in` stands for them. */
const boxed = (box: string) => ({ html: box.replace('in', prose('the box', 8)), text: 'Sentence 7 of the box' });
const code = 'let count = 0;\n\nfor (const eel of eels)\n  count += eel.size;';
const lines = code.split('\n');

/** What stands in, before or behind an article, and what of it is in the text, as lines. */
const kept: Record<string, { html: string; text: string }> = {
  ...Object.fromEntries(
    [
      'overflow-hidden',
      'scroll-mt-20',
      'hidden lg:block',
      'hidden md:flex',
      'mt-4 hidden lg:grid',
      'md:hidden',
      'print:hidden',
      'elementor-widget-text-editor elementor-widget',
      'no-share',
      'metadata-free',
      'has-related',
      'media-body',
      'menu-of-the-day',
      'text-caption',
      'bg-banner',
      'extra-wide com-content community',
    ].map((name) => [`a section called ${name}`, { html: named(name), text: `Counting\n\n${counted}` }]),
  ),
  ...Object.fromEntries(
    [
      '<div class="promo">in</div>',
      '<aside>in</aside>',
      '<div hidden>in</div>',
      '<h3>How it counts</h3><div style="display: none">in</div>',
    ].map((box) => [`more than a few sentences in ${box}`, boxed(box)]),
  ),
  ...Object.fromEntries(
    ['div class="related-posts"', 'div class="share"', 'aside'].map((name) => [
      `code in <${name}>`,
      { html: `<${name}><p>An example:</p><pre>${code}</pre></${name.split(' ')[0]}>`, text: code },
    ]),
  ),
  ...Object.fromEntries(
    ['share', 'menu', 'tags', 'credits', 'author', 'navigation', 'modal', 'timestamp'].map((id) => [
      `what is called ${id} by its heading`,
      {
        html:
          `<section id="${id}"><h2 id="${id}">Of ${id}</h2><p id="${id}">${counted}</p></section>` +
          `<dl><dt id="${id}">Term</dt><dd>What it means.</dd></dl><table><tr id="${id}"><td>a</td><td id="${id}">b</td></tr></table>`,
        text: `Of ${id}\n\n${counted}\n\nTerm\nWhat it means.\n\na\tb`,
      },
    ]),
  ),
  'a formula by MathJax': {
    html: `<p>${counted} <mjx-container class="MathJax CtxtMenu_Attached_0" jax="CHTML"><mjx-math aria-hidden="true"></mjx-math><mjx-assistive-mml><math><mi>q</mi><mo>=</mo><mi>v</mi><mi>A</mi></math></mjx-assistive-mml></mjx-container></p>`,
    text: `${counted} q=vA`,
  },
  'a formula that an encyclopedia hides beside its picture': {
    html: `<p>${counted} <span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;"><math><mi>q</mi><mo>=</mo><mi>v</mi><mi>A</mi></math></span><img alt="q=vA" aria-hidden="true" src="q.svg"></span></p>`,
    text: `${counted} q=vA`,
  },
  'a heading that is a version': {
    html: `<h2>[2.4.1] - 2026-04-02</h2><ul><li>${counted}</li></ul>`,
    text: `[2.4.1] - 2026-04-02\n\n- ${counted}`,
  },
  'a paragraph that is a link': {
    html: '<div><p><a href="/l">On Friday the ferryman denied that he had moved the buoy at night.</a></p></div>',
    text: 'On Friday the ferryman denied that he had moved the buoy at night.',
  },
  'a short paragraph that is a link': {
    html: '<div><p><a href="/l">The ferryman denied it.</a></p></div>',
    text: 'The ferryman denied it.',
  },
  'a paragraph that is a link, in a language without spaces': {
    html: '<div><p><a href="/l">渡船夫否认了这件事。</a></p></div>',
    text: '渡船夫否认了这件事。',
  },
  'code in an editor': {
    html: `<div class="CodeMirror"><div class="CodeMirror-scroll"><div class="CodeMirror-code">${lines
      .map(
        (line, at) =>
          `<div><div class="CodeMirror-gutter-wrapper"><div class="CodeMirror-linenumber">${at + 1}</div></div><pre class="CodeMirror-line"><span>${line}</span></pre></div>`,
      )
      .join('')}</div></div></div>`,
    text: code,
  },
  'code in a later editor': {
    html: `<div class="cm-editor"><div class="cm-scroller"><div class="cm-gutters" aria-hidden="true"><div>1</div></div><div class="cm-content">${lines
      .map((line) => `<div class="cm-line">${line || '<br>'}</div>`)
      .join('')}</div></div></div>`,
    text: code,
  },
  'code with a block for each line': {
    html: `<pre class="prism-code language-js">${lines.map((line) => `<div class="token-line"><span class="token comment">${line || '<br>'}</span></div>`).join('')}</pre>`,
    text: code,
  },
  'code in coloured words': {
    html: `<div class="code-toolbar"><pre class="language-js line-numbers"><code><span class="token comment">let</span> count = 0;\n\nfor (const <span class="token tag">eel</span> of eels)\n  count += eel.size;<span aria-hidden="true" class="line-numbers-rows"><span></span></span></code></pre><div class="toolbar"><span>Copy</span></div></div>`,
    text: code,
  },
  'a table of links': {
    html: `<table>${['Alder', 'Birch', 'Cedar', 'Dogwood'].map((tree) => `<tr><td><a href="/${tree}">${tree} weir</a></td><td><a href="/map/${tree}">map of it</a></td></tr>`).join('')}</table>`,
    text: 'Alder weir\tmap of it\nBirch weir\tmap of it',
  },
};

const places = { first: [0, 32], 'in its place': [16, 16], last: [32, 0] };

for (const [name, { html, text }] of Object.entries(kept)) {
  for (const [place, [before, after]] of Object.entries(places)) {
    test(`${name} is read ${place}`, () => {
      const read = textOf(within(html, before, after));
      assert.ok(read.includes(text), read);
      if (before > 0) assert.ok(read.indexOf(`${before - 1} of the first part`) < read.indexOf(text));
      if (after > 0) assert.ok(read.indexOf(text) < read.indexOf('0 of the second part'));
    });
  }
}

/** Whole pages, and what is in their text. */
const pages: Record<string, { html: string; text: string }> = {
  'a list of changes that begins with its newest version': {
    html: `<title>Weirs</title><article><h1>Weirs</h1><p>All changes.</p><h2>[2.4.1] - 2026-04-02</h2><ul><li>${counted}</li></ul><h2>[2.3.1] - 2026-03-02</h2><ul><li>${counted}</li></ul></article>`,
    text: '[2.4.1] - 2026-04-02\n\n- The counter',
  },
  'notes of a day that heads them': {
    html: `<title>Weirs</title><article><h1>Weirs</h1><h2>2026-04-02</h2>${prose('one day')}</article>`,
    text: '2026-04-02\n\nSentence 0 of one day',
  },
  'notes that are headed by their days': {
    html: `<title>Weirs</title><article><h1>Weirs</h1><h2>2 April 2026</h2>${prose('one day')}<h2>2 March 2026</h2>${prose('another day')}</article>`,
    text: '2 April 2026\n\nSentence 0 of one day',
  },
  'a second section in a container beside the first': {
    html: `<title>Weirs</title><div class="a"><div><h2>What it is</h2>${prose('the first part')}</div></div><div class="b"><div><h2>Others</h2><p>Besides the charter there are two mechanisms that nobody in the valley remembers by name.</p></div></div>`,
    text: 'Others\n\nBesides the charter there are two mechanisms',
  },
  'a second section one container deeper than the first': {
    html: `<title>Weirs</title><div class="a"><div><h2>What it is</h2>${prose('the first part', 8)}</div></div><div class="b"><div><div><h2>Others</h2>${prose('the second part', 3)}</div></div></div>`,
    text: 'Others\n\nSentence 0 of the second part',
  },
  ...Object.fromEntries(
    Object.entries({
      nothing: '',
      'a header':
        '<header><h1>Daily news</h1><p>The newspaper of the valley since 1890, printed on Fridays</p></header>',
      'a footer': '<footer><p>Copyright 2026 Daily News. All rights reserved. Imprint and contact.</p></footer>',
      'a question about cookies': `<div class="x"><p>We use cookies to make the site better for everyone who reads it.</p></div>`,
    }).map(([name, shell]) => [
      `a short article that only the data of the page have, next to ${name}`,
      {
        html: `<title>The cable</title><script type="application/ld+json">{"@type":"NewsArticle","articleBody":"The cable was laid in one night."}</script>${shell}<div id="root"></div>`,
        text: 'The cable was laid in one night.',
      },
    ]),
  ),
  'when an event is, below the title of a page that does not say when it was published': {
    html: `<title>Weirs</title><article><h1>Weirs by night</h1><p>Saturday, 12 June 2027, 19:30</p>${prose('the walk')}</article>`,
    text: 'Saturday, 12 June 2027, 19:30\n\nSentence 0 of the walk',
  },
  'where an event is': {
    html: `<title>Weirs</title><article><h1>Weirs by night</h1><p>12 June 2027, Berlin</p>${prose('the walk')}</article>`,
    text: '12 June 2027, Berlin\n\nSentence 0 of the walk',
  },
  'the dates at the end': {
    html: `<title>Weirs</title><article><h1>Weirs</h1>${prose('the walk')}<h3>Next dates</h3><ul><li>12 June 2027, Berlin</li><li>14 June 2027, Hamburg</li></ul></article>`,
    text: 'Next dates\n\n- 12 June 2027, Berlin\n- 14 June 2027, Hamburg',
  },
  'the dates at the end, bare': {
    html: `<title>Weirs</title><article><h1>Weirs</h1>${prose('the walk')}<h3>Next dates</h3><ul><li>12 June 2027</li><li>05/06/2027</li></ul></article>`,
    text: 'Next dates\n\n- 12 June 2027\n- 05/06/2027',
  },
  'when an event is': {
    html: `<title>Weirs</title><meta property="article:published_time" content="2026-01-05"><article><h1>Weirs by night</h1><p>Saturday, 12 December 2026, 19:30</p>${prose('the walk')}<p>Further dates: 19 December 2026</p></article>`,
    text: 'Saturday, 12 December 2026, 19:30\n\nSentence 0 of the walk',
  },
  'short lines of a language without spaces': {
    html: `<title>堰の番人</title><div class="entry"><ul>${Array.from({ length: 30 }, (_, at) => `<li>第${at}段，堰的看守人記下了鰻魚和水位。</li>`).join('')}</ul></div><div class="terms"><p>${'本網站的內容，圖片，文字均屬本站所有，未經許可不得轉載。'.repeat(2)}</p></div>`,
    text: '第0段，堰的看守人記下了鰻魚和水位。\n- 第1段，',
  },
};

for (const [name, { html, text }] of Object.entries(pages)) {
  test(`${name} is read`, () => {
    const read = textOf(html);
    assert.ok(read.includes(text), read);
  });
}

/** What follows the paragraphs of an article, and is none of it. */
const left: Record<string, string> = {
  'a long footer': `<footer>${prose('the imprint', 8)}</footer>`,
  'code in a comment':
    '<div class="post-comments"><div><p>Sentence 0 of the remark is short.</p><pre>npm i weirs</pre></div></div>',
  'long comments': `<div class="comment-thread">${prose('the remark', 8)}</div>`,
  'comments in a section': `<section id="post-comments">${prose('the remark', 8)}</section>`,
  'related pages in a section': `<section id="related-posts">${prose('the other page', 4)}</section>`,
};
for (const [name, html] of Object.entries(left)) {
  for (const [around, [before, after]] of Object.entries({
    'an article': ['<article><h1>Weirs</h1>', '</article>'],
    'an article within a form': ['<form><article class="has-comments"><h1>Weirs</h1>', '</article></form>'],
  })) {
    test(`${name} is left out of ${around}`, () => {
      const read = textOf(`<title>Weirs</title>${before}${prose('the article', 30)}${html}${after}`);
      assert.ok(read.includes('Sentence 0 of the article'), read);
      assert.ok(!/imprint|remark|other page|npm/.test(read), read);
    });
  }
}

test('code with links is read at the end of an article', () => {
  const identifiers = Array.from({ length: 12 }, (_, at) => `identifier${at}`);
  const codes = {
    'npm install pkg': 'npm install <a href="/p">pkg</a>',
    [identifiers.join('\n')]: identifiers.map((name) => `<a href="/r/${name}">${name}</a>`).join('\n'),
  };
  for (const [text, html] of Object.entries(codes)) {
    const read = textOf(
      `<title>Weirs</title><article><h1>Weirs</h1>${prose('weirs')}${prose('eels')}<div class="example"><pre>${html}</pre></div></article>`,
    );
    assert.ok(read.endsWith(`climb.\n\n${text}`), read);
  }
});

test('a paragraph with links that run a script is read once', () => {
  const link = (text: string) => `<a href="javascript:void(0)">${text}</a>`;
  const linked = `${link(counted)}`;
  const half = `The keeper was asked, and ${link(`<b>said</b> that ${counted}`)}`;
  for (const paragraph of [linked, half, `A note. ${linked}`])
    assert.equal(textOf(within(`<p>${paragraph}</p>`)).split(counted).length, 2, paragraph);
});

test('a page with next to no text says what it is about', () => {
  const head =
    '<title>Weirs</title><meta property="og:title" content="Weirs of the north"><meta property="og:description" content="All weirs.">';
  const saidBy = (body: string) => {
    const { title, description } = extractHtml(`<html><head>${head}</head><body>${body}</body></html>`, url);
    return [title, description];
  };
  assert.deepEqual(saidBy('<div id="root"></div>'), ['Weirs of the north', 'All weirs.']);
  assert.deepEqual(saidBy('<p>Loading</p>'), ['Weirs of the north', 'All weirs.']);
  assert.deepEqual(saidBy('<p>All weirs.</p>'), ['Weirs of the north', undefined]);
  assert.deepEqual(saidBy(prose('weirs')), ['Weirs of the north', undefined]);
});

const cases = fileURLToPath(new URL('../../../../shared/data/cases/', import.meta.url));

test('saved pages that lost text have it', (t) => {
  if (!existsSync(cases)) return t.skip(`no test data in ${cases}`);
  let count = 0;
  for (const name of readdirSync(cases)) {
    if (!existsSync(`${cases}${name}/page.html`)) continue;
    const { expected_in_text } = JSON.parse(readFileSync(`${cases}${name}/got.json`, 'utf8'));
    const { text } = extractHtml(readFileSync(`${cases}${name}/page.html`, 'utf8'), url);
    for (const words of Object.keys(expected_in_text)) assert.ok(text.includes(words), `${name}: ${words}\n${text}`);
    count++;
  }
  assert.ok(count >= 7);
});

test('time grows in proportion to what was dropped and is put back', () => {
  const dropped = `<div><p><a href="/l">${counted}</a></p></div>`;
  assertGrowsInProportion(
    2000,
    (size) => `<body>${`${prose('a')}${dropped}`.repeat(size / 5)}</body>`,
    (html) => {
      const { root } = parsePage(html, url);
      const blocks = listBlocks(root);
      for (const { node, links } of blocks.blocks) if (links > 0.5) node.remove();
      restoreBlocks(root, blocks, null);
    },
  );
});
