/** Cues as a text with sections. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Cue } from '../../../src/compute/transcript/cue.ts';
import { transcriptText } from '../../../src/compute/transcript/transcript-text.ts';
import { pluck } from '../../rows.ts';

const said = (startS: number | null, text: string, speaker: string | null = null, endS = startS): Cue => ({
  startS,
  endS,
  speaker,
  text,
});

test('a section begins every two minutes, with a sentence', () => {
  const cues = Array.from({ length: 40 }, (_, i) =>
    said(i * 10, i % 5 === 4 ? `end ${i}.` : `go ${i}`, null, i * 10 + 9),
  );
  const { text, sections } = transcriptText(cues);
  assert.deepEqual(
    sections.map(({ start_s, title, char_start }) => [start_s, title, /^\w+ \d+/.exec(text.slice(char_start))?.[0]]),
    [
      [0, null, 'go 0'],
      [150, null, 'go 15'],
      [300, null, 'go 30'],
    ],
  );
  assert.equal(text.split('\n\n').length, 3);
});

test('without sentences a section ends after two and a half minutes', () => {
  const cues = Array.from({ length: 40 }, (_, i) => said(i * 10, `word${i}`));
  assert.deepEqual(pluck(transcriptText(cues).sections, 'start_s'), [0, 150, 300]);
});

test('chapters give sections their titles; a long one has several, one without words none', () => {
  const cues = Array.from({ length: 30 }, (_, i) => said(i * 10, `s ${i}.`));
  const chapters = [
    { startS: 200, title: 'Dawn' },
    { startS: 0, title: 'Dusk' },
    { startS: 200.2, title: 'Day' },
    { startS: 900, title: 'After' },
  ];
  assert.deepEqual(
    transcriptText(cues, chapters).sections.map(({ start_s, title }) => [start_s, title]),
    [
      [0, 'Dusk'],
      [120, 'Dusk'],
      [200, 'Day'],
    ],
  );
});

test('speakers, pauses and long stretches make paragraphs; scripts without spaces are joined without', () => {
  const cues = [
    said(0, 'Hello.', 'Ada', 1),
    said(1, 'Hello again.', 'Ada', 2),
    said(2, 'Hi.', 'Bo', 3),
    said(10, 'After a pause.', 'Bo', 11),
    said(11, '魚を', 'Bo', 12),
    said(12, '捕る', 'Bo', 13),
  ];
  assert.equal(transcriptText(cues).text, 'Ada: Hello. Hello again.\n\nBo: Hi.\n\nAfter a pause. 魚を捕る');
});

test('without times there are paragraphs and no sections', () => {
  const result = transcriptText([said(null, 'One.'), said(null, 'Two.')], [{ startS: 0, title: 'No' }]);
  assert.deepEqual(result, { text: 'One.\n\nTwo.', sections: [] });
});

test('a recording of absurd length has a bounded number of sections', () => {
  const cues = Array.from({ length: 20_000 }, (_, i) => said(i * 3600, `a${i}.`));
  const { sections } = transcriptText(cues);
  assert.ok(sections.length > 1000 && sections.length <= 2001, String(sections.length));
});

test('one cue with an absurd time leaves the sections of the others as they are', () => {
  const cues = Array.from({ length: 40 }, (_, i) => said(i * 10, `s ${i}.`));
  const { sections } = transcriptText([...cues, said(1e8, 'lost.')]);
  assert.deepEqual(pluck(sections, 'start_s'), [0, 120, 240, 360, 1e8]);
});

test('every cue is in the text, in order; a section begins where its cue does', () => {
  const cueList = fc
    .array(
      fc.record({
        step: fc.integer({ min: 0, max: 90_000 }),
        timed: fc.boolean(),
        speaker: fc.constantFrom(null, 'Ada', 'Bo'),
        words: fc.array(fc.stringMatching(/^[a-z]{1,6}[.]?$/), { minLength: 1, maxLength: 8 }),
      }),
      { maxLength: 60 },
    )
    .map((given) => {
      let at = 0;
      return given.map(({ step, timed, speaker, words }, i): Cue => {
        at += step;
        return { startS: timed ? at / 1000 : null, endS: null, speaker, text: `#${i} ${words.join(' ')}` };
      });
    });
  const chapterList = fc.array(
    fc.record({ startS: fc.integer({ min: 0, max: 4000 }), title: fc.constantFrom('A', 'B', null) }),
  );
  fc.assert(
    fc.property(cueList, chapterList, (cues, chapters) => {
      const { text, sections } = transcriptText(cues, chapters);
      let from = 0;
      for (const cue of cues) {
        const at = text.indexOf(cue.text, from);
        assert.ok(at >= from, cue.text);
        from = at + cue.text.length;
      }
      let before = -1;
      for (const { char_start, start_s } of sections) {
        assert.ok(char_start > before);
        before = char_start;
        const number = /^(?:\w+: )?#(\d+) /.exec(text.slice(char_start))?.[1];
        assert.equal(cues[Number(number)].startS, start_s);
      }
      const hasSections = sections.length > 0;
      assert.equal(
        hasSections,
        cues.some(({ startS }) => startS !== null),
      );
    }),
  );
});
