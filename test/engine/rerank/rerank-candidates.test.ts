import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lookupTerm, termOf } from '../../../src/compute/structures/term-table.ts';
import { Lexicon } from '../../../src/compute/text/lexicon.ts';
import { candidateRerankers } from '../../../src/engine/rerank/rerank-candidates.ts';
import { buildSegmentOfTerms, type SparseTermDocument } from '../../../src/engine/words/build-segment.ts';
import { type CorpusSegment, corpusSegment, eachAWord } from '../../../src/engine/words/corpus.ts';
import { createDeletions, markDeleted } from '../../../src/engine/words/deletions.ts';
import { mergeSegments } from '../../../src/engine/words/merge-segments.ts';
import { labelSegment, titleLengthOf } from '../../../src/engine/words/segment.ts';
import { fixtureVectors } from '../../compute/embedding/word-vectors-fixture.ts';

const vectors = fixtureVectors();
const vocabulary = {
  fingerprint: vectors.fingerprint,
  rowOf: (word: string) => lookupTerm(vectors.vocabulary, word),
};
const { score: rerank } = candidateRerankers(vectors)();
/** Eight words of the vectors and two that are not there; every word is its own stem. */
const WORDS = [...Array.from({ length: 8 }, (_, id) => termOf(vectors.vocabulary, id)), 'qwxz', 'zzyx'];
const lexicon = new Lexicon();

const someTerms = (minLength: number, maxLength: number) =>
  fc
    .array(fc.constantFrom(...WORDS), { minLength, maxLength })
    .map((words) => Uint32Array.from(words, (word) => lexicon.term(word, word)));
const someDocument: fc.Arbitrary<SparseTermDocument> = fc.record({
  title: someTerms(0, 3),
  section: fc.constant(new Uint32Array(0)),
  body: someTerms(1, 10),
  facts: someTerms(0, 3),
});
const formsOf = (...words: string[]) => eachAWord(words).map((word) => ({ ...word, row: vocabulary.rowOf(word.stem) }));

function segmentOf(id: number, documents: ReadonlyMap<number, SparseTermDocument>, of = vocabulary): CorpusSegment {
  const segment = buildSegmentOfTerms(lexicon, [...documents.values()], of);
  labelSegment(segment, Uint32Array.from(documents.keys()));
  return corpusSegment(id, segment, createDeletions(segment.docs));
}

function deleteFrom({ segment, deletions }: CorpusSegment, label: number): void {
  const ordinal = segment.labels.indexOf(label);
  markDeleted(deletions, ordinal, segment.lengths[ordinal], titleLengthOf(segment, ordinal));
}

test('the scores do not depend on how the chunks are spread over segments, nor on deleted ones', () => {
  const somePart = fc.record({ document: someDocument, batch: fc.nat(2), deleted: fc.boolean() });
  const someWords = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(somePart, { minLength: 1, maxLength: 20 }), someWords, (parts, words) => {
      const all = parts.map((part, label) => ({ ...part, label }));
      const live = all.filter(({ deleted }) => !deleted);
      fc.pre(live.length > 0);
      const byLabel = (some: typeof all) => new Map(some.map(({ label, document }) => [label, document]));
      const spread = [0, 1, 2].map((batch) => {
        const member = segmentOf(batch, byLabel(all.filter((part) => part.batch === batch)));
        for (const { label, batch: own, deleted } of all) if (own === batch && deleted) deleteFrom(member, label);
        return member;
      });
      const merged = mergeSegments(spread.slice(0, 2));
      const half = [corpusSegment(4, merged, createDeletions(merged.docs)), spread[2]];
      const labels = Uint32Array.from(live, ({ label }) => label);
      const cosine = Float32Array.from(labels, (label) => 1 / (label + 2));
      const scores = [[segmentOf(3, byLabel(live))], spread, half].map((corpus) =>
        rerank(corpus, formsOf(...words), { labels, cosine, wordCosine: null, outsideModel: false }),
      );
      assert.ok(scores.every((each) => each !== null && each.length === labels.length));
      for (const each of scores) {
        each?.forEach((score, i) => {
          assert.ok(Math.abs(score - (scores[0]?.[i] ?? Number.NaN)) < 1e-9);
        });
      }
    }),
  );
});

test('a query of single ideographs is ordered by BM25F, with the cosine of an outside model', () => {
  const pair = (word: string, stem: string) => lexicon.term(word, stem);
  const document = (...body: number[]) => ({
    title: Uint32Array.of(),
    section: Uint32Array.of(),
    body: Uint32Array.from(body),
  });
  const corpus = [
    segmentOf(
      1,
      new Map([
        [1, document(pair('猫', '猫が'), pair('が', 'が好'), pair('好', ''))],
        [2, document(pair('猫', '猫と'), pair('と', 'と猫'), pair('猫', '猫が'), pair('が', ''))],
        [3, document(pair('犬', '犬が'), pair('が', ''))],
      ]),
    ),
  ];
  const cosine = Float32Array.of(0.5, 0, 0.25);
  const score = (outsideModel: boolean) =>
    rerank(corpus, formsOf('猫'), { labels: Uint32Array.of(1, 2, 3), cosine, wordCosine: null, outsideModel }) ?? [];
  const [one, two, none] = score(false);
  assert.ok(one > 0.5 && one < two);
  assert.deepEqual([two, none], [1, 0]);
  const peak = (one + 1) / 2;
  assert.deepEqual([...score(true)], [1, 0.5 / peak, 0.25 / peak]);
});

test('nothing is scored when a candidate is in no segment, or one has no forward entry', () => {
  const document = { title: Uint32Array.of(), section: Uint32Array.of(), body: Uint32Array.of(lexicon.term('x', 'x')) };
  const whole = segmentOf(1, new Map([[7, document]]));
  const other = segmentOf(2, new Map([[9, document]]), { ...vocabulary, fingerprint: vectors.fingerprint + 1 });
  const of = (labels: number[], corpus: CorpusSegment[]) =>
    rerank(corpus, formsOf('x'), {
      labels: Uint32Array.from(labels),
      cosine: null,
      wordCosine: null,
      outsideModel: false,
    });
  assert.deepEqual(of([7], [whole, other]), Float64Array.of(1));
  assert.equal(of([7, 8], [whole, other]), null);
  assert.equal(of([7, 9], [whole, other]), null);
  assert.equal(of([], []), null);
});

test('a candidate that was deleted a moment ago is still scored', () => {
  const document = (...words: string[]) => ({
    title: Uint32Array.of(),
    section: Uint32Array.of(),
    body: Uint32Array.from(words, (word) => lexicon.term(word, word)),
  });
  const member = segmentOf(
    1,
    new Map([
      [1, document('x', 'y')],
      [2, document('x', 'x')],
    ]),
  );
  deleteFrom(member, 1);
  const scores = rerank([member], formsOf('x'), {
    labels: Uint32Array.of(1, 2),
    cosine: null,
    wordCosine: null,
    outsideModel: false,
  });
  assert.equal(scores?.[1], 1);
  assert.ok(scores?.every((score) => score >= 0 && score <= 1));
});

/** More slices than learning may take: a step for each word of each segment, one for the end of each, one for each stem, and the last. */
function slicesToLearn(corpus: readonly CorpusSegment[]): number {
  const words = corpus.map(({ segment }) => segment.forward?.wordStems.length ?? 0);
  return words.reduce((sum, count) => sum + count + 1, 0) + WORDS.length + 1;
}

test('learning gets on in slices that are over at once, also where segments come and go, and then has nothing left', () => {
  let next = 0;
  const segment = (id: number) => {
    const document = () => ({
      title: Uint32Array.of(),
      section: Uint32Array.of(),
      body: Uint32Array.from(WORDS, (word) => lexicon.term(word, word)),
    });
    return segmentOf(id, new Map([0, 1, 2].map(() => [next++, document()])));
  };
  const { learn } = candidateRerankers(vectors)();
  const slicesOf = (corpus: readonly CorpusSegment[]) => {
    let slices = 1;
    for (; learn(corpus, () => true); slices++) assert.ok(slices < slicesToLearn(corpus), 'learning does not end');
    return slices;
  };
  const first = Array.from({ length: 40 }, (_, id) => segment(id));
  assert.ok(slicesOf(first) > 40 * WORDS.length, 'a step is a word');
  assert.equal(slicesOf(first), 1);
  const merged = [...first.slice(20), segment(40)];
  assert.ok(
    slicesOf(merged) <= slicesToLearn([merged[20]]),
    'words of segments that were learnt are not looked at again',
  );
  assert.equal(slicesOf(merged), 1);
});

test('what was learnt ahead, in slices of any length, changes no bit of the scores, also after a deletion', () => {
  const someCorpus = fc.array(fc.array(someDocument, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(someCorpus, fc.nat(9), (parts, wordsASlice) => {
      let next = 0;
      const corpus = parts.map((part, id) => segmentOf(id, new Map(part.map((document) => [next++, document]))));
      const labels = Uint32Array.from({ length: next }, (_, label) => label);
      const learnt = candidateRerankers(vectors)();
      const candidates = { labels, cosine: null, wordCosine: null, outsideModel: false };
      const learnAll = () => {
        const slice = () => {
          let asked = 0;
          return learnt.learn(corpus, () => ++asked > wordsASlice);
        };
        const bound = slicesToLearn(corpus);
        for (let slices = 1; slice(); slices++) assert.ok(slices < bound, 'learning does not end');
        assert.equal(
          learnt.learn(corpus, () => true),
          false,
        );
      };
      const scores = ({ score }: typeof learnt) => score(corpus, formsOf(...WORDS.slice(3)), candidates);
      learnAll();
      assert.deepEqual(scores(learnt), scores(candidateRerankers(vectors)()));
      deleteFrom(corpus[0], 0);
      if (next === 1) return;
      learnAll();
      assert.deepEqual(scores(learnt), scores(candidateRerankers(vectors)()));
    }),
    { numRuns: 20 },
  );
});

test('a chunk that only the facts of its page speak for stands above those that have nothing of the query', () => {
  const terms = (...words: string[]) => Uint32Array.from(words, (word) => lexicon.term(word, word));
  const none = terms();
  const [asked, ...others] = WORDS;
  const text = (...words: string[]) => ({ title: none, section: none, body: terms(...words) });
  const documents = new Map<number, SparseTermDocument>([
    [1, { ...text(...others.slice(0, 3)), facts: terms(asked) }],
    [2, text(...others.slice(3, 5))],
    [3, { title: terms(others[5]), section: none, body: none, facts: terms(asked) }],
    [4, text(...others.slice(6))],
  ]);
  const labels = Uint32Array.of(1, 2, 3, 4);
  const cosine = Float32Array.of(0.1, 0.1, 0.1, 0.1);
  const scores = candidateRerankers(vectors)().score([segmentOf(0, documents)], formsOf(asked), {
    labels,
    cosine,
    wordCosine: null,
    outsideModel: false,
  });
  assert.ok(scores !== null);
  const [fact, nothing, bare, neither] = scores;
  assert.ok(Math.min(fact, bare) > Math.max(nothing, neither), String(scores));
});

test('facts bring a chunk no voice in feedback and make no two alike', () => {
  const terms = (...words: string[]) => Uint32Array.from(words, (word) => lexicon.term(word, word));
  const [asked, shared, ...others] = WORDS;
  const scoresWith = (facts: Uint32Array) => {
    const text = (title: string, ...words: string[]) => ({
      title: terms(title),
      section: terms(),
      body: terms(...words),
      facts,
    });
    const documents = new Map([
      [1, text(others[0], asked, others[1])],
      [2, text(others[2], others[3])],
      [3, text(others[4], others[5])],
    ]);
    const candidates = { labels: Uint32Array.of(1, 2, 3), cosine: null, wordCosine: null, outsideModel: false };
    return candidateRerankers(vectors)().score([segmentOf(0, documents)], formsOf(asked), candidates);
  };
  assert.deepEqual(scoresWith(terms(shared)), scoresWith(terms()));
});
