import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { buildSegmentOfTerms } from '../../../src/engine/words/build-segment.ts';
import { corpusSegment } from '../../../src/engine/words/corpus.ts';
import { createDeletions } from '../../../src/engine/words/segment.ts';
import { nearestWord, wordsIn } from '../../../src/engine/words/spelling.ts';
import type { WordList } from '../../../src/engine/words/word-list.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const none = new Uint32Array(0);

const corpusOf = (...texts: string[]) => corpusWith(null, ...texts);

/** Each text a segment. */
function corpusWith(list: WordList | null, ...texts: string[]) {
  return texts.map((text, id) => {
    const body = analyzer.analyze(text).terms;
    const segment = buildSegmentOfTerms(analyzer.lexicon, [{ title: none, section: none, body }]);
    return corpusSegment(id, { ...segment, list }, createDeletions(1));
  });
}

const nearest = (texts: string[], word: string, spellings = [word]) =>
  nearestWord(corpusOf(...texts), word, spellings)?.word ?? null;

test('the nearest word is found: by edits of letters, then by length, then the commonest, of all segments', () => {
  const text = 'halibut mourinho tottenham herring thunderstorm king kong';
  for (const [wrong, found, texts = [text]] of [
    ['halibutt', 'halibut'],
    ['hlibut', 'halibut'],
    ['mourinyo', 'mourinho'],
    ['muorinho', 'mourinho'],
    ['thundrestrom', 'thunderstorm'],
    ['totenhan', null],
    ['kimh', null],
    ['hxlxbxt', null],
    ['salmom', 'salmon', ['herring', 'salmon herring', 'halibut']],
    ['salnon', 'salmon', ['saloon', 'salmon', 'salmon']],
    ['salnon', 'saloon', ['saloon', 'salmon', 'saloon']],
  ] as const) {
    assert.equal(nearest([...texts], wrong), found, wrong);
  }
});

test('a word is near in the nearest of its spellings: folded, or as the stem that a corpus has', () => {
  const near = (...spellings: string[]) => nearest(['leuchtturmwart'], spellings[0], spellings);
  assert.equal(near('leuchturmwarters'), null);
  assert.equal(near('leuchturmwarters', 'leuchturmwart'), 'leuchtturmwart');
});

test('letters of any script are compared; what is no word is left alone', () => {
  assert.equal(nearest(['москва'], 'масква'), 'москва');
  for (const other of ['12345', 'c++++', 'a', 'abc', 'x'.repeat(41), '日本語日', '']) {
    assert.equal(nearest(['москва 12346 abcd'], other), null, other);
  }
});

test('a corpus knows the words that a live passage has', () => {
  const corpus = corpusOf('halibut');
  const known = wordsIn(corpus);
  assert.equal(known.isKnown('halibut'), true);
  assert.equal(known.isKnown('halibutt'), false);
  assert.equal(known.nearest('halibutt', ['halibutt'])?.stem, 'halibut');
  assert.equal(wordsIn([]).nearest('halibutt', ['halibutt']), null);
});

test('an unfinished word becomes those of most passages, of all segments together, one for each stem', () => {
  const often = { stations: 7, 'station stampede': 6, steam: 5, 'stork stave': 4, 'stilt st45': 3 };
  // So many words of one passage that the common ones are far apart.
  const letters = (at: number) => String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26));
  const rare = Array.from({ length: 200 }, (_, at) => `stz${letters(at)}`).join(' ');
  const common = Object.entries(often).flatMap(([text, count]) => Array<string>(count).fill(text));
  const texts = [...common, rare, 'sturgeon'];
  const known = wordsIn(corpusOf(...texts));
  const completed = (beginning: string) => known.completions(beginning).map(({ word }) => word);
  assert.deepEqual(completed('st'), ['stations', 'stampede', 'steam', 'stave', 'stork']);
  assert.deepEqual(completed('stur'), ['sturgeon']);
  for (const none of ['s', 'xy', 'sturgeon', '12']) assert.deepEqual(completed(none), [], none);
});

test('a word of a list is no mistake, whatever it or its stem is near to', () => {
  const list = new Set(['policies', 'terrarium']);
  const near = (...spellings: string[]) =>
    nearestWord(corpusWith(list, 'police terrarius bekannte'), spellings[0], spellings)?.word ?? null;
  assert.equal(near('policis', 'polici'), 'police');
  assert.equal(near('policies', 'polici'), null);
  assert.equal(near('terrariums', 'terrarium'), null, 'its stem is listed');
  assert.equal(near('bekannt'), null, 'a stop word of German');
  assert.equal(near('bekamnte'), 'bekannte');
  assert.equal(near('bekan'), 'bekannte', 'what begins with it');
  assert.equal(near('terra'), 'terrarius');
  assert.equal(near('pol'), null, 'too short');
});
