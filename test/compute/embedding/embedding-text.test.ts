import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddingTexts } from '../../../src/compute/embedding/embedding-text.ts';

const body = 'First passage. Second passage.';
const chunks = [
  { section_title: null, char_start: 0, char_end: 14 },
  { section_title: 'Part two', char_start: 15, char_end: 30 },
];

test('a passage is embedded below its page’s title and its section', () => {
  assert.deepEqual(embeddingTexts(' A title ', body, chunks), [
    'A title\nFirst passage.',
    'A title\nPart two\nSecond passage.',
  ]);
});

test('headings that are missing, blank or the same twice are not repeated, long ones are cut', () => {
  assert.deepEqual(embeddingTexts(null, body, chunks), ['First passage.', 'Part two\nSecond passage.']);
  assert.deepEqual(embeddingTexts('  ', body, chunks), ['First passage.', 'Part two\nSecond passage.']);
  assert.deepEqual(embeddingTexts('Part two', body, chunks), ['Part two\nFirst passage.', 'Part two\nSecond passage.']);
  assert.deepEqual(embeddingTexts('x'.repeat(5000), body, chunks)[0], `${'x'.repeat(300)}\nFirst passage.`);
});
