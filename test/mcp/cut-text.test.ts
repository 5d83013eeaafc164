import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonLine } from '../../src/compute/text/neutral-text.ts';
import { cutText, endWithin } from '../../src/mcp/answer.ts';

const written = (text: string): number => Buffer.byteLength(jsonLine(text)) - 2;

test('a part takes no more bytes than it may, however its characters are written', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc
      .array(fc.constantFrom('<', '>', '"', '\\', '\n', '\u0000', '\u200b', '\u{e0041}', '東', 'é', 'a', ' '))
      .map((all) => all.join('')),
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 10, max: 400 }), (text, bytes) => {
      const end = endWithin(text, 0, bytes);
      assert.ok(written(text.slice(0, end)) <= bytes);
      assert.ok(end > 0 || text === '');
      assert.ok(text.slice(0, end).isWellFormed());
      assert.ok(written(cutText(text, bytes)) <= bytes);
    }),
  );
});

test('parts one after the other are the whole text', () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 60 }), fc.integer({ min: 10, max: 90 }), (text, bytes) => {
      const parts: string[] = [];
      for (let at = 0; at < text.length; ) {
        const end = endWithin(text, at, bytes);
        parts.push(text.slice(at, end));
        at = end;
      }
      assert.equal(parts.join(''), text);
    }),
  );
});

test('a text is cut between two words, and says that it is', () => {
  assert.equal(cutText('the quick brown fox', 14), 'the quick…');
  assert.equal(cutText('the quick brown fox', 22), 'the quick brown fox');
  assert.equal(cutText('Donaudampfschifffahrt', 14), 'Donaudampfs…');
  assert.equal(cutText('😀😀😀😀', 16), '😀😀…');
});
