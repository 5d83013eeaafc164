/** What Readability would drop for its markup is read: whole pages through extraction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { parsePage } from '../../../src/compute/extraction/parse-page.ts';
import { preparePage } from '../../../src/compute/extraction/prepare-page.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const url = 'https://a.example/';
const sentence = 'The harbour was quiet when the first boats came back, and nobody on the quay had expected them yet.';
const filler = Array(4).fill(sentence).join(' ');
const page = (body: string) => `<!doctype html><html><head><title>Boats of the harbour</title></head><body>${body}`;
const textOf = (body: string) => extractHtml(page(body), url).text;

test('code whose identifiers are links is read', () => {
  const code = '<a href="/r/library">library</a>(<a href="/r/boats">boats</a>)\n<a href="/r/sail">sail</a>(1)';
  assert.equal(
    textOf(`<main><p>${filler}</p><div class="source"><pre><code>${code}</code></pre></div><p>${filler}</p></main>`),
    `${filler}\n\nlibrary(boats)\nsail(1)\n\n${filler}`,
  );
});

test('text that stands directly in the body is read', () => {
  const inner = `<div><p>${filler}</p><p>${filler}</p><p>${filler}</p></div>`;
  const text = textOf(`First of all: ${sentence}${inner}And last: ${sentence}`);
  assert.equal(text, [`First of all: ${sentence}`, filler, filler, filler, `And last: ${sentence}`].join('\n\n'));
});

test('a note or warning is read, another aside is not', () => {
  const note = '<b>Note:</b> You must close the valve before the pump starts.';
  const read = (aside: string) => textOf(`<main><p>${filler}</p>${aside}<p>${filler}</p></main>`);
  for (const name of ['note', 'callout callout-tip', 'Admonition'])
    assert.equal(
      read(`<aside class="${name}">${note}</aside>`),
      `${filler}\n\nNote: You must close the valve before the pump starts.\n\n${filler}`,
    );
  assert.equal(read(`<aside class="notebooks">${note}</aside>`), `${filler}\n\n${filler}`);
});

test('time grows in proportion to the links and lines in code and to what stands in a body', () => {
  const prepare = (html: string) => preparePage(parsePage(html, url));
  assertGrowsInProportion(10_000, (size) => page(`<pre>${'<a href="/a">a</a> '.repeat(size)}</pre>`), prepare);
  assertGrowsInProportion(5_000, (size) => page(`${sentence}<i>a</i>`.repeat(size)), prepare);
  assertGrowsInProportion(10_000, (size) => page(`<pre>${'<pre><div>a</div>'.repeat(size / 2)}`.repeat(2)), prepare);
});
