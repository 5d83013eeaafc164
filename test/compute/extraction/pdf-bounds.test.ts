/** Text of PDFs that is made to take long: what is linear stays linear. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flowText } from '../../../src/compute/extraction/flow-text.ts';
import { type Line, type PlacedText, pageLines } from '../../../src/compute/extraction/page-lines.ts';
import { pdfDate, saneAuthor, saneTitle } from '../../../src/compute/extraction/pdf-facts.ts';
import { stripRepeatedLines } from '../../../src/compute/extraction/repeated-lines.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const settings = {
  strip_repeated_lines: true,
  repeated_line_ratio: 0.6,
  repeated_line_scan: 2,
  min_pages_for_stripping: 3,
};
const lineOf = (text: string, y: number): Line => ({ text, left: 72, right: 500, y, size: 10, font: 'f', column: 0 });

test('lines of 100,000 characters of any kind', () => {
  for (const seed of ['a', 'a-', 'iv', '. ', '."', '-', '\t', '1', ' ', '(((', 'é', '\u00ad']) {
    assertGrowsInProportion(
      100_000,
      (length) =>
        Array.from({ length: 4 }, () => [lineOf(seed.repeat(length), 700), lineOf(seed.repeat(length / 2), 688)]),
      (pages) => flowText(stripRepeatedLines(pages, settings), new Set()),
      seed,
    );
  }
});

test('100,000 pieces on one baseline, at one place, and all over the page', () => {
  const piece = (x: number, y: number): PlacedText => ({
    text: 'w',
    x,
    y,
    width: 4,
    size: 10,
    isRightToLeft: false,
    font: 'f',
  });
  const shapes: ((at: number) => PlacedText)[] = [
    (at) => piece(at * 5, 700),
    () => piece(72, 700),
    (at) => piece((at * 7919) % 600, (at * 104_729) % 800),
    (at) => piece(at * 1e9, at),
  ];
  for (const shape of shapes) {
    assertGrowsInProportion(
      100_000,
      (length) => Array.from({ length }, (_, at) => shape(at)),
      (pieces) => assert.ok(pageLines(pieces).length > 0),
      String(shape),
    );
  }
});

test('metadata that programs write are none', () => {
  const programs = ['Microsoft Word - thesis_final.doc', 'PowerPoint Presentation', 'C:\\a\\b', '\u0001\u0002\u0003'];
  for (const title of [...programs, 'untitled', 'scan0001', 'paper.dvi', '1234-5', 42, null]) {
    assert.equal(saneTitle(title), null, String(title));
  }
  assert.equal(saneTitle(' A Book\nof Gates '), 'A Book of Gates');
  assert.deepEqual(['admin', 'Jo Weaver', 'a@b.example', undefined].map(saneAuthor), [null, 'Jo Weaver', null, null]);
  const dates = ["D:20200203040506-05'30'", 'D:2020', '19010101', 'D:99', 'yesterday', 3].map(pdfDate);
  assert.deepEqual(dates, ['2020-02-03T09:35:06.000Z', '2020-01-01T00:00:00.000Z', null, null, null, null]);
});
