/** Markdown and plain text as pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMarkdown, readPlainText } from '../../../src/compute/extraction/markdown-text.ts';

test('headings of both kinds become sections, code does not', () => {
  const text = ['# One #', '', 'Two', '===', '', '```', '# no heading', '```', '- item', '---', '   ### Three'].join(
    '\n',
  );
  const page = readMarkdown(text);
  assert.equal(page.title, 'One');
  assert.equal(page.text, text);
  assert.deepEqual(
    page.sections.map(({ char_start, title }) => [title, text.slice(char_start, char_start + 5)]),
    [
      ['One', '# One'],
      ['Two', 'Two\n='],
      ['Three', '   ##'],
    ],
  );
});

test('front matter gives the title and is no text', () => {
  const page = readMarkdown('---\r\ntitle: "Eel traps"\r\ntags: [a]\r\n---\r\n\r\nSet at dusk.\r\n');
  assert.deepEqual([page.title, page.text, page.sections], ['Eel traps', 'Set at dusk.', []]);
});

test('a plain text stays as it is, but for its line ends', () => {
  const page = readPlainText('\ufeff\r\n# one\rtwo\r\n ');
  assert.deepEqual([page.title, page.text, page.sections], [null, '# one\ntwo', []]);
});
