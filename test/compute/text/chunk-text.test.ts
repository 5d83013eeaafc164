import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { type ChunkingSettings, chunkText } from '../../../src/compute/text/chunk-text.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import type { Section } from '../../../src/domain/page.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';
import { pluck } from '../../rows.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const defaults: ChunkingSettings = { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 };

const fragment = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('one ', 'two ', 'three. ', 'Four ', 'five! ', 'covid-19 ', "don't ", '\n', '\n\n'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('東京タワー。', 'ภาษาไทย', '한국어 ', '🦀', '… ', '--- ', '\t', 'etc. ', 'café '),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('x'.repeat(200), '🦀'.repeat(70), `https://example.com/${'a/'.repeat(40)} `),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);
const anyText = fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(''));
const anySettings = fc.record({
  target_tokens: fc.integer({ min: 1, max: 40 }),
  overlap_tokens: fc.integer({ min: 0, max: 50 }),
  hard_max_tokens: fc.integer({ min: 1, max: 45 }),
});
const anySections = fc
  .array(fc.record({ char_start: fc.nat(300), title: fc.option(fc.constantFrom('A', 'B', 'C')) }), { maxLength: 5 })
  .map((sections) => sections.sort((a, b) => a.char_start - b.char_start));

function sentences(count: number, words = 9): string {
  return Array.from({ length: count }, (_, i) => `Sentence ${i} ${'word '.repeat(words - 2).trim()}.`).join(' ');
}

test('every word is in a chunk, no chunk is over the maximum, and chunks advance', () => {
  fc.assert(
    fc.property(anyText, anySections, anySettings, (text, sections, settings) => {
      const analyzed = analyzer.analyze(text);
      const chunks = chunkText(analyzed, sections, settings);
      const covered = new Uint8Array(text.length);
      chunks.forEach((chunk, ordinal) => {
        const slice = text.slice(chunk.char_start, chunk.char_end);
        assert.ok(slice.length > 0);
        assert.equal(slice, slice.trim());
        assert.ok(chunk.token_count <= settings.hard_max_tokens, `${chunk.token_count} tokens`);
        assert.ok(analyzed.terms.slice(chunk.token_from, chunk.token_to).some((term) => term !== 0));
        covered.fill(1, chunk.char_start, chunk.char_end);
        if (ordinal === 0) return;
        const previous = chunks[ordinal - 1];
        assert.ok(chunk.char_start > previous.char_start && chunk.char_end > previous.char_end);
      });
      analyzed.terms.forEach((term, token) => {
        const characters = covered.subarray(analyzed.starts[token], analyzed.ends[token]);
        if (term !== 0) assert.ok(!characters.includes(0), `token ${token} is in no chunk`);
      });
    }),
    { numRuns: 300 },
  );
});

test('token_count is the cost of the tokens in range, or a share of one token that is cut', () => {
  fc.assert(
    fc.property(anyText, anySettings, (text, settings) => {
      const analyzed = analyzer.analyze(text);
      for (const chunk of chunkText(analyzed, [], settings)) {
        const cost = analyzed.costs.subarray(chunk.token_from, chunk.token_to).reduce((sum, each) => sum + each, 0);
        if (cost <= settings.hard_max_tokens) assert.equal(chunk.token_count, cost);
        else assert.equal(chunk.token_to - chunk.token_from, 1);
      }
    }),
  );
});

test('no chunk border falls inside a surrogate pair', () => {
  fc.assert(
    fc.property(anyText, anySettings, (text, settings) => {
      for (const { char_start, char_end } of chunkText(analyzer.analyze(text), [], settings)) {
        const wellFormed = text.replace(/\p{Surrogate}/gu, '?');
        assert.ok(!/\p{Surrogate}/u.test(wellFormed.slice(char_start, char_end)));
      }
    }),
  );
});

test('a chunk is whole sentences up to the target and repeats the last sentences of the one before', () => {
  const text = sentences(100);
  const chunks = chunkText(analyzer.analyze(text), [], defaults);
  assert.deepEqual(
    chunks.map(({ char_start, char_end, token_count }) => [
      text.slice(char_start, char_start + 11).trim(),
      text.slice(char_end - 5, char_end),
      token_count,
    ]),
    [
      ['Sentence 0', 'word.', 440],
      ['Sentence 38', 'word.', 440],
      ['Sentence 76', 'word.', 240],
    ],
  );
});

test('a sentence over the target but within the maximum stays whole', () => {
  const text = `Short one. A ${'word '.repeat(479)}end. Another one.`;
  assert.deepEqual(pluck(chunkText(analyzer.analyze(text), [], defaults), 'token_count'), [3, 482, 3]);
});

test('a sentence over the maximum is cut between tokens and the pieces overlap', () => {
  const text = 'word '.repeat(1200);
  assert.deepEqual(
    chunkText(analyzer.analyze(text), [], defaults).map((chunk) => [chunk.token_from, chunk.token_to]),
    [
      [0, 448],
      [384, 832],
      [768, 1200],
    ],
  );
});

test('a token over the maximum is cut between characters', () => {
  const text = `a ${'x'.repeat(100)} b`;
  const chunks = chunkText(analyzer.analyze(text), [], { target_tokens: 10, overlap_tokens: 0, hard_max_tokens: 10 });
  assert.deepEqual(
    chunks.map((chunk) => [chunk.char_start, chunk.char_end, chunk.token_count]),
    [
      [0, 1, 1],
      [2, 42, 10],
      [42, 82, 10],
      [82, 102, 5],
      [103, 104, 1],
    ],
  );
});

test('a section starts a new chunk, without overlap, and gives it its title and time', () => {
  const first = sentences(12);
  const text = `${first}\n\n${sentences(12)}`;
  const sections: Section[] = [
    { char_start: 0, title: 'One', start_s: 0 },
    { char_start: first.length + 2, title: 'Two', start_s: 61.5 },
  ];
  assert.deepEqual(
    chunkText(analyzer.analyze(text), sections, defaults).map((chunk) => [
      chunk.char_start,
      chunk.section_title,
      chunk.section_start_s,
    ]),
    [
      [0, 'One', 0],
      [first.length + 2, 'Two', 61.5],
    ],
  );
});

test('a tiny section is joined to the next one under its own title, and a tiny last one to the one before', () => {
  const text = `Title\n\n${sentences(12)}\n\nThe end`;
  const sections = [
    { char_start: 0, title: 'Title' },
    { char_start: 7, title: 'Body' },
    { char_start: text.length - 7, title: 'End' },
  ];
  assert.deepEqual(
    chunkText(analyzer.analyze(text), sections, defaults).map((chunk) => [
      chunk.char_start,
      chunk.char_end,
      chunk.section_title,
    ]),
    [[0, text.length, 'Title']],
  );
});

test('the title of a section is repeated in its chunks by its first 500 characters', () => {
  const title = `${'a'.repeat(499)}🜨 and so on`;
  const chunks = chunkText(analyzer.analyze(sentences(200)), [{ char_start: 0, title }], defaults);
  assert.ok(chunks.length > 3);
  for (const { section_title } of chunks) assert.equal(section_title, `${'a'.repeat(499)}\ufffd`);
});

test('a text without words has no chunks', () => {
  for (const text of ['', ' \n\t', '...', '— — —', '\u0000\ud800']) {
    assert.deepEqual(chunkText(analyzer.analyze(text), [], defaults), []);
  }
});

test('a long text is cut in linear time', () => {
  assertGrowsInProportion(
    60_000,
    (count) => analyzer.analyze(sentences(count)),
    (analyzed) => assert.ok(chunkText(analyzed, [], defaults).length > 50),
  );
});
