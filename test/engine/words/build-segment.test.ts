import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import createModeller from 'wink-bm25-text-search';
import { termOf } from '../../../src/compute/structures/term-table.ts';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { Lexicon } from '../../../src/compute/text/lexicon.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { B, FACT_WEIGHT, FIELD_WEIGHTS, K1, LENGTH_WITHOUT_BODY, UNITS } from '../../../src/engine/words/bm25f.ts';
import { buildSegmentOfTerms } from '../../../src/engine/words/build-segment.ts';
import { corpusSegment, planQuery } from '../../../src/engine/words/corpus.ts';
import { WORD_MARK, wordTerm } from '../../../src/engine/words/marked-terms.ts';
import { createScratch, searchSegments } from '../../../src/engine/words/search-segments.ts';
import { createDeletions } from '../../../src/engine/words/segment.ts';
import { buildSegment, eachAWord, type SparseDocument } from './small-corpus.ts';

const someWords = (maxLength: number) =>
  fc.array(fc.constantFrom('ant', 'bee', 'cat', 'dog', 'eel', 'constructor', '__proto__', '12'), { maxLength });
const someDocument = fc.record({ title: someWords(3), section: someWords(2), body: someWords(15) });
const someText = someDocument.filter(({ body }) => body.length > 0);

/** The scores of wink's own search over the same documents, by document. */
function winkScores(documents: readonly SparseDocument[], query: readonly string[]): Map<number, number> {
  const wink = createModeller();
  wink.defineConfig({ fldWeights: FIELD_WEIGHTS, bm25Params: { k1: K1, b: B, k: 1 } });
  wink.definePrepTasks([(input) => (typeof input === 'string' ? input.split(' ') : input)]);
  const named = (words: readonly string[]) => words.map((word) => `=${word}`);
  documents.forEach(({ title, section, body }, id) => {
    wink.addDoc({ title: named(title), section: named(section), body: named(body) }, id);
  });
  wink.consolidate(9);
  return new Map(wink.search(named(query).join(' '), documents.length).map(([id, score]) => [Number(id), score]));
}

test('on one segment the scores are those of wink-bm25-text-search', () => {
  const scratch = createScratch();
  fc.assert(
    fc.property(
      fc.array(someText, { minLength: 3, maxLength: 30 }),
      fc.uniqueArray(fc.constantFrom('ant', 'bee', 'cat', 'dog', 'constructor', '__proto__', '12', 'zebra'), {
        minLength: 1,
      }),
      (documents, query) => {
        const segment = buildSegment(documents);
        const corpus = [corpusSegment(1, segment, createDeletions(segment.docs))];
        const hits = searchSegments(corpus, planQuery(corpus, eachAWord(query)), documents.length, scratch);
        const expected = winkScores(documents, query);
        assert.equal(hits.labels.length, expected.size);
        hits.labels.forEach((label, i) => {
          // wink rounds each term's part to 9 places.
          assert.ok(Math.abs((expected.get(label) ?? 0) - hits.scores[i]) < 1e-8 * query.length);
        });
      },
    ),
  );
});

test('frequencies and lengths are weighted by field and counted in quarters', () => {
  const segment = buildSegment([{ title: ['ant', 'bee'], section: ['ant'], body: ['ant', '', 'cat'] }]);
  const terms = Array.from({ length: segment.starts.length - 1 }, (_, term) => termOf(segment.terms, term));
  assert.deepEqual(terms, ['ant', 'bee', 'cat']);
  assert.deepEqual([...segment.postings], [2 * 4 + 1.5 * 4 + 4, 2 * 4, 4]);
  assert.deepEqual([...segment.lengths], [2 * 8 + 6 + 2 * 4]);
});

test('facts are found and are no part of the length; a document without a text is of a usual length', () => {
  const segment = buildSegment([
    { title: ['ant'], section: [], body: ['bee'], facts: ['bee', 'cat'] },
    { title: ['ant'], section: [], body: [''], facts: ['cat'] },
  ]);
  const frequencies = Object.fromEntries(
    Array.from({ length: 3 }, (_, term) => {
      const postings = segment.postings.subarray(segment.starts[term], segment.starts[term + 1]);
      return [termOf(segment.terms, term), [...postings].map((posting) => posting & 0xffff)];
    }),
  );
  const [title, fact] = [FIELD_WEIGHTS.title * UNITS, FACT_WEIGHT * UNITS];
  assert.deepEqual(frequencies, { ant: [title, title], bee: [UNITS + fact], cat: [fact, fact] });
  assert.deepEqual([...segment.lengths], [title + UNITS, LENGTH_WITHOUT_BODY * UNITS]);
});

/** Words in the plural, as they are written. */
const withNames = (document: SparseDocument): SparseDocument => {
  const words = new Set([...document.title, ...document.body]);
  return { ...document, facts: Array.from(words, (word) => wordTerm(`${word}s`, word)) };
};

test('documents of terms give the segment that the same documents of strings give', () => {
  fc.assert(
    fc.property(fc.array(someDocument, { maxLength: 10 }), (documents) => {
      const lexicon = new Lexicon();
      lexicon.term('before', 'before');
      const numbered = (words: string[]) => Uint32Array.from(['', ...words], (word) => lexicon.term(`${word}s`, word));
      const terms = documents.map(({ title, section, body }) => ({
        title: numbered(title),
        section: numbered(section),
        body: numbered(body),
      }));
      const ofStrings = buildSegment(documents.map(withNames)).buffer;
      assert.deepEqual(new Uint8Array(buildSegmentOfTerms(lexicon, terms).buffer), new Uint8Array(ofStrings));
    }),
  );
});

const analyzer = createTextAnalyzer(createWinkTokenizer);
const noTerms = new Uint32Array(0);

/** The same passages with single ideographs as the analyzer's terms are modelled, and with pairs only. */
function bothWays(passages: readonly { title: string; body: string }[]) {
  const analyzed = passages.map(({ title, body }) => [analyzer.analyze(title), analyzer.analyze(body)]);
  const segments = [
    buildSegmentOfTerms(
      analyzer.lexicon,
      analyzed.map(([title, body]) => ({ title: title.terms, section: noTerms, body: body.terms })),
    ),
    buildSegment(analyzed.map(([title, body]) => ({ title: title.stems, section: [], body: body.stems }))),
  ];
  return segments.map((segment) => [corpusSegment(1, segment, createDeletions(segment.docs))]);
}

test('ideographs are terms beside their pairs, and no part of the length', () => {
  const [[{ segment }], [{ segment: pairs }]] = bothWays([{ title: '猫', body: '東京で猫、犬 cafe 한국어' }]);
  const all = Array.from(segment.postings, (posting, term) => [termOf(segment.terms, term), posting & 0xffff] as const);
  const frequencies = all.filter(([term]) => term.charCodeAt(0) !== WORD_MARK);
  const pairsAndSingles = ['東京', '東', '京で', '京', 'で猫', '犬', 'cafe', '한국', '국어'].map((term) => [term, 4]);
  assert.deepEqual(Object.fromEntries(frequencies), { 猫: 4 * (2 + 1), ...Object.fromEntries(pairsAndSingles) });
  assert.deepEqual([...segment.lengths], [4 * (2 + 7)]);
  assert.deepEqual(segment.lengths, pairs.lengths);
});

test('a query of two characters or more ranks as over pairs alone; one ideograph finds every passage that has it', () => {
  const scratch = createScratch();
  const someText = fc
    .array(fc.constantFrom('猫', '犬', '本', 'が', 'の', 'ネ', '물', 'ก', '。', ' ', ' tea '), { maxLength: 20 })
    .map((parts) => parts.join(''));
  const somePassages = fc.array(fc.record({ title: someText, body: someText }), { minLength: 1, maxLength: 12 });
  const someQuery = fc
    .array(fc.constantFrom('猫', '犬', '本', 'が', 'の', 'ネ'), { minLength: 2, maxLength: 3 })
    .map((characters) => characters.join(''));
  fc.assert(
    fc.property(somePassages, someQuery, (passages, query) => {
      const [both, pairs] = bothWays(passages);
      const { stems } = analyzer.terms(query);
      const search = (corpus: typeof both, terms: readonly string[]) =>
        searchSegments(corpus, planQuery(corpus, eachAWord(terms)), passages.length, scratch);
      const asked = stems.filter((stem) => stem !== '');
      assert.deepEqual(search(both, asked), search(pairs, asked));
      for (const single of ['猫', '犬', '本']) {
        const holders = passages.flatMap(({ title, body }, at) => (`${title}${body}`.includes(single) ? [at] : []));
        const found = [...search(both, analyzer.terms(single).stems).labels];
        assert.equal(found.sort((a, b) => a - b).join(), holders.join());
      }
    }),
    { numRuns: 200 },
  );
});

test('a batch may be empty, of fewer than three documents, or of empty documents', () => {
  const empty = { title: [], section: [], body: [] };
  for (const documents of [[], [empty], [empty, { ...empty, body: ['ant', ''] }], [{ ...empty, title: [''] }]]) {
    const segment = buildSegment(documents);
    assert.equal(segment.docs, documents.length);
    assert.equal(segment.postings.length, documents.filter(({ body }) => body.includes('ant')).length);
  }
});

test('strings that UTF-8 cannot tell apart are one term', () => {
  const segment = buildSegment([{ title: [], section: [], body: ['\ud800', '\udc00', '\ufffd', '\ufeffa', 'a'] }]);
  assert.deepEqual([...segment.postings], [12, 4, 4]);
});

test('a word repeated without end saturates', () => {
  const segment = buildSegment([{ title: [], section: [], body: Array.from({ length: 20_000 }, () => 'ant') }]);
  assert.deepEqual([...segment.postings, ...segment.lengths], [0xffff, 80_000]);
});
