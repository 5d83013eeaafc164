/** The lines of a page's text, and where highlights are in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlightOf, linesOf, placeOf, quoteOf } from '../../console/views/page/highlights.ts';

test('a highlight is found where it is, where its context is, with other white space, or not at all', () => {
  const text = 'One fish.\nTwo fish.\nRed fish, blue  fish (a book).';
  const blue = text.lastIndexOf('fish');
  const cases: [highlight: unknown, start: number | null, found?: string][] = [
    [{ quote: 'fish', start: 4 }, 4],
    [{ quote: 'fish', prefix: 'Two ', suffix: '.\nRed', start: 5 }, 14],
    [{ quote: 'fish', prefix: 'another blue  ', suffix: ' (', start: 0 }, blue],
    [highlightOf(text, { start: blue, end: blue + 4 }), blue],
    ['fish', 4],
    [{ text: 'Two fish' }, 10],
    ['One fish. Two', 0, 'One fish.\nTwo'],
    ['blue fish (a book).', text.indexOf('blue'), 'blue  fish (a book).'],
    ['Red fish\nA note of mine\non two lines', 20, 'Red fish'],
    ['One\nfish.\nTwo  fish.\nA note', 0, 'One fish.\nTwo fish.'],
    ['green fish', null],
    ['x\n'.repeat(100_000), null],
    [{ quote: ' ' }, null],
    [{ other: 1 }, null],
    [null, null],
  ];
  for (const [highlight, start, found = quoteOf(highlight)] of cases) {
    const place = placeOf(text, highlight);
    assert.equal(place?.start ?? null, start, JSON.stringify(highlight));
    if (place !== null) assert.equal(text.slice(place.start, place.end), found);
  }
  const changed = `A new beginning. ${text}`;
  assert.equal(placeOf(changed, highlightOf(text, { start: blue, end: blue + 4 }))?.start, blue + 17);
});

test('a text is cut into headings, items, quotes, rows and lines, also where it has millions of them', () => {
  const text =
    '\nHerons\nOne fish.\nTwo.\n\n\n- a\n- b\n\n> one\n>\n> > two\n>>> three\n\n   > ok\n\nx\ty\nz\n \n\n## Eels\n# a comment\n';
  const lines = linesOf(text, new Set(['Herons', 'Eels']));
  assert.deepEqual(
    lines.map(({ start, end, kind, follows }) => [text.slice(start, end), kind, follows]),
    [
      ['Herons', 'prose-heading', false],
      ['One fish.', '', true],
      ['Two.', '', true],
      ['- a', 'prose-item', false],
      ['- b', 'prose-item', true],
      ['one', 'prose-quote', false],
      ['two', 'prose-quote', true],
      ['>>> three', '', true],
      ['ok', 'prose-quote', false],
      ['x\ty', 'prose-row', false],
      ['z', 'prose-row', true],
      ['Eels', 'prose-heading', false],
      ['# a comment', '', true],
    ],
  );
  assert.equal(linesOf('ab\n'.repeat(5_000_000), new Set()).length, 5_000_000);
});
