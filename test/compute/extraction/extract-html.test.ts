import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { extractArticle, extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { ExtractionLimitError } from '../../../src/compute/extraction/parse-page.ts';

const url = 'https://example.com/a';
const filler = 'This paragraph, which is long enough to be read, says a few things, and then some more of them. '
  .repeat(4)
  .trim();

function article(body: string, head = ''): string {
  return `<!doctype html><html lang="en-GB"><head><title>A Title Of The Page</title>${head}</head><body>
    <nav><a href="/">Home</a><a href="/x">Elsewhere</a></nav><article><p>${filler}</p>${body}<p>${filler}</p></article>
    <script>var hidden = "code";</script><footer>Imprint</footer></body></html>`;
}
/** What is told of a page that says nothing. */
const nothing = {
  ...{ title: null, text: '', sections: [], author: null, published_at: null, lang: null, site_name: null },
  image: null,
};

test('an article gives title, language, text and sections, without navigation and scripts', () => {
  assert.deepEqual(extractHtml(article(`<h2>Part <em>one</em></h2><p>${filler}</p>`), url), {
    ...nothing,
    title: 'A Title Of The Page',
    text: `${filler}\n\nPart one\n\n${filler}\n\n${filler}`,
    sections: [{ char_start: filler.length + 2, title: 'Part one' }],
    lang: 'en-GB',
  });
});

test('U+0000 is nothing, wherever a page has it', () => {
  const page = '<title>t\0t</title><meta name="author" content="A\0 B"><h1>h\0h</h1><p>c\0d</p><pre>x\0y</pre>';
  const { title, text, sections, author } = extractHtml(page, url);
  assert.deepEqual(
    { title, text, sections, author },
    { title: 'tt', text: 'hh\n\ncd\n\nxy', sections: [{ char_start: 0, title: 'hh' }], author: 'A B' },
  );
  const declared = JSON.stringify({ '@type': 'NewsArticle', author: 'C\0D', articleBody: `a\0b ${filler} ${filler}` });
  const shell = extractHtml(
    `<title>x</title><script type="application/ld+json">${declared}</script><p>Loading</p>`,
    url,
  );
  assert.equal(shell.text, `ab ${filler} ${filler}`);
  assert.equal(shell.author, 'CD');
});

test('the number of a footnote is apart from the word before it', () => {
  const notes =
    'in one season<sup><a href="#n1">2</a></sup>, by the sea<a href="#n2"><sup>3</sup></a>, x<sup>2</sup>, here<sup><a href="#n4">[4]</a></sup>';
  const withNotes = extractHtml(article(`<p>${filler} ${notes}</p>`), url).text;
  assert.equal(withNotes, `${filler}\n\n${filler} in one season 2, by the sea 3, x2, here[4]\n\n${filler}`);
});

test('an article without its page is read whatever its markup, and has its lines where it has none', () => {
  const articles = {
    '<ol><li>One &amp; two</li></ol>': '1. One & two',
    '<blockquote>Quoted</blockquote>': 'Quoted',
    '<pre>code a &lt; b</pre>': 'code a < b',
    '<section>A part</section>': 'A part',
    '<img src="x.png">': '',
    '<!-- mark -->Text': 'Text',
    'Text with <a href="/a">a link</a> &amp; more': 'Text with a link & more',
    'Fish &#38; chips &eacute;': 'Fish & chips é',
    'One line,\n\n\nanother:  a < b, AT&T': 'One line,\n\nanother: a < b, AT&T',
  };
  for (const [html, text] of Object.entries(articles)) assert.equal(extractArticle(html, url).text, text, html);
});

test('lists, tables, line breaks and preformatted text keep their lines', () => {
  const { text } = extractHtml(
    article(
      `<ul><li>one</li><li>two</li></ul><ol><li>first</li><li><p>second</p></li></ol>
       <table><tr><th>a</th><th>b</th></tr><tr><td>1, and so on</td><td>2</td></tr></table>
       <p>verse<br>verse</p><pre>if (x) {\n  <b>y</b>();\n}\n</pre>`,
    ),
    url,
  );
  assert.equal(
    text,
    `${filler}\n\n- one\n- two\n\n1. first\n\n2. second\n\na\tb\n1, and so on\t2\n\nverse\nverse\n\nif (x) {\n  y();\n}\n\n${filler}`,
  );
});

test('author and date of publication are read from the page, the date as an instant', () => {
  const data = JSON.stringify({
    '@context': 'https://schema.org',
    '@type': 'NewsArticle',
    headline: 'The Headline',
    author: { name: 'Ada Example' },
    datePublished: '2024-05-01T10:00:00+02:00',
  });
  const page = extractHtml(article('', `<script type="application/ld+json">${data}</script>`), url);
  const facts = [page.title, page.author, page.published_at];
  assert.deepEqual(facts, ['The Headline', 'Ada Example', '2024-05-01T08:00:00.000Z']);
});

test('a page without an article gives its visible text', () => {
  const html = `<html><head><meta property="og:title" content="Shown"></head><body><p hidden>no</p>
    <p style="display: none">no</p><div>Short</div><h3>Head</h3><span>and</span> <b>sweet</b></body></html>`;
  const sections = [{ char_start: 7, title: 'Head' }];
  const shown = { ...nothing, title: 'Shown', text: 'Short\n\nHead\n\nand sweet', sections };
  assert.deepEqual(extractHtml(html, url), shown);
});

test('a page or fragment without text gives empty text', () => {
  for (const html of ['', ' ', '<p></p>', '<img src="x.png">', '<script>x</script>', '<!-- x -->', '<html></html>']) {
    assert.deepEqual(extractHtml(html, url), nothing, html);
  }
  assert.equal(extractHtml('just text', url).text, 'just text');
});

test('any markup gives text without white space at its ends and sections that begin with their titles', () => {
  const tags = '<p> </p> <div> </div> <h2> </h2> <h3> </h3> <li> </li> <ol> </ol>';
  const others =
    '<pre> </pre> <br> <td> <table> </table> <b> </b> &nbsp; &amp; <svg> </svg> <template> <script> </script>';
  const piece = fc.oneof(
    fc.constantFrom(...tags.split(' ')),
    fc.constantFrom(...others.split(' ')),
    fc.constantFrom(' ', '\n', 'word ', 'two words', '<', '&#0;', `<p>${filler}</p>`),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const { text, sections } = extractHtml(pieces.join(''), url);
      assert.equal(text, text.trim());
      assert.ok(!/[^\S\n]*\n[^\S\n]*\n[^\S\n]*\n/.test(text) || pieces.includes('<pre>'));
      let before = -1;
      for (const { char_start, title } of sections) {
        assert.ok(char_start > before);
        before = char_start;
        assert.ok(title !== null && text.slice(char_start).replace(/\s+/g, ' ').startsWith(title));
      }
    }),
    { numRuns: 150 },
  );
});

test('hostile pages are refused or read in bounded time', () => {
  for (const html of [
    '<div>'.repeat(1_000_000),
    '<\0div>'.repeat(1_000_000),
    `${'<div>'.repeat(600)}x${'</div>'.repeat(600)}`,
    '<i></i>'.repeat(400_001),
    `<p class="${'name '.repeat(300_000)}">x</p>`,
    `<p CLASS="${'name '.repeat(300_000)}">x</p>`,
  ]) {
    assert.throws(
      () => extractHtml(html, url),
      (error) => error instanceof ExtractionLimitError && error.message.includes(url),
    );
  }
  assert.equal(extractHtml(`<p>${'&nbsp;'.repeat(100)}${'\u00a0'.repeat(500_000)}x</p>`, url).text, 'x');
  const comb = `${'<div>'.repeat(300)}text${'</div>'.repeat(300)}`;
  assert.equal(extractHtml(comb.repeat(100), url).text.length, 100 * 'text\n\n'.length - 2);
});

test('an element with very many attributes in capitals is read in linear time', () => {
  const attributes = Array.from({ length: 50_000 }, (_, no) => `A${no}`).join(' ');
  const element = `<p HIDDEN ${attributes}>Unseen.</p>`;
  // With a walk over all attributes for each of them this takes minutes.
  assert.equal(extractHtml(`<body>${element}<p>${filler}</p></body>`, url).text, filler);
});

test('titles of saved web pages are found', (t) => {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../../shared/data/pages');
  if (!existsSync(folder)) return t.skip(`no test data in ${folder}`);
  const folded = (title: string) => title.replace(/\s+/g, ' ').trim();
  const pages = readFileSync(join(folder, 'pages.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line): { file: string; url: string; title: string } => JSON.parse(line));
  const found = pages.filter(
    (page) => extractHtml(readFileSync(join(folder, page.file), 'utf8'), page.url).title === folded(page.title),
  );
  // Some expect a title with the site's name, or without what stands before its colon.
  assert.ok(found.length >= 0.85 * pages.length, `${found.length} of ${pages.length}`);
});

const stray = 'A sentence that stands where no text belongs is read by everybody who opens the page in a browser.';

test('text outside of the body is read in its place', () => {
  const before = `<p>${filler}</p>`;
  const pages = {
    'behind the body': `<html><body>${before}</body><p>${stray}</p></html>`,
    'behind the document': `<html><body>${before}</body></html>\n<p>${stray}</p>`,
    'in a second head': `<html><body>${before}</body><head><p>${stray}</p></head></html>`,
    'behind a document with a doctype': `<!DOCTYPE html>\n<html><body>${before}</body></html>\n<p>${stray}</p>`,
    'behind the end of a document that has none': `<body>${before}</html><p>${stray}</p>`,
    'in a fragment that ends as a document does, and goes on': `${before}</html><html><p>${stray}</p>`,
    'in a second document': `<html><body>${before}</body></html><html><body><p>${stray}</p></body></html>`,
    'behind an element that is in front of the document': `${before}<html><head></head><body><p>${stray}</p></body></html>`,
  };
  for (const [place, html] of Object.entries(pages)) {
    assert.equal(extractHtml(html, url).text, `${filler}\n\n${stray}`, place);
  }
  const inFront = extractHtml(`${stray}<html><head><title>T</title></head><body>${before}</body></html>`, url);
  assert.equal(inFront.text, `${stray}\n\n${filler}`);
});

test('a fragment that names the html element in a comment or a script is a fragment', () => {
  for (const first of ['<!-- <html> -->', '<script>var page = "<html>";</script>']) {
    assert.equal(extractHtml(`${first}<p>${filler}</p><p>${stray}</p>`, url).text, `${filler}\n\n${stray}`, first);
  }
});

test('names of attributes count in capitals, too', () => {
  const page = extractHtml(
    `<HTML LANG="de"><HEAD><TITLE>T</TITLE><META NAME="author" CONTENT="Ada Example"></HEAD>
     <BODY><DIV STYLE="display:none">Unseen.</DIV><DIV HIDDEN>Unseen, too.</DIV><P>${filler}</P><P>${stray}</P></BODY></HTML>`,
    url,
  );
  assert.deepEqual([page.text, page.lang, page.author], [`${filler}\n\n${stray}`, 'de', 'Ada Example']);
});

test('of attributes that differ in case only the first counts', () => {
  const html = (first: string, second: string) => `<p>${filler}</p><p ${first} ${second}>${stray}</p>`;
  const [hides, shows] = ['STYLE="display:none"', 'style="color:red"'];
  assert.equal(extractHtml(html(hides, shows), url).text, filler);
  assert.equal(extractHtml(html(shows, hides), url).text, `${filler}\n\n${stray}`);
});

test('what is hidden outside of the body is not read', () => {
  const hidden =
    '<DIV STYLE="display:none"><p>Unseen by everybody who opens the page in a browser.</p></DIV><template>x</template>';
  for (const html of [
    `<html><body><p>${filler}</p></body></html>${hidden}`,
    `<html>${hidden}<body><p>${filler}</p></body></html>`,
    `<html><head><title>T</title>${hidden}<p>${filler}</p>`,
  ]) {
    assert.equal(extractHtml(html, url).text, filler);
  }
});

test('a document may leave out the tags of its head and its body', () => {
  const text = `<h1>Heading</h1><p>${filler}</p><p>${stray}</p><div><p>${filler}</p></div>`;
  for (const head of [
    '<head><title>T</title><style>p {}</style><script>var page;</script>',
    '<head><title>T</title></head>',
    '<title>T</title>',
  ]) {
    const page = extractHtml(`<!doctype html><html>${head}${text}`, url);
    assert.deepEqual([page.title, page.text], ['T', `Heading\n\n${filler}\n\n${stray}\n\n${filler}`], head);
  }
});

test('a declared shadow tree is read, another template is not', () => {
  const html = `<body><x-story><template shadowrootmode="open"><p>${filler}</p><x-more><template shadowrootmode="closed"><p>${stray}</p>
    </template></x-more></template></x-story><template><p>Not shown.</p></template></body>`;
  assert.equal(extractHtml(html, url).text, `${filler}\n\n${stray}`);
});

test('long text in the head is read as readers without scripts see it: not of a template, but of a noscript element', () => {
  const long = `${stray} `.repeat(20).trim();
  const withHead = (name: string) =>
    extractHtml(
      `<html><head><title>Weirs</title><${name}><p>${long}</p></${name}></head><body><p>${filler}</p></body></html>`,
      url,
    ).text;
  assert.equal(withHead('template'), filler);
  assert.equal(withHead('noscript'), `${long}\n\n${filler}`);
});

test('a lead between the title and the article is read, what else stands there is not', () => {
  const lead = 'Eels come up the river in spring, and willow rods, which are cut in winter, hold them.';
  const page = (head: string, between: string) =>
    extractHtml(
      `<html><head><title>Weirs of the north</title>${head}</head><body><div><h1>Weirs of the north</h1>${between}</div>
       <article><h2>Traps</h2><p>${filler}</p><p>${stray} ${filler}</p></article></body></html>`,
      url,
    );
  const article = `Traps\n\n${filler}\n\n${stray} ${filler}`;
  const { text, sections } = page('', `<p class="dek">${lead}</p>`);
  assert.equal(text, `${lead}\n\n${article}`);
  assert.deepEqual(sections, [{ char_start: text.indexOf('Traps'), title: 'Traps' }]);
  assert.equal(page('', `<p>Published: May 1, 2024 10:00</p><p><a href="/x">${lead}</a></p>`).text, article);
  const described = `<meta name="description" content="${lead} More follows.">`;
  assert.equal(page(described, `<aside><p>${lead}</p></aside>`).text, `${lead}\n\n${article}`);
  assert.equal(page('', `<aside><p>${lead}</p></aside>`).text, article);
});

test('line ends of all systems are line feeds', () => {
  const withStray = extractHtml(`<p>${filler}</p><pre>a\r\n\tb\rc</pre><p>${stray}</p>`, url).text;
  assert.equal(withStray, `${filler}\n\na\n\tb\nc\n\n${stray}`);
});

const sentences = (of: string, count: number) =>
  Array.from(
    { length: count },
    (_, at) => `<p>Sentence ${at} of ${of} goes on long enough to be running text, and ends.</p>`,
  ).join('');

test('an opened CDATA section swallows nothing', () => {
  const page = extractHtml(`<body><![CDATA[<div>${sentences('a page', 5)}</div><p>${filler}</p></body>`, url);
  assert.match(page.text, /Sentence 0 of a page.*\n\nSentence 1 of a page/);
  assert.ok(!page.text.includes('CDATA'));
  assert.equal(extractHtml(`<p>${filler}</p><![CDATA[ gone ]]><p>${stray}</p>`, url).text, `${filler}\n\n${stray}`);
});

test('text for readers without scripts is read where it is what there is, and not a second time', () => {
  const posts = sentences('a post', 8);
  assert.match(
    extractHtml(`<body><p>Wait.</p><noscript><div>${posts}</div></noscript></body>`, url).text,
    /7 of a post/,
  );
  const twice = extractHtml(`<body><div>${posts}</div><noscript><div>${posts}</div></noscript></body>`, url).text;
  assert.equal(twice.split('Sentence 3 of a post').length, 2);
});

test('a page that is hidden until its script has run is read', () => {
  for (const hidden of ['style="visibility: hidden"', 'style="display:none"', 'hidden', 'aria-hidden="true"']) {
    const { text } = extractHtml(`<body><div ${hidden}><article>${sentences('a page', 8)}</article></div></body>`, url);
    assert.match(text, /7 of a page/, hidden);
  }
});

test('what a page sends later is read in its place', () => {
  const { text } = extractHtml(
    `<body><main><p>${filler}</p><template id="B:0"></template><p>${stray}</p></main>` +
      `<div hidden id="S:0">${sentences('a part', 1)}</div></body>`,
    url,
  );
  const places = [filler, 'Sentence 0 of a part', stray].map((part) => text.indexOf(part));
  assert.ok(places[0] >= 0 && places[0] < places[1] && places[1] < places[2], text);
  const inside = `<body><p>${filler}</p><div hidden id="S:1"><template id="B:1"></template></div></body>`;
  assert.equal(extractHtml(inside, url).text, filler);
});

/** Texts, each in elements of its own, of which Readability takes one. */
const thread = (head: string, posts = 12): string => {
  const post = (at: number) =>
    `${'<div>'.repeat(6)}<section>${sentences(`post ${at}`, 6)}</section>${'</div>'.repeat(6)}`;
  return `<head>${head}</head><body>${Array.from({ length: posts }, (_, at) => post(at)).join('')}</body>`;
};

test('all posts of a thread are read, not one, and the date of something else before them', () => {
  const published = '<meta property="article:published_time" content="2026-01-05">';
  const { text } = extractHtml(thread(published).replace('<body>', '<body><p>12 June 2027</p>'), url);
  assert.ok(text.startsWith('12 June 2027'));
  for (let at = 0; at < 12; at++) assert.ok(text.includes(`Sentence 5 of post ${at} goes`), String(at));
});

test('a page that says it is an article is not taken for a thread, unless what was found is a small part of it', () => {
  const says = [
    '<meta property="og:type" content="article">',
    '<script type="application/ld+json">{"@type":"NewsArticle","headline":"Story"}</script>',
  ];
  const posting = '<script type="application/ld+json">{"@type":"DiscussionForumPosting","headline":"Story"}</script>';
  const firsts = (head: string, posts: number) =>
    extractHtml(thread(head, posts), url).text.match(/Sentence 0/g)?.length;
  for (const head of says) {
    assert.equal(firsts(head, 5), 1, head);
    assert.equal(firsts(head, 12), 12, head);
  }
  assert.equal(firsts(posting, 5), 5);
});

const paragraphsOf = (of: string, count: number) =>
  Array.from(
    { length: count },
    (_, n) => `<p>Sentence ${n} of ${of} goes on for a while, so that it is text that one reads.</p>`,
  ).join('');
const countOf = (text: string, of: string) => text.split(` of ${of} goes`).length - 1;

test('a question and its answers are read, with their lists and without what is beside them', () => {
  const answer = (name: string, count: number) =>
    `<div class="answer" id="${name}"><div class="votes">7 votes of readers, and one vote against it since</div>
     <div class="prose">${paragraphsOf(name, count)}<ul><li>One thing of ${name}</li><li>Another thing</li></ul></div></div>`;
  const { text } = extractHtml(
    `<body><h1>A question</h1><div class="question"><div class="prose">${paragraphsOf('the question', 4)}
     <ul><li><a href="/a">First choice</a></li><li><a href="/b">Second choice</a></li></ul></div></div>
     ${answer('a long answer', 14)}${answer('a short answer', 5)}${answer('another', 6)}</body>`,
    url,
  );
  const counts = { 'the question': 4, 'a long answer': 14, 'a short answer': 5, another: 6 };
  for (const [name, count] of Object.entries(counts)) assert.equal(countOf(text, name), count, name);
  assert.match(text, /- First choice\n- Second choice/);
  assert.match(text, /- One thing of another\n- Another thing/);
});

test('an article is not given up for the comments below it, whatever these are called', () => {
  const comment = (at: number) => `<div class="row entry-${at}">${paragraphsOf(`remark ${at}`, 4)}</div>`;
  const { text } = extractHtml(
    `<body><div class="story">${paragraphsOf('the story', 20)}</div><div class="below">${Array.from({ length: 12 }, (_, at) => comment(at)).join('')}</div></body>`,
    url,
  );
  assert.equal(countOf(text, 'the story'), 20);
});

test('panels of tabs are read, also those that are hidden until their tab is chosen', () => {
  const panel = (name: string, hidden: string) =>
    `<section role="tabpanel" ${hidden}>${paragraphsOf(name, 2)}<pre>install ${name}</pre></section>`;
  const hidden = 'hidden aria-hidden="true" style="display: none"';
  const { text } = extractHtml(
    article(`${paragraphsOf('the manual', 12)}${panel('linux', '')}${panel('windows', hidden)}`),
    url,
  );
  assert.equal(countOf(text, 'windows'), 2);
  assert.match(text, /install windows/);
  const count = countOf(extractHtml(article(`<div ${hidden}>${paragraphsOf('a note', 2)}</div>`), url).text, 'a note');
  assert.equal(count, 0);
});

test('comments are read, but not those on an article, however long they are', () => {
  const page = (head: string, name: string) =>
    `<head>${head}</head><body><div class="story"><h1>A story</h1>${paragraphsOf('the story', 4)}</div>
     <div class="${name}">${paragraphsOf('a remark', 60)}</div></body>`;
  const says = '<meta property="og:type" content="article">';
  const of = (head: string, name: string, what: string) => countOf(extractHtml(page(head, name), url).text, what);
  assert.equal(of(says, 'comments', 'a remark'), 0);
  assert.equal(of(says, 'comments', 'the story'), 4);
  assert.equal(of(says, 'has-comments', 'a remark'), 60);
  assert.equal(of('', 'comments', 'a remark'), 60);
});

test('comments in code are code', () => {
  const code = Array.from(
    { length: 30 },
    (_, at) => `<div><code class="java comments">// step ${at} of the loop</code></div>`,
  );
  const says = '<meta property="og:type" content="article">';
  const html = `<head>${says}</head><body><article>${paragraphsOf('the story', 6)}<div class="code">${code.join('')}</div></article></body>`;
  assert.match(extractHtml(html, url).text, /step 17 of the loop/);
});

test('a thread is read from its opening post on, however short that is beside the list of answers', () => {
  const post = (name: string, count: number) =>
    `<div class="row">${'<div>'.repeat(6)}<section>${paragraphsOf(name, count)}</section>${'</div>'.repeat(6)}</div>`;
  const answers = [14, 5, 6].map((count, at) => post(`answer ${at}`, count)).join('<h2>The next one</h2>');
  const html = `<body><div><h1>How to</h1>${post('the question', 2)}</div><div>${answers}</div></body>`;
  const { text } = extractHtml(html, url);
  assert.equal(countOf(text, 'the question'), 2);
  for (const at of [0, 1, 2]) assert.ok(countOf(text, `answer ${at}`) > 0, String(at));
});

test('of a page that is made of parts all of its main element is read, and nothing beside it', () => {
  const part = (name: string) => `${'<div>'.repeat(6)}<section>${paragraphsOf(name, 6)}</section>${'</div>'.repeat(6)}`;
  const parts = Array.from({ length: 12 }, (_, at) => `part ${at}`);
  for (const [open, close] of [
    ['<main>', '</main>'],
    ['<div role="main">', '</div>'],
  ]) {
    const { text } = extractHtml(
      `<body>${part('what is beside it')}${open}${parts.map(part).join('')}<p>12 EUR</p>${close}</body>`,
      url,
    );
    for (const name of parts) assert.equal(countOf(text, name), 6, name);
    assert.match(text, /12 EUR/);
    assert.equal(countOf(text, 'what is beside it'), 0);
  }
});

test('what is around most of the parts is read, not what a layout calls the same', () => {
  const row = (content: string) =>
    `<div class="row">${'<div>'.repeat(6)}<section>${content}</section>${'</div>'.repeat(6)}</div>`;
  const counts = [14, 5, 6];
  const answers = counts.map((count, at) => row(paragraphsOf(`answer ${at}`, count)));
  const { text } = extractHtml(
    `<body><div>${answers.join('<h2>The next one</h2>')}</div><div>${row(`<p>${stray}</p>`)}</div></body>`,
    url,
  );
  assert.equal(counts.map((_, at) => countOf(text, `answer ${at}`)).join(), counts.join());
  assert.match(text, /The next one/);
  assert.ok(!text.includes(stray));
});
