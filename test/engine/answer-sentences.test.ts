import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  inReadingOrder,
  isAnswer,
  likelySentences,
  scoredSentences,
  sentencesOf,
} from '../../src/engine/answer-sentences.ts';

const written = (text: string) => sentencesOf(text).map(({ start, end }) => text.slice(start, end));

test('a text is cut into sentences in any script, and not at abbreviations, ordinals and wrapped lines', () => {
  for (const [text, ...sentences] of [
    ['Herons fish. They wait!', 'Herons fish.', 'They wait!'],
    ['Dr. Smith met J. Doe on 3. May. They left.', 'Dr. Smith met J. Doe on 3. May.', 'They left.'],
    ['Vögel, z. B. Reiher, fischen am 3. März. Sie warten.', 'Vögel, z. B. Reiher, fischen am 3. März.', 'Sie warten.'],
    ['En EE. UU. viven garzas. ¿Dónde?', 'En EE. UU. viven garzas.', '¿Dónde?'],
    ['बगुले मछली पकड़ते हैं। वे रुकते हैं।', 'बगुले मछली पकड़ते हैं।', 'वे रुकते हैं।'],
    ['サギは魚を捕る。待つ。', 'サギは魚を捕る。', '待つ。'],
    ['Diệc ở Hà Nội. Chúng chờ.', 'Diệc ở Hà Nội.', 'Chúng chờ.'],
    [
      'A heron stands in the shallow water and\nwaits for fish.\n\nBirds',
      'A heron stands in the shallow water and\nwaits for fish.',
      'Birds',
    ],
    ['\n … \n'],
  ])
    assert.deepEqual(written(text), sentences);
});

test('sentences of any text are in order, apart, without white space around them, and not longer than 600', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.constantFrom('Dr. ', 'a. ', 'B\n', 'x'.repeat(90), ' ')).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let before = 0;
      for (const { start, end } of sentencesOf(text)) {
        const sentence = text.slice(start, end);
        assert.ok(start >= before && end > start && sentence === sentence.trim() && sentence.length <= 600, sentence);
        before = end;
      }
    }),
  );
});

const passage = (page: string, text: string, score: number, ...words: string[]) => ({
  ...{ page, title: null as string | null, char_start: 0, text, score },
  highlights: words.map((word) => ({ start: text.indexOf(word), end: text.indexOf(word) + word.length })),
});
const passages = [
  passage('a', 'Rain fell. Herons wait for hours.', 2, 'Herons', 'wait'),
  passage('b', 'Herons wait for hours. Storks fly.', 1, 'Herons', 'wait'),
];

test('few sentences are chosen by words and passage, equal ones once', () => {
  const likely = likelySentences('Do herons wait?', passages, 3);
  const chosen = likely.map(({ text, passage, words, share }) => `${text} ${passage} ${words} ${share}`);
  assert.deepEqual(chosen, ['Herons wait for hours. 0 1 1', 'Rain fell. 0 0 1', 'Storks fly. 1 0 0.5']);
  assert.equal(likelySentences('Do herons wait?', passages, 1).length, 1);
  assert.deepEqual(likelySentences('Herons?', [], 3), []);
  const titled = likelySentences('Herons?', [{ ...passages[0], title: 'The herons' }], 3);
  assert.ok(titled[1].words > 0 && titled[1].words < 1, 'each sentence is about what the title says');
});

test('the best sentences are nearest to the question, and without vectors those with its words', () => {
  const likely = likelySentences('Do herons wait?', passages, 3);
  const texts = (cosines: number[]) => scoredSentences(likely, cosines).map(({ text }) => text);
  assert.deepEqual(texts([0.82, 0.88, 0.9]), ['Herons wait for hours.', 'Rain fell.', 'Storks fly.']);
  assert.deepEqual(texts([0.7, 0.9, 0.95]), ['Storks fly.', 'Rain fell.'], 'what is far from the question is left out');
  assert.deepEqual(texts([0.82, 0.9]), ['Herons wait for hours.', 'Rain fell.']);
  assert.deepEqual(texts([]), ['Herons wait for hours.', 'Rain fell.', 'Storks fly.']);
});

test('sentences are read by page and in the order of its text', () => {
  const [best, second, third] = likelySentences('Do herons wait?', passages, 3);
  assert.deepEqual(inReadingOrder([third, best, second], passages), [third, second, best]);
});

test('a sentence answers that stands out, or is near on a page with the words of the question', () => {
  const others = Array.from({ length: 23 }, (_, at) => 0.77 + at / 1000);
  for (const [best, relevance, answers, compared = others] of [
    [0.86, 0.01, true],
    [0.83, 0.01, false],
    [0.88, 1, true],
    [0.82, 1, false],
    [0.87, 0.01, true, []],
    [0.84, 1, false, []],
    [0.9, 1, true, [0.88, 0.89]],
  ] as const)
    assert.equal(isAnswer([best, ...compared], relevance), answers, JSON.stringify([best, relevance, compared]));
  assert.deepEqual([isAnswer([], 0.6), isAnswer([], 0.4)], [true, false], 'without the encoder the relevance decides');
});
