/** WebVTT and SRT as they are really written. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Cue } from '../../../src/compute/transcript/cue.ts';
import { readCaptions } from '../../../src/compute/transcript/read-transcript.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';
import { pluck } from '../../rows.ts';

const cue = (startS: number, endS: number, text: string, speaker: string | null = null): Cue => ({
  startS,
  endS,
  speaker,
  text,
});

test('WebVTT: settings, identifiers, notes, styles, regions, voices, tags, times inside, entities', () => {
  const vtt = `WEBVTT - made by hand
Kind: captions

STYLE
::cue { color: red }

REGION
id:fred

NOTE a comment
of two lines

intro
00:01.000 --> 00:04.500 align:start position:10%
<v.loud Ada Lovelace>The <c.blue>eel</c> &amp; the <i>trap</i></v>
<v Bo>R&amp;D at 3 < 5

01:00:00.250\t-->\t01:00:02.000
one<00:00:01.500> two
${' '}
- three&nbsp;&lt;b&gt;

NOTE the end`;
  assert.deepEqual(readCaptions(vtt), [
    cue(1, 4.5, 'The eel & the trap', 'Ada Lovelace'),
    cue(1, 4.5, 'R&D at 3 < 5', 'Bo'),
    cue(3600.25, 3602, 'one two - three <b>'),
  ]);
});

test('SRT: byte order mark, CRLF, commas, overrides, words behind a blank line, numbers that are words', () => {
  const srt =
    '\ufeff1\r\n00:00:01,000 --> 00:00:02,500\r\n{\\an8}<font color="#fff">Set at dusk,</font>\r\n\r\nlift at dawn.\r\n\r\n' +
    '2\r\n00:00:03,000 --> 00:00:01,000\r\n42\r\n3\r\n0:0:5 --> 0:0:6,5\r\nno blank line before\r\n';
  assert.deepEqual(readCaptions(srt), [
    cue(1, 2.5, 'Set at dusk, lift at dawn.'),
    cue(3, 3, '42'),
    cue(5, 6.5, 'no blank line before'),
  ]);
});

test('what recognizers print: times in brackets, the words behind them', () => {
  const printed =
    '\nloading\n[00:00:00.000 --> 00:00:02.500]   Set at dusk.\n[00:02.500 --> 00:04.000]\n[music] no time\n';
  assert.deepEqual(readCaptions(printed), [cue(0, 2.5, 'Set at dusk.'), cue(2.5, 4, '[music] no time')]);
});

test('cues out of order are put in order; what is no captions file has none', () => {
  const srt = '00:00:09,000 --> 00:00:10,000\nsecond\n\n00:00:01,000 --> 00:00:02,000\nfirst';
  assert.deepEqual(readCaptions(srt), [cue(1, 2, 'first'), cue(9, 10, 'second')]);
  for (const text of ['', 'WEBVTT', 'no captions', 'a --> b\nc', '00:01 --> later\nwords', '\ufeff']) {
    assert.deepEqual(readCaptions(text), [], text);
  }
});

test('automatic captions that repeat the line above, or grow word by word, say everything once', () => {
  const rolling = [
    'WEBVTT',
    '',
    '00:00:00.000 --> 00:00:02.000 align:start position:0%',
    ' ',
    'eels<00:00:00.500><c> are</c><00:00:01.000><c> caught</c>',
    '',
    '00:00:02.000 --> 00:00:02.010 align:start position:0%',
    'eels are caught',
    ' ',
    '',
    '00:00:02.010 --> 00:00:04.000 align:start position:0%',
    'eels are caught',
    'in<00:00:02.500><c> traps</c>',
    '',
    '00:00:04.000 --> 00:00:05.000',
    'in traps',
    'of willow',
  ].join('\n');
  const said = readCaptions(rolling).map(({ startS, text }) => `${startS} ${text}`);
  assert.deepEqual(said, ['0 eels are caught', '2.01 in traps', '4 of willow']);
  const growing =
    'WEBVTT\n\n00:00.000 --> 00:01.000\nset\n\n00:01.000 --> 00:02.000\nset at\n\n00:02.000 --> 00:03.000\nset at dusk';
  assert.deepEqual(pluck(readCaptions(growing), 'text'), ['set', 'at', 'dusk']);
  const apart = 'WEBVTT\n\n00:00.000 --> 00:01.000\nNo.\n\n00:04.000 --> 00:05.000\nNo.';
  assert.equal(readCaptions(apart).length, 2, 'what is said again later is kept');
});

const word = fc.stringMatching(/^[a-zäß]{1,8}$/);
const line = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const timed = fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.array(line, { minLength: 1, maxLength: 3 })), {
  maxLength: 20,
});

/** Cues a second apart, so that nothing rolls. */
const spread = (given: readonly [number, string[]][]) => {
  let at = 0;
  return given.map(([ms, lines]) => {
    const start = at;
    const end = start + ms;
    at = end + 1000;
    return { start, end, lines };
  });
};

function stamp(ms: number, dot: string, withHours: boolean): string {
  const part = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, '0');
  const hours = withHours || ms >= 3_600_000 ? `${part(ms / 3_600_000, 2)}:` : '';
  return `${hours}${part((ms / 60_000) % 60, 2)}:${part((ms / 1000) % 60, 2)}${dot}${part(ms % 1000, 3)}`;
}

test('what is written as WebVTT or SRT, however loosely, is read back', () => {
  const style = fc.record({
    isVtt: fc.boolean(),
    mark: fc.boolean(),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    withHours: fc.boolean(),
    numbered: fc.boolean(),
    blankLines: fc.integer({ min: 1, max: 3 }),
    settings: fc.constantFrom('', ' line:0 align:start'),
  });
  fc.assert(
    fc.property(timed, style, (given, { isVtt, mark, end, withHours, numbered, blankLines, settings }) => {
      const cues = spread(given);
      const blocks = cues.map(({ start, end: until, lines }, i) =>
        [
          ...(numbered ? [String(i + 1)] : []),
          `${stamp(start, isVtt ? '.' : ',', withHours)} --> ${stamp(until, isVtt ? '.' : ',', withHours)}${settings}`,
          ...lines,
        ].join(end),
      );
      const text = [...(isVtt ? ['WEBVTT'] : []), ...blocks].join(end.repeat(blankLines + 1));
      const expected = cues.map(({ start, end: until, lines }) => cue(start / 1000, until / 1000, lines.join(' ')));
      assert.deepEqual(readCaptions(`${mark ? '\ufeff' : ''}${text}`), expected);
    }),
  );
});

test('rolled up over two lines, every line is said once and in order', () => {
  const distinct = fc
    .uniqueArray(line, { maxLength: 30 })
    .filter((lines) => lines.every((each, i) => i === 0 || !each.startsWith(`${lines[i - 1]} `)));
  fc.assert(
    fc.property(distinct, (lines) => {
      const blocks = lines.map((each, i) => {
        const at = stamp(i * 2000, '.', true);
        return `${at} --> ${stamp(i * 2000 + 2000, '.', true)}\n${i === 0 ? '' : `${lines[i - 1]}\n`}${each}`;
      });
      const read = readCaptions(['WEBVTT', ...blocks].join('\n\n'));
      assert.deepEqual(pluck(read, 'text'), lines);
    }),
  );
});

test('whatever it is given, times are in order and words are words', () => {
  const marks = ['WEBVTT', '\n', '\r\n', '00:01.000 --> 00:02.000', '99:00:00,5 --> 1', '<v ', '<c>', '>', '&amp;'];
  const piece = fc.constantFrom(...marks, '{\\', '}', '-->', ' ', 'word', '7');
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
      let last = 0;
      for (const { startS, endS, text } of readCaptions(pieces.join(''))) {
        assert.ok(startS !== null && endS !== null && startS >= last && endS >= startS);
        assert.equal(text, text.replace(/\s+/g, ' ').trim());
        assert.notEqual(text, '');
        last = startS;
      }
    }),
  );
});

test('hostile texts take no longer than their length', () => {
  const timing = '00:01.000 --> 00:02.000\n';
  const units = ['<', '<v ', '<a', '{\\', '&', ' ', '-->', '1:', '00:01 --> 00:01\n', '\n', '9\n', 'a\n\n'];
  const texts = [...units, `${timing}a\n\n`];
  for (const text of texts) {
    for (const head of ['WEBVTT\n\n', '']) {
      const repeated = (length: number) => `${head}${timing}${text.repeat(length / text.length)}`;
      assertGrowsInProportion(200_000, repeated, readCaptions, text);
    }
  }
});
