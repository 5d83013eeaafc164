import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { buildSegmentOfTerms } from '../../../src/engine/words/build-segment.ts';
import { corpusSegment } from '../../../src/engine/words/corpus.ts';
import { createDeletions } from '../../../src/engine/words/deletions.ts';
import { nearestWords, wordsIn } from '../../../src/engine/words/spelling.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const none = new Uint32Array(0);

function corpusOf(...texts: string[]) {
  return texts.map((text, id) => {
    const body = analyzer.analyze(text).terms;
    const vocabulary = { fingerprint: 1, rowOf: () => -1 };
    const segment = buildSegmentOfTerms(analyzer.lexicon, [{ title: none, section: none, body }], vocabulary);
    return corpusSegment(id, segment, createDeletions(1));
  });
}

const nearest = (texts: string[], word: string, options = {}) =>
  nearestWords(corpusOf(...texts), null, word, { most: 3, ...options }).map(({ word: found, edits }) => [found, edits]);

test('letters left out, doubled, replaced, added and swapped are edits, of which longer words may have two', () => {
  const text = 'halibut mourinho tottenham herring';
  for (const [wrong, found] of [
    ['halibutt', ['halibut', 1]],
    ['hlibut', ['halibut', 1]],
    ['mourinyo', ['mourinho', 1]],
    ['muorinho', ['mourinho', 1]],
    ['totenhan', ['tottenham', 2]],
  ] as const) {
    assert.deepEqual(nearest([text], wrong), [found], wrong);
  }
  assert.deepEqual(nearest(['king kong'], 'kimh'), [], 'two edits of a short word');
  assert.deepEqual(nearest([text], 'hxlxbxt'), [], 'three edits');
});

test('a word that is the beginning of others may be unfinished', () => {
  assert.deepEqual(nearest(['pochettino pocket'], 'pochett'), [
    ['pochettino', 1],
    ['pocket', 2],
  ]);
  assert.deepEqual(nearest(['pochettino pocket'], 'pochett', { unfinished: true })[0], ['pochettino', 0]);
});

test('words of all segments are compared, the nearest is first, and each is there once', () => {
  assert.deepEqual(nearest(['salmon', 'salmon herring', 'halibut'], 'salmom', { most: 2 }), [['salmon', 1]]);
});

test('letters of any script are compared; what is no word is left alone', () => {
  assert.deepEqual(nearest(['москва'], 'масква'), [['москва', 1]]);
  for (const other of ['12345', 'c++++', 'a', 'abc', 'x'.repeat(41), '日本語日', '']) {
    assert.deepEqual(nearest(['москва 12346 abcd'], other), [], other);
  }
});

test('a corpus knows the words that a live passage has', () => {
  const corpus = corpusOf('halibut');
  const known = wordsIn(corpus, null);
  assert.equal(known.isKnown('halibut'), true);
  assert.equal(known.isKnown('halibutt'), false);
  assert.deepEqual(
    known.nearest('halibutt').map(({ stem }) => stem),
    ['halibut'],
  );
  assert.deepEqual(wordsIn([], null).nearest('halibutt'), []);
});
