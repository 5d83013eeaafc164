import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import { buildTermTable, lookupTerm } from '../../../src/compute/structures/term-table.ts';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { buildSegmentOfTerms } from '../../../src/engine/words/build-segment.ts';
import { corpusSegment } from '../../../src/engine/words/corpus.ts';
import { createDeletions } from '../../../src/engine/words/deletions.ts';
import { nearestWords, wordsIn } from '../../../src/engine/words/spelling.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const none = new Uint32Array(0);

const corpusOf = (...texts: string[]) => corpusWith(() => -1, ...texts);

/** Each text a segment, whose forward index has the rows of the word vectors. */
function corpusWith(rowOf: (word: string) => number, ...texts: string[]) {
  return texts.map((text, id) => {
    const body = analyzer.analyze(text).terms;
    const vocabulary = { fingerprint: 1, rowOf };
    const segment = buildSegmentOfTerms(analyzer.lexicon, [{ title: none, section: none, body }], vocabulary);
    return corpusSegment(id, segment, createDeletions(1));
  });
}

const nearest = (texts: string[], word: string, most = 3) =>
  nearestWords(corpusOf(...texts), null, [word], most).map(({ word: found, edits }) => [found, edits]);

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
});

test('a word is near in the nearest of its spellings: folded, or as the stem that a corpus has', () => {
  const corpus = corpusOf('leuchtturmwart');
  const near = (...spellings: string[]) =>
    nearestWords(corpus, null, spellings, 3).map(({ word, edits }) => [word, edits]);
  assert.deepEqual(near('leuchturmwarter'), []);
  assert.deepEqual(near('leuchturmwarter', 'leuchturmwart'), [['leuchtturmwart', 1]]);
  assert.deepEqual(near('leuchtturmwrt', 'leuchturmwarte'), [['leuchtturmwart', 1]], 'once, by the nearest');
});

test('words of all segments are compared, the nearest is first, and each is there once', () => {
  assert.deepEqual(nearest(['salmon', 'salmon herring', 'halibut'], 'salmom', 2), [['salmon', 1]]);
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
    known.nearest(['halibutt']).map(({ stem }) => stem),
    ['halibut'],
  );
  assert.deepEqual(wordsIn([], null).nearest(['halibutt']), []);
});

test('an unfinished word becomes those of most passages, of all segments together, one for each stem', () => {
  const texts = [
    ...Array.from({ length: 7 }, () => 'stations'),
    ...Array.from({ length: 6 }, () => 'station stampede'),
    ...Array.from({ length: 5 }, () => 'steam'),
    ...Array.from({ length: 4 }, () => 'stork stave'),
    ...Array.from({ length: 3 }, () => 'stilt st45'),
    // So many words of one passage that the common ones are far apart.
    Array.from({ length: 200 }, (_, at) => `stz${String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))}`).join(
      ' ',
    ),
    'sturgeon',
  ];
  const vocabulary = buildTermTable(['stave', 'stations', 'other', 'steam', 'stampede']);
  const vectors = { vocabulary } as WordVectors;
  const rowOf = (word: string) => lookupTerm(vocabulary, word);
  const rowed = texts.map((text, at) => corpusWith(at % 2 === 0 ? rowOf : () => -1, text)[0]);
  for (const [known, expected] of [
    [wordsIn(corpusOf(...texts), null), ['station', 'stamped', 'steam', 'stave', 'stork']],
    [wordsIn(rowed, vectors), ['station', 'steam', 'stave', 'stork', 'stamped']],
  ] as const) {
    assert.deepEqual(
      known.completions('st').map(({ word }) => word),
      expected,
    );
    assert.deepEqual(
      known.completions('stur').map(({ word }) => word),
      ['sturgeon'],
    );
    for (const none of ['s', 'xy', 'sturgeon', '12']) assert.deepEqual(known.completions(none), [], none);
  }
});

test('a common word of English is no mistake, whatever its stem is near to', () => {
  const vectors = { vocabulary: buildTermTable(['policies']) } as WordVectors;
  const near = (...spellings: string[]) =>
    nearestWords(corpusOf('police'), vectors, spellings, 3).map(({ word }) => word);
  assert.deepEqual(near('policis', 'polici'), ['polic']);
  assert.deepEqual(near('policies', 'polici'), []);
});
