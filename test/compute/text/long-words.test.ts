/** A word of megabytes, as a hostile page has one: indexed in proportion to its length, on no deeper a stack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { loadDetectors } from '../../../src/compute/text/page-languages.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { endOfWord, wordBytes } from '../../../src/compute/text/word-bytes.ts';
import { preparePages } from '../../../src/engine/prepare-page.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

test('a word of nine million letters is one word', () => {
  for (const [letter, length] of [
    ['x', 1_000_000],
    ['é', 1_000_000],
    ['д', 9_000_000],
  ] as const) {
    const text = `${letter.repeat(length)} b`;
    assert.equal(wordBytes(text).length, 2, letter);
    assert.equal(endOfWord(text, 1000), length, letter);
  }
  const long = 'д'.repeat(2500);
  assert.deepEqual(wordBytes(`${long} ${long}`), [...wordBytes(long), ...wordBytes(long)]);
  assert.notDeepEqual(wordBytes(long), wordBytes(`${long}д`));
  assert.equal(wordBytes(`д日本д${long}`).length, 4);
  const ends = [endOfWord('ab cd', 1), endOfWord('ab cd', 2), endOfWord('ab cd', 3), endOfWord('ab', 0)];
  assert.deepEqual(ends, [2, 2, 3, 0]);
});

await loadDetectors();
test('a page that is one word takes time in proportion to its length', () => {
  const tools = {
    chunking: { target_tokens: 300, overlap_tokens: 40, hard_max_tokens: 480 },
    analyzer: createTextAnalyzer(createWinkTokenizer),
  };
  for (const letter of ['x', 'д'])
    assertGrowsInProportion(
      1_000_000,
      (length) => letter.repeat(length),
      (text) => preparePages(tools, [{ title: null, text, sections: [] }]),
      letter,
    );
});
