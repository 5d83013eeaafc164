import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../src/compute/text/wink-tokenizer.ts';
import { evidenceOf, FOREIGN_RELEVANCE, judgeRelevance, RELEVANCE, relevance } from '../../src/engine/relevance.ts';
import { buildSegmentOfTerms } from '../../src/engine/words/build-segment.ts';
import { corpusSegment, eachAWord } from '../../src/engine/words/corpus.ts';
import { createDeletions } from '../../src/engine/words/deletions.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const none = new Uint32Array(0);
const texts = ['heron fish river', 'heron roof', 'bread oven', 'bread river boat', 'oven'];
const documents = texts.map((text) => ({ title: none, section: none, body: analyzer.analyze(text).terms }));
const segment = buildSegmentOfTerms(analyzer.lexicon, documents);
const corpus = [corpusSegment(0, segment, createDeletions(segment.docs))];
const labels = Uint32Array.of(0, 1, 2);
const found = { labels, cosine: Float32Array.of(0.6, 0.3, 0.1), floor: 0.2 };

test('a passage has a share of the weight of the words, of what they could give, and a cosine above what is unrelated', () => {
  const [all, some, nothing] = evidenceOf(corpus, eachAWord(['heron', 'fish']), found);
  assert.equal(all.covered, 1);
  assert.ok(some.covered > 0 && some.covered < 0.5, 'the rarer word weighs more');
  assert.equal(nothing.covered, 0);
  assert.equal(nothing.strength, 0);
  assert.ok(all.strength > some.strength && all.strength < 1);
  assert.ok(Math.abs(all.nearness - 0.5) < 1e-6 && nothing.nearness < 0);
  assert.equal(all.words, 2);
});

test('a word that nobody has weighs as the rarest, stems of one word count once, and without a vector nothing is near', () => {
  const [known] = evidenceOf(corpus, eachAWord(['heron', 'nobody']), found);
  assert.ok(known.covered < 0.5);
  const twice = [
    { stem: 'heron', of: 0 },
    { stem: 'fish', of: 0 },
  ];
  const [both] = evidenceOf(corpus, twice, { ...found, cosine: null });
  assert.deepEqual([both.covered, both.nearness, both.words], [1, 0, 1]);
});

test('the more of the query a passage has, the more probable it is; every value is a probability', () => {
  const query = eachAWord(['heron', 'fish']);
  for (const isForeign of [false, true]) {
    const [all, some, nothing] = judgeRelevance(corpus, query, { ...found, isForeign });
    assert.ok(1 > all && all > some && some > nothing && nothing > 0, String([all, some, nothing]));
  }
  const full = { covered: 1, strength: 0.8, nearness: 0.5, words: 3 };
  const filler = { covered: 0, strength: 0, nearness: 0.02, words: 4 };
  for (const weights of [RELEVANCE, FOREIGN_RELEVANCE]) {
    assert.ok(relevance(full, weights) > 0.9);
    assert.ok(relevance(filler, weights) < 0.05);
  }
});

test('a passage without a vector, or far below a high floor, is judged by its words', () => {
  const query = eachAWord(['heron', 'fish']);
  const judged = (cosine: number[]) => [
    ...judgeRelevance(corpus, query, { labels, cosine: Float32Array.from(cosine), floor: 0.75 }),
  ];
  const [without, below] = [judged([Number.NaN, 0.8, 0.8]), judged([0.4, 0.8, 0.8])];
  assert.ok(without[0] > 0.3 && below[0] > 0.1, `${without} ${below}`);
  const one = judgeRelevance(corpus, query, { labels, cosine: Float32Array.of(1, 1, 1), floor: 1 });
  assert.ok(
    one.every((each) => each > 0 && each < 1),
    String(one),
  );
});

test('a long query is judged as one of the longest that were fitted on', () => {
  const evidence = { covered: 0.1, strength: 0.03, nearness: 0.1 };
  for (const weights of [RELEVANCE, FOREIGN_RELEVANCE]) {
    assert.equal(relevance({ ...evidence, words: 300 }, weights), relevance({ ...evidence, words: 20 }, weights));
  }
});

test('an empty index and no passages have none', () => {
  assert.deepEqual([...judgeRelevance([], eachAWord(['heron']), { ...found, labels: new Uint32Array(0) })], []);
  assert.equal(evidenceOf([], eachAWord(['heron']), found)[0].covered, 0);
});

test('what is of no word of the query adds to the score, and is not asked for', () => {
  const [word] = eachAWord(['heron']);
  const [alone] = evidenceOf(corpus, [word], found);
  const [beside] = evidenceOf(corpus, [word, { stem: 'river', of: -1, share: 0.2 }], found);
  assert.deepEqual([beside.covered, beside.words], [alone.covered, alone.words]);
  assert.ok(beside.strength > alone.strength);
});
