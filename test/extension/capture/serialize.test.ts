/** The writer over linkedom, which has no layout: what is hidden, shadow roots and frames are tried in real browsers (test/extension-browser). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseHTML } from 'linkedom';
import { type Limits, mayAskForSecret, type Serialized, serialize } from '../../../extension/src/capture/serialize.ts';
import { type DomNode, elementNode, walkTree } from '../../../src/compute/extraction/dom-tree.ts';
import { parsePage } from '../../../src/compute/extraction/parse-page.ts';

const unbounded: Limits = { units: 1e9, elements: 1e9, nodes: 1e9 };

function write(html: string, limits: Partial<Limits> = {}): Serialized {
  const work = serialize(
    parseHTML(html.startsWith('<html') ? html : `<html>${html}</html>`).document as unknown as Document,
    { ...unbounded, ...limits },
  );
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Elements and nodes as the service counts them. */
function countOf(html: string): { elements: number; nodes: number } {
  const count = { elements: 0, nodes: 0 };
  walkTree(
    parsePage(html, 'http://news.example.org/').document as unknown as DomNode,
    ({ nodeType }) => {
      count.nodes++;
      if (nodeType === elementNode) count.elements++;
      return nodeType === elementNode;
    },
    () => undefined,
  );
  return count;
}

test('text, structure and what describes the page stay; what runs, draws or was typed goes', () => {
  const { html, cut, secretField } = write(
    `<html lang="de"><head><title>A & B</title><meta name="author" content='"Ann"'><meta name="csrf-token" content="s3cret">
    <link rel="canonical" href="https://example.org/a"><style>p{}</style><script>run()</script></head><body onload="x()">
    <article class="c" data-x="1" style="color:red"><p id=p>5 &lt; 6 &amp; 7<br>next</p><!-- no --><textarea>draft</textarea>
    <input value="typed"><div contenteditable="true">mine</div><svg><text>drawn</text></svg><img src="https://t.example/p.gif" alt="A heron"></article></body></html>`,
  );
  assert.equal(cut, false);
  assert.equal(secretField, false);
  assert.equal(
    html.replace(/\s+/g, ' '),
    '<!doctype html><html lang="de"><head><meta charset="utf-8"><title>A &amp; B</title><meta name="author" content="&quot;Ann&quot;">' +
      '<link rel="canonical" href="https://example.org/a"></head><body> <article class="c"><p id="p">5 &lt; 6 &amp; 7<br>next</p> <img alt="A heron"></article></body></html>',
  );
});

test('a page with a password or card field is not written', () => {
  const fields = [
    '<input type="password">',
    '<input type="PASSWORD" value="">',
    '<input autocomplete="section-a cc-number">',
    '<input autocomplete="current-password">',
    `<input autocomplete="${'section-'.padEnd(2000, 'a ')} cc-number">`,
    `<input autocomplete="${' '.repeat(2000)}Current-Password">`,
    `<input name="${'x'.repeat(2000)} cardNumber">`,
    '<input name="cardNumber">',
    '<input id="cvc">',
    '<iframe src="https://js.stripe.com/v3/elements-inner-card-1.html"></iframe>',
  ];
  for (const field of fields) {
    assert.deepEqual(
      write(`<body><p>Text</p><form>${field}</form></body>`),
      { html: '', cut: false, secretField: true },
      field,
    );
  }
  assert.equal(
    write('<body><input name="discard"><input type="search" name="q"><p>Text</p></body>').secretField,
    false,
  );
});

test('whether a page may ask for a secret is told at once, and of one too large to be looked through that it may', () => {
  const ask = (html: string) =>
    mayAskForSecret(parseHTML(`<html><body>${html}</body></html>`).document as unknown as Document, () => null);
  assert.equal(ask('<p>Text</p><input name="q">'), false);
  assert.equal(ask('<p>Text</p><div hidden><input type="password"></div>'), true);
  assert.equal(ask('<i></i>'.repeat(40_000)), false);
  assert.equal(ask('<i></i>'.repeat(60_000)), true);
});

test('a long page is cut at the limit, with its end tags', () => {
  const { html, cut } = write(`<body><div>${'<p>word &amp; word</p>'.repeat(1000)}</div></body>`, { units: 2000 });
  assert.equal(cut, true);
  assert.ok(html.length < 2100, `${html.length}`);
  assert.match(html, /<\/div><\/body><\/html>$/);
  assert.doesNotMatch(html, /&[a-z]*$|&[a-z]*<\/p>/);
});

/** What each step of writing a page asks about: roots of elements, attributes of fields. */
function askedByStep(html: string, hostMode?: 'open' | 'closed'): { asked: number[]; result: Serialized } {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const host = document.querySelector('x-host');
  const root = Object.assign(document.createDocumentFragment(), { mode: hostMode });
  if (host !== null && hostMode !== undefined) root.append(...host.childNodes);
  let count = 0;
  for (const input of document.querySelectorAll('input')) {
    const { getAttribute } = input;
    input.getAttribute = (name: string) => {
      if (name === 'type') count++;
      return getAttribute.call(input, name);
    };
  }
  const work = serialize(document as unknown as Document, unbounded, (element) => {
    count++;
    return element.localName === 'x-host' && hostMode !== undefined ? (root as unknown as ShadowRoot) : null;
  });
  const asked: number[] = [];
  for (let step = work.next(); ; step = work.next()) {
    asked.push(count);
    count = 0;
    if (step.done) return { asked, result: step.value };
  }
}

for (const [name, html, mode] of [
  ['in the open', '<div><p>word</p></div>', undefined],
  ['in an open root', '<div><p>word</p></div>', 'open'],
  ['in a closed root', '<div><p>word</p></div>', 'closed'],
  ['of fields', '<p><input name="q"></p>', undefined],
] as const) {
  test(`a page of twenty thousand elements ${name} is written in small steps, each element looked at thrice at most`, () => {
    const { asked, result } = askedByStep(`<x-host>${html.repeat(10_000)}</x-host>`, mode);
    assert.equal(result.cut, false);
    // The end of one part of the work and the beginning of the next may be one step.
    assert.ok(Math.max(...asked) <= 400, `${Math.max(...asked)} in a step`);
    const all = asked.reduce((sum, each) => sum + each, 0);
    assert.ok(all >= 20_000 && all <= 60_010, `${all} in all`);
  });
}

test('a page of more elements, texts or escapes than the service takes is cut to what it takes', () => {
  const limits: Partial<Limits> = { elements: 9_000, nodes: 18_000 };
  for (const [name, html] of [
    ['elements', '<i></i>'.repeat(20_000)],
    ['texts', '<b>x</b> y '.repeat(20_000)],
    ['escapes', `<p>${'a & b '.repeat(30_000)}</p>`.repeat(2)],
    ['meta elements', '<meta name="a" content="b">'.repeat(20_000)],
  ]) {
    const { html: written, cut } = write(`<body>${html}</body>`, limits);
    assert.equal(cut, true, name);
    const { elements, nodes } = countOf(written);
    assert.ok(elements <= 9_100 && nodes <= 18_100, `${name}: ${elements} elements, ${nodes} nodes`);
  }
});

test('a page that grows while it is written comes to an end, though nothing of it is text', () => {
  const { document } = parseHTML('<html><body><p>First</p></body></html>');
  const grow = () => Array.from({ length: 250 }, () => document.createComment('more'));
  const nodes: unknown[] = [...document.body.childNodes, ...grow()];
  Object.defineProperty(document.body, 'childNodes', { value: nodes });
  const work = serialize(document as unknown as Document, { ...unbounded, nodes: 10_000 });
  let steps = 0;
  for (let step = work.next(); ; step = work.next(), steps++) {
    if (step.done) {
      assert.equal(step.value.cut, true);
      break;
    }
    assert.ok(steps < 1000, 'it comes to an end');
    nodes.push(...grow());
  }
});

test('whatever text a page has can be read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { document } = parseHTML('<html><body><p></p></body></html>');
      const paragraph = document.querySelector('p');
      if (paragraph === null) throw new Error('no paragraph');
      paragraph.textContent = text;
      const work = serialize(document as unknown as Document, unbounded);
      let step = work.next();
      while (!step.done) step = work.next();
      assert.ok(step.value.html.isWellFormed());
      const written = /<p>([\s\S]*)<\/p>/.exec(step.value.html)?.[1] ?? '';
      const back = written.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
      assert.equal(back, text.toWellFormed());
    }),
  );
});
