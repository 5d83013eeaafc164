import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { batchTexts, cutToTokens, estimateTokens } from '../../src/providers/open-embedder.ts';

test('batches keep order, hold everything and stay within both limits', () => {
  const limits = fc.record({ maxTexts: fc.integer({ min: 1, max: 5 }), maxTokens: fc.integer({ min: 1, max: 20 }) });
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 })), limits, (texts, limit) => {
      const batches = batchTexts(texts, limit);
      assert.deepEqual(batches.flat(), texts);
      for (const batch of batches) {
        assert.ok(batch.length >= 1 && batch.length <= limit.maxTexts);
        const tokens = batch.reduce((sum, text) => sum + estimateTokens(text), 0);
        assert.ok(batch.length === 1 || tokens <= limit.maxTokens);
      }
      for (let i = 1; i < batches.length; i++) {
        const [before, [next]] = [batches[i - 1], batches[i]];
        const tokens = before.reduce((sum, text) => sum + estimateTokens(text), estimateTokens(next));
        assert.ok(before.length === limit.maxTexts || tokens > limit.maxTokens, 'no batch ends early');
      }
    }),
    { seed: 3 },
  );
});

test('a text is cut to its tokens at a whole character, and a short one is left as it is', () => {
  assert.equal(cutToTokens('short', 100), 'short');
  assert.equal(cutToTokens('abcdefgh', 2), 'abcdef');
  assert.equal(cutToTokens('漢字仮名', 3), '漢字仮');
  assert.equal(cutToTokens('abcdefgh', 2, 2), 'abcd');
  assert.equal(cutToTokens('ab😀cd', 1), 'ab');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 30 }), (text, maxTokens) => {
      const cut = cutToTokens(text, maxTokens);
      assert.ok(text.startsWith(cut) && cut.isWellFormed());
      assert.ok(estimateTokens(cut) <= maxTokens);
      assert.ok(cut === text || estimateTokens(text) > maxTokens);
    }),
    { seed: 4 },
  );
});
