/** The formats of the podcast namespace, by what they look like and by what they are called. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Cue } from '../../../src/compute/transcript/cue.ts';
import { readChapters, readTranscript, transcriptFormat } from '../../../src/compute/transcript/read-transcript.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';
import { pluck } from '../../rows.ts';

const cue = (startS: number | null, endS: number | null, speaker: string | null, text: string): Cue => ({
  startS,
  endS,
  speaker,
  text,
});

test('JSON of the podcast namespace, of transcription endpoints and of whisper.cpp', () => {
  const podcast = {
    version: '1.0.0',
    segments: [
      { speaker: 'Ada', startTime: 0.5, endTime: 0.75, body: 'Eels' },
      { speaker: 'Ada', startTime: '0.75', endTime: 2, body: ' in\ntraps.' },
      { startTime: -1, endTime: 'soon', body: 'No time.' },
      { startTime: 3, body: '' },
      null,
      'text',
    ],
  };
  assert.deepEqual(readTranscript(`\ufeff${JSON.stringify(podcast)}`, null), [
    cue(0.5, 0.75, 'Ada', 'Eels'),
    cue(0.75, 2, 'Ada', 'in traps.'),
    cue(null, null, null, 'No time.'),
  ]);
  const endpoint = {
    task: 'transcribe',
    text: 'all of it',
    segments: [{ id: 0, start: 1, end: 2.5, text: ' Set at dusk.' }],
  };
  assert.deepEqual(readTranscript(JSON.stringify(endpoint), 'json'), [cue(1, 2.5, null, 'Set at dusk.')]);
  const whisper = { transcription: [{ timestamps: {}, offsets: { from: 1500, to: 2000 }, text: ' Lift at dawn.' }] };
  assert.deepEqual(readTranscript(JSON.stringify(whisper), 'json'), [cue(1.5, 2, null, 'Lift at dawn.')]);
  assert.deepEqual(readTranscript('{"text": " only words "}', 'json'), [cue(null, null, null, 'only words')]);
  for (const text of ['{"segments": 7}', '{"a', '[{}]', '{"__proto__": {"text": "no"}}', '{ "segments": {} }']) {
    assert.deepEqual(readTranscript(text, 'json'), [], text);
  }
});

test('times that no recording has are none, in cues and in chapters', () => {
  const body = (startTime: string) => `{"startTime": ${startTime}, "body": "x"}`;
  const times = ['-1', '1e300', '1e999', 'null', '"NaN"', '"Infinity"', '7'];
  const read = readTranscript(`{"segments": [${times.map(body).join(',')}]}`, 'json');
  assert.deepEqual(pluck(read, 'startS'), [null, null, null, null, null, null, 7]);
  const chapters = times.map((time) => `{"startTime": ${time}, "title": "x"}`);
  assert.deepEqual(readChapters(`{"chapters": [${chapters.join(',')}]}`), [{ startS: 7, title: 'x' }]);
});

test('HTML of the podcast namespace: who, since when, what', () => {
  const html = `<!doctype html><title>no</title><style>p {}</style>
    <cite>Ada:</cite> <time>0:05</time> <p>Eels &amp; <b>traps</b>.</p><p>Of willow.</p>
    <cite>Bo</cite><time>[1:02:03]</time><p>Set<br>at dusk.</p><script>1</script>`;
  assert.deepEqual(readTranscript(html, 'text'), [
    cue(5, null, 'Ada', 'Eels & traps.'),
    cue(null, null, 'Ada', 'Of willow.'),
    cue(3723, null, 'Bo', 'Set'),
    cue(null, null, 'Bo', 'at dusk.'),
  ]);
});

test('plain text: a cue for each paragraph', () => {
  assert.deepEqual(readTranscript('\ufeffAda: eels\r\nand traps\r\n \r\nBo: dusk\n', null), [
    cue(null, null, null, 'Ada: eels and traps'),
    cue(null, null, null, 'Bo: dusk'),
  ]);
});

test('what a text looks like goes before what it is called', () => {
  const srt = '1\n00:00:01,000 --> 00:00:02,000\nwords';
  for (const called of ['text', 'html', 'json', 'captions', null] as const) {
    assert.deepEqual(readTranscript(srt, called), [cue(1, 2, null, 'words')]);
  }
});

test('formats by content type, or by the ending of the address', () => {
  const cases = [
    ['text/vtt; charset=utf-8', 'https://a.test/x', 'captions'],
    ['application/x-subrip', 'https://a.test/x', 'captions'],
    ['application/json', 'https://a.test/x', 'json'],
    ['text/html', 'https://a.test/x.vtt', 'html'],
    ['text/plain', 'https://a.test/x.srt?a=b', 'captions'],
    ['text/plain', 'https://a.test/x', 'text'],
    ['', 'https://a.test/x.JSON', 'json'],
    ['constructor', 'https://a.test/x.constructor', null],
  ] as const;
  for (const [type, url, expected] of cases) assert.equal(transcriptFormat(type, url), expected, `${type} ${url}`);
});

test('whatever it is given, every reader gives words and times that are none or finite', () => {
  const kinds = fc.constantFrom('captions', 'json', 'html', 'text', null);
  const jsonText = fc.json().map((text) => `{"segments": [{"body": "a", "startTime": ${text}}, ${text}]}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), jsonText), kinds, (text, kind) => {
      for (const { startS, endS, text: said, speaker } of readTranscript(text, kind)) {
        assert.ok(said.trim() !== '' && speaker !== '');
        for (const time of [startS, endS]) assert.ok(time === null || (Number.isFinite(time) && time >= 0));
      }
    }),
  );
});

test('HTML whose tags are never closed costs no more than its length', () => {
  for (const tag of ['<b>', '<cite>', '<p><b>'])
    assertGrowsInProportion(
      300_000,
      (repeats) => tag.repeat(repeats),
      (html) => readTranscript(html, 'html'),
      tag,
    );
});
