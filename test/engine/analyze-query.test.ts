import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../../src/compute/text/rule-tokenizer.ts';
import { createQueryAnalyzer } from '../../src/engine/analyze-query.ts';
import { noWords } from '../../src/engine/words/spelling.ts';
import { fixtureVectors } from '../compute/embedding/word-vectors-fixture.ts';

const analyze = createQueryAnalyzer(createTextAnalyzer(createRuleTokenizer), fixtureVectors());
const dim = 64;

test('a query of single ideographs has no vector of hashed stems; one of pairs, or with other words, has', () => {
  for (const query of ['猫', '猫 犬', '麺。']) {
    const { forms, vector, wordPart, knownWords } = analyze({ query, dim, prefix: false }, noWords);
    assert.ok(forms.length > 0, query);
    assert.deepEqual([vector, wordPart, knownWords], [null, null, 0], query);
  }
  for (const query of ['猫が', '東京', '猫 qwxz', 'の', '물'])
    assert.ok(analyze({ query, dim, prefix: false }, noWords).vector !== null, query);
});
