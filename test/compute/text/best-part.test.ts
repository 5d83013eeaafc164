import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bestPart } from '../../../src/compute/text/best-part.ts';

const filler = 'Nothing of note was said on that day, and all went home. '.repeat(20);
const shown = (text: string, query: string, length = 120) => text.slice(bestPart(text, query, length)).slice(0, length);

test('the part holds the words of the query, and begins with their sentence', () => {
  const text = `${filler}The governor closes the valve as the engine runs faster. ${filler}`;
  assert.match(shown(text, 'what governs engines, a valve?'), /^The governor closes the valve as the engine/);
});

test('many words near each other count more than one that comes first', () => {
  const text = `The engine stood still. ${filler}A governor keeps the engine from running away. ${filler}`;
  assert.match(shown(text, 'governor of an engine running'), /^A governor keeps/);
});

test('in a sentence without an end the words are in the middle', () => {
  const words = 'lorem ipsum dolor '.repeat(40);
  const part = shown(`${words}governor ${words}`, 'Governor');
  assert.ok(part.indexOf('governor') > 30 && part.indexOf('governor') < 90, part);
  assert.match(part, /^(lorem|ipsum|dolor)/);
});

test('accents and case do not matter, and in scripts without spaces pairs of characters count', () => {
  assert.match(shown(`${filler}Le CAFÉ est fermé. ${filler}`, 'cafe'), /^Le CAFÉ/);
  const chinese = '今天天气很好，我们去公园散步。'.repeat(20);
  assert.match(shown(`${chinese}蒸汽机的调速器关闭阀门。${chinese}`, '调速器', 60), /调速器/);
});

test('a short text, one without the words, and an empty query begin at the beginning', () => {
  assert.equal(bestPart('a governor', 'governor', 120), 0);
  for (const query of ['xylophone', '', '!?']) assert.equal(bestPart(filler, query, 120), 0);
});

test('it is within the text, and the best word is within the part', () => {
  const words = fc.constantFrom('a', 'oak', 'elm', 'ash.', '東京', '\n', '😀', '"');
  fc.assert(
    fc.property(fc.array(words, { maxLength: 200 }), fc.integer({ min: 20, max: 100 }), (all, length) => {
      const text = all.join(' ');
      const start = bestPart(text, 'elm', length);
      assert.ok(start >= 0 && (start < text.length || text === ''));
      assert.equal(text.slice(start, start + length).includes('elm'), text.includes('elm'));
    }),
  );
});
