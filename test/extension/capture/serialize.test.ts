/** The writer over linkedom, which has no layout: what is hidden, shadow roots and frames are tried in real browsers (test/extension-browser). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseHTML } from 'linkedom';
import { type Serialized, serialize } from '../../../extension/src/capture/serialize.ts';

function write(html: string, limit = 1_000_000): Serialized {
  const work = serialize(
    parseHTML(html.startsWith('<html') ? html : `<html>${html}</html>`).document as unknown as Document,
    limit,
  );
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
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

test('a long page is cut at the limit, with its end tags', () => {
  const { html, cut } = write(`<body><div>${'<p>word &amp; word</p>'.repeat(1000)}</div></body>`, 2000);
  assert.equal(cut, true);
  assert.ok(html.length < 2100, `${html.length}`);
  assert.match(html, /<\/div><\/body><\/html>$/);
  assert.doesNotMatch(html, /&[a-z]*$|&[a-z]*<\/p>/);
});

test('whatever text a page has can be read again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { document } = parseHTML('<html><body><p></p></body></html>');
      const paragraph = document.querySelector('p');
      if (paragraph === null) throw new Error('no paragraph');
      paragraph.textContent = text;
      const work = serialize(document as unknown as Document, 1_000_000);
      let step = work.next();
      while (!step.done) step = work.next();
      assert.ok(step.value.html.isWellFormed());
      const written = /<p>([\s\S]*)<\/p>/.exec(step.value.html)?.[1] ?? '';
      const back = written.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
      assert.equal(back, text.toWellFormed());
    }),
  );
});
