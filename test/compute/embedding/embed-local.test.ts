import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLocalEmbedder, type LocalEmbedder } from '../../../src/compute/embedding/embed-local.ts';
import { Lexicon } from '../../../src/compute/text/lexicon.ts';
import { fixtureVectors } from './word-vectors-fixture.ts';

const vectors = fixtureVectors();
const dims = [8, 16, 64];
const word = fc.oneof(
  fc.constantFrom('the', 'water', 'ice', 'cold', 'king', 'volcano', ''),
  fc.stringMatching(/^[a-z]{1,9}$/),
);
const text = fc.array(word, { maxLength: 40 });

function embed(embedder: LocalEmbedder, words: readonly string[], title?: readonly string[]) {
  const out = new Float32Array(embedder.dim);
  const titleTerms = title === undefined ? undefined : { words: title, stems: title };
  const filled = embedder.embedDocument(words, words, 0, words.length, out, 0, titleTerms);
  return { out, filled };
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, k) => sum + value * b[k], 0);
}

test('a row is of unit length, or zero and called empty', () => {
  for (const dim of dims) {
    const embedder = createLocalEmbedder(vectors, dim);
    fc.assert(
      fc.property(text, (words) => {
        const { out, filled } = embed(embedder, words);
        assert.ok(Math.abs(Math.sqrt(dot(out, out)) - (filled ? 1 : 0)) < 1e-5);
        if (dim > vectors.dim)
          assert.equal(
            filled,
            words.some((each) => each !== ''),
          );
      }),
    );
  }
});

test('a row depends on the text alone: not on other texts, the thread, the place in a longer text, or in the output', () => {
  const embedder = createLocalEmbedder(vectors, 64);
  fc.assert(
    fc.property(text, text, text, (before, words, after) => {
      const fresh = embed(createLocalEmbedder(vectors, 64), words).out;
      const whole = [...before, ...words, ...after];
      const out = new Float32Array(64 * 3).fill(9);
      embedder.embedDocument(whole, whole, before.length, before.length + words.length, out, 64);
      assert.deepEqual(out.slice(64, 128), fresh);
      assert.ok(out.every((value, k) => (k >= 64 && k < 128) || value === 9));
    }),
  );
});

test('terms of a lexicon, growing or another one, embed as the strings that they stand for', () => {
  const embedder = createLocalEmbedder(vectors, 64);
  const lexicons = [new Lexicon(), new Lexicon()];
  fc.assert(
    fc.property(text, text, fc.nat({ max: 1 }), (words, title, which) => {
      const lexicon = lexicons[which];
      const numbered = (all: readonly string[]) => Uint32Array.from(all, (word) => lexicon.term(word, word));
      const [out, expected] = [new Float32Array(64), new Float32Array(64)];
      const filled = embedder.embedTerms(lexicon, numbered(words), 0, words.length, out, 0, numbered(title));
      const pair = { words: title, stems: title };
      assert.equal(filled, embedder.embedDocument(words, words, 0, words.length, expected, 0, pair));
      assert.deepEqual(out, expected);
    }),
  );
});

test('the order of words does not matter', () => {
  const embedder = createLocalEmbedder(vectors, 64);
  fc.assert(
    fc.property(
      text.chain((words) => fc.tuple(fc.constant(words), fc.shuffledSubarray(words, { minLength: words.length }))),
      ([words, shuffled]) => {
        const [a, b] = [embed(embedder, words).out, embed(embedder, shuffled).out];
        a.forEach((value, k) => {
          assert.ok(Math.abs(value - b[k]) < 1e-5);
        });
      },
    ),
  );
});

test('a query embeds as a document of the same words, and only words of the vocabulary are known', () => {
  for (const dim of dims) {
    const embedder = createLocalEmbedder(vectors, dim);
    fc.assert(
      fc.property(text, (words) => {
        const { vector, known } = embedder.embedQuery(words, words);
        assert.deepEqual(vector, embed(embedder, words).out);
        assert.equal(
          known,
          words.filter((each) => each !== '' && embedder.embedQuery([each], [each]).known === 1).length,
        );
      }),
    );
  }
  const embedder = createLocalEmbedder(vectors, 64);
  assert.equal(embedder.embedQuery(['ice', 'zxqv', '', 'water'], ['ice', 'zxqv', '', 'water']).known, 2);
  assert.equal(embedder.embedQuery(['__proto__', 'constructor', 'toString'], ['a', 'b', 'c']).known, 2);
});

test('unknown words are matched by their stems in the sketch, and are nothing to the word vectors alone', () => {
  const sketched = createLocalEmbedder(vectors, 256);
  const query = sketched.embedQuery(['zxqvs'], ['zxqv']);
  const same = sketched.embedQuery(['zxqving'], ['zxqv']);
  const other = sketched.embedQuery(['wqqqps'], ['wqqqp']);
  assert.equal(query.known, 0);
  assert.ok(dot(query.vector, same.vector) > 0.999);
  assert.ok(Math.abs(dot(query.vector, other.vector)) < 0.4);
  const plain = createLocalEmbedder(vectors, 8);
  assert.deepEqual(plain.embedQuery(['zxqv'], ['zxqv']), { vector: new Float32Array(8), known: 0 });
  assert.equal(embed(plain, ['zxqv', '']).filled, false);
});

test('a title draws every passage of its page towards itself, but is no content alone', () => {
  const embedder = createLocalEmbedder(vectors, 64);
  const query = embedder.embedQuery(['volcano'], ['volcano']).vector;
  const passage = ['water', 'ice', 'cold'];
  assert.ok(dot(query, embed(embedder, passage, ['volcano']).out) > dot(query, embed(embedder, passage).out) + 0.1);
  assert.deepEqual(embed(embedder, ['', ''], ['volcano']), { out: new Float32Array(64), filled: false });
});

test('dimensions between the word vectors and twice that are refused', () => {
  for (const dim of [0, 7, 9, 15, 16.5, Number.NaN]) assert.throws(() => createLocalEmbedder(vectors, dim), RangeError);
});
