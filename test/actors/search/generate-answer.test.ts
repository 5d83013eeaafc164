import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  completeQuestion,
  generateAnswer,
  plainSentence,
  quotationFinder,
  type VerifiedSentence,
} from '../../../src/actors/search/generate-answer.ts';

const passages = [
  {
    title: 'Herons',
    read_at: '2026-03-03T00:00:00.000Z',
    text: 'A grey heron waits for hours in shallow water. It eats fish [1] and frogs.',
  },
  {
    title: 'Graureiher',
    read_at: '2026-03-04T00:00:00.000Z',
    text: 'Der Graureiher brütet in Kolonien auf hohen Bäumen.',
  },
];

/** What the model's text, in pieces of each length, gives. */
async function readAnswer(text: string, length = text.length) {
  const sentences: VerifiedSentence[] = [];
  const stream = async (_messages: unknown, take: (piece: string) => boolean) => {
    for (let at = 0; at < text.length; at += length) if (!take(text.slice(at, at + length))) return;
  };
  const ended = await generateAnswer({ stream }, 'What do herons eat?', passages, {
    take: (sentence) => sentences.push(sentence),
    signal: undefined,
    deadlineMs: 1000,
  });
  const quoted = sentences.map(({ text, quotations }) => [
    text,
    ...quotations.map(({ passage, start, end }) => passages[passage].text.slice(start, end)),
  ]);
  return [ended.state, ended.dropped, ...quoted];
}

test('of a model’s text only sentences with a quotation that stands in a passage are kept', async () => {
  for (const [text, ...expected] of [
    ['Herons eat fish. [1: "It eats fish"]', 'answered', 0, ['Herons eat fish.', 'It eats fish']],
    [
      'Herons eat fish [1: “it EATS  fish”].\nThey nest in trees [2: "in Kolonien auf hohen"]\n',
      'answered',
      0,
      ['Herons eat fish', 'It eats fish'],
      ['They nest in trees', 'in Kolonien auf hohen'],
    ],
    // Quotations of another passage, of two, on the next line, and several sentences on a line.
    ['Trees. [1: "brütet in Kolonien"]', 'answered', 0, ['Trees.', 'brütet in Kolonien']],
    [
      'Both. [1: "waits for hours"] [2: "Der Graureiher brütet"]',
      'answered',
      0,
      ['Both.', 'waits for hours', 'Der Graureiher brütet'],
    ],
    ['They wait.\n[1: "waits for hours"]', 'answered', 0, ['They wait.', 'waits for hours']],
    [
      'One. [1: "waits for hours"] Two. [1: "in shallow water"]',
      'answered',
      0,
      ['One.', 'waits for hours'],
      ['Two.', 'in shallow water'],
    ],
    // Invented, too short, missing, cut inside a word.
    ['Herons eat cake. [1: "it eats cake and"]', 'unverified', 1],
    ['Herons. [1: "fish"]', 'unverified', 1],
    ['Herons eat fish. [1]', 'unverified', 1],
    ['Herons eat fish.', 'unverified', 1],
    ['Herons. [1: "rey heron waits"]', 'unverified', 1],
    ['Cake. [1: "eats much cake"]\nFish. [1: "It eats fish"]\nMore.', 'answered', 2, ['Fish.', 'It eats fish']],
    ['Both. [1: "It eats fish [1] and frogs"]', 'answered', 0, ['Both.', 'It eats fish [1] and frogs']],
    // Markup, thoughts, nothing.
    [
      '- **Herons** <b>eat</b> [fish](https://evil.example) [1: "It eats fish"]',
      'answered',
      0,
      ['Herons eat fish', 'It eats fish'],
    ],
    [
      '<think>I know. [1: "It eats fish"]\n</think>\nFish. [1: "It eats fish"]',
      'answered',
      0,
      ['Fish.', 'It eats fish'],
    ],
    ['<think>Never ends. [1: "It eats fish"]', 'empty', 0],
    ['NOT_IN_READING', 'not_in_reading', 0],
    ['', 'empty', 0],
    [' \n\n', 'empty', 0],
  ] as const)
    for (const length of [1, 5, text.length || 1])
      assert.deepEqual(await readAnswer(text, length), expected, `${length}: ${text}`);
});

test('an answer without end is read to a limit', async () => {
  const [state, , ...sentences] = await readAnswer('Fish. [1: "It eats fish"]\n'.repeat(1000), 50);
  assert.deepEqual([state, sentences.length <= 14], ['answered', true]);
  const [empty, dropped] = await readAnswer('no end '.repeat(10_000), 50);
  assert.deepEqual([empty, dropped], ['unverified', 1]);
});

test('brackets and spaces of a model cost little', async () => {
  for (const text of [`[1${' '.repeat(5000)}`, '[1 '.repeat(5000), '[1: [1] '.repeat(5000), '[1 [a] '.repeat(5000)])
    assert.equal((await readAnswer(`Fish. [1: "It eats fish"]\n${text}`))[0], 'answered');
  const chat = { complete: async () => `[1${' '.repeat(300)}` };
  assert.equal(await completeQuestion(chat, { turns: [], question: 'And?' }, undefined), '[1');
  const completed = await completeQuestion({ complete: async () => '**' }, { turns: [], question: 'And?' }, undefined);
  assert.equal(completed, null);
});

test('soft hyphens and decomposed letters of a passage are found by plain words', () => {
  for (const text of ['Der Grau\u00adreiher bru\u0308tet hoch.', 'Der Grau\u200breiher brütet hoch.'])
    for (const quoted of ['graureiher brütet hoch', 'Graureiher bru\u0308tet hoch', 'Grau\u00adreiher brütet hoch'])
      assert.deepEqual(
        quotationFinder([text])(quoted, 0),
        { passage: 0, start: 4, end: text.length - 1 },
        `${text} ${quoted}`,
      );
  const persian = 'من کتاب\u200cهای تاریخی می\u200cخوانم.';
  for (const quoted of ['کتاب\u200cهای تاریخی می\u200cخوانم', 'کتابهای تاریخی میخوانم'])
    assert.deepEqual(quotationFinder([persian])(quoted, 0), { passage: 0, start: 3, end: persian.length - 1 });
});

test('words of scripts without spaces are found, and numbers of passages that do not exist change nothing', () => {
  const texts = ['鷺は浅い水の中で何時間も待つ。'];
  assert.deepEqual(quotationFinder(texts)('浅い水の中で何時間', 7), { passage: 0, start: 2, end: 11 });
  assert.equal(quotationFinder(texts)('深い水の中で何時間', 0), null);
});

test('no mark, tag or hidden character is left of a sentence', () => {
  const sentence = plainSentence('1. `Herons` *eat*\u200b ![x](http://a.example/x.png) <script>fish</script> .');
  assert.equal(sentence, 'Herons eat x fish.');
});
