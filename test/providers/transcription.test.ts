/** What transcribes recordings: which is found, how programs are run, how long recordings are cut. Programs are made for the test. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { quietestCut, waveFile } from '../../src/providers/decode-audio.ts';
import { commandWords, findTranscription, openTranscription } from '../../src/providers/transcription.ts';
import { until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { FakePrograms, fakeFfmpeg, isAlive } from './fake-programs.ts';

const settings = (program_path: string, transcribe: { command?: string; base_url?: string } = {}) => ({
  program_path,
  transcribe: { command: null, base_url: null, ...transcribe },
  fetch: { video_speech_model: 'tiny' },
});

/** A recording in a folder of its own. */
function recordingOf(t: TestContext, content = 'sound') {
  const dir = temporaryFolder(t);
  const path = join(dir, 'recording');
  writeFileSync(path, content);
  let pieces = 0;
  return { dir, path, extendTime: async () => void pieces++, pieces: () => pieces };
}

const { signal } = new AbortController();

test('a command takes precedence over an endpoint, even where it cannot be used', (t) => {
  const programs = new FakePrograms(t);
  const found = (transcribe?: { command?: string; base_url?: string }) => {
    const { kind, detail, ffmpeg } = findTranscription(settings(programs.path, transcribe));
    return [kind, detail, ffmpeg];
  };
  const base_url = 'http://speech.test/v1';
  assert.deepEqual(found(), [null, 'no speech recognizer: set transcribe.command or transcribe.base_url', false]);
  assert.deepEqual(found({ base_url }), ['endpoint', base_url, false]);
  programs.add('ffmpeg', '');
  assert.deepEqual(found({ command: 'whisper-cli -f {audio}', base_url }), [
    null,
    'the program of transcribe.command, whisper-cli, was not found',
    true,
  ]);
  const whisper = programs.add('whisper-cli', '');
  assert.deepEqual(found({ command: 'whisper-cli -f {audio}', base_url }), ['command', whisper, true]);
  assert.equal(found({ command: `"${whisper}" -f {audio}` })[1], whisper);
  assert.deepEqual(found({ command: "whisper-cli 'a" }).slice(0, 1), [null]);
  assert.deepEqual(found({ command: '  ' }).slice(0, 1), [null]);
});

test('a command is cut into words without a shell', () => {
  assert.deepEqual(commandWords(' a  "b c"d \'$HOME;`x`\' "" {audio} '), ['a', 'b cd', '$HOME;`x`', '', '{audio}']);
  assert.equal(commandWords('a "b'), null);
  assert.deepEqual(commandWords(''), []);
});

const writes = (name: string, text: string) =>
  `require('node:fs').writeFileSync(${name}, ${JSON.stringify(text)}); process.stdout.write('progress 100 %');`;
const whisperJson = JSON.stringify({ transcription: [{ offsets: { from: 500, to: 1500 }, text: ' Set at dusk.' }] });

test('a command leaves its transcript where it likes: beside the sound, where it was told to, or on its standard output', async (t) => {
  const cases: Record<string, [args: string, body: string]> = {
    output: ['-m m-{model}.bin -f {audio} -of {output} -oj', writes("args.at(-2) + '.json'", whisperJson)],
    beside: ['-oj -f {audio}', writes("args.at(-1) + '.json'", whisperJson)],
    best: [
      '{audio} {output}',
      `${writes("args[1] + '.txt'", 'words')} ${writes("args[1] + '.srt'", '1\n00:00:00,500 --> 00:00:01,500\nSet at dusk.')}`,
    ],
    printed: ['', "process.stdout.write('[00:00:00.500 --> 00:00:01.500]  Set at dusk.\\n')"],
  };
  for (const [name, [args, body]] of Object.entries(cases)) {
    const programs = new FakePrograms(t);
    programs.add('speech', body);
    const recording = recordingOf(t);
    const transcription = openTranscription(settings(programs.path, { command: `speech ${args}` }), null);
    const cues = await transcription.transcribe(recording, signal);
    assert.deepEqual(cues, [{ startS: 0.5, endS: 1.5, speaker: null, text: 'Set at dusk.' }], name);
    assert.deepEqual(readdirSync(recording.dir), ['recording'], name);
    const given = JSON.parse(programs.notes('speech')[0]);
    assert.ok(given.includes(recording.path), 'without ffmpeg it is given the recording itself');
    if (name === 'output') assert.equal(given[1], 'm-tiny.bin');
  }
});

test('a command that fails, or says too much, is told of without what it said', async (t) => {
  const programs = new FakePrograms(t);
  programs.add('speech', "process.stderr.write('secret path'); process.exit(Number(args[0]))");
  programs.add('loud', "for (;;) require('node:fs').writeSync(1, 'x'.repeat(65536))");
  const run = (command: string) =>
    openTranscription(settings(programs.path, { command }), null).transcribe(recordingOf(t), signal);
  await assert.rejects(run('speech 3'), {
    code: 'program_failed',
    permanent: false,
    message: 'the transcription command ended with 3',
  });
  await assert.rejects(run('loud'), {
    code: 'program_failed',
    message: 'the transcription command wrote more than 16777216 bytes',
  });
});

test('whoever leaves takes the program with him, and what it has started', async (t) => {
  const programs = new FakePrograms(t);
  programs.add(
    'speech',
    "const child = require('node:child_process').spawn('sleep', ['600']); note(String(child.pid)); note(String(process.pid)); setInterval(() => {}, 1000)",
  );
  programs.add('ffmpeg', fakeFfmpeg(10));
  const leaving = new AbortController();
  const path = `${programs.path}:${process.env.PATH}`;
  const run = openTranscription(settings(path, { command: 'speech' }), null).transcribe(recordingOf(t), leaving.signal);
  run.catch(() => {});
  await until(() => programs.notes('speech').length === 3, 'the program runs');
  leaving.abort(new Error('gone'));
  await assert.rejects(run, { message: 'gone' });
  for (const pid of programs.notes('speech').slice(1).map(Number)) {
    await until(() => !isAlive(pid), `process ${pid} ends`);
  }
});

test('long recordings are cut where it is quiet, each piece has its time, and whoever waits hears of it', async (t) => {
  const programs = new FakePrograms(t);
  programs.add('ffmpeg', fakeFfmpeg(700));
  programs.add(
    'speech',
    "const size = require('node:fs').statSync(args[0]).size; note(String(size)); process.stdout.write('[00:01.000 --> 00:02.000] piece ' + (size - 44) / 32000)",
  );
  const recording = recordingOf(t);
  const cues = await openTranscription(settings(programs.path, { command: 'speech {audio}' }), null).transcribe(
    recording,
    signal,
  );
  const starts = cues.map(({ startS }) => (startS ?? 0) - 1);
  assert.equal(cues.length, 3);
  assert.equal(recording.pieces(), 2);
  // Pieces of 300 s, each cut within its last 20 s in a second that is quiet.
  for (const at of starts.slice(1)) assert.equal(Math.floor(at) % 10, 5, `${at}`);
  assert.ok(starts[1] >= 280 && starts[1] < 300 && starts[2] - starts[1] >= 280, starts.join());
  const lengths = cues.map(({ text }) => Number(text.split(' ')[1]));
  assert.ok(Math.abs(lengths.reduce((sum, each) => sum + each, 0) - 700) < 0.01, 'nothing is left out or said twice');
  assert.deepEqual(readdirSync(recording.dir), ['recording']);
  const given = JSON.parse(programs.notes('ffmpeg')[0]) as string[];
  assert.equal(given[given.indexOf('-protocol_whitelist') + 1], 'file');
  assert.ok(given.includes('-format_whitelist'));
});

test('a piece that a decoder has rounded down is not the last one', async (t) => {
  const programs = new FakePrograms(t);
  programs.add(
    'ffmpeg',
    `${fakeFfmpeg(650).replace('process.stdout.write(Buffer.from(samples.buffer))', 'process.stdout.write(Buffer.from(samples.buffer).subarray(0, -200))')}`,
  );
  programs.add('speech', "process.stdout.write('[00:01.000 --> 00:02.000] words')");
  const cues = await openTranscription(settings(programs.path, { command: 'speech {audio}' }), null).transcribe(
    recordingOf(t),
    signal,
  );
  assert.equal(cues.length, 3);
});

test('what is no recording is said to be none', async (t) => {
  const programs = new FakePrograms(t);
  programs.add('ffmpeg', fakeFfmpeg(10));
  programs.add('speech', '');
  const transcription = openTranscription(settings(programs.path, { command: 'speech {audio}' }), null);
  await assert.rejects(transcription.transcribe(recordingOf(t, 'no sound'), signal), {
    code: 'unreadable',
    permanent: true,
    message: 'the recording is damaged or has an unsupported format',
  });
});

test('a cut is in the quietest tenth of a second near the end; a WAVE file says what it holds', () => {
  const samples = new Int16Array(16_000 * 60).fill(500);
  samples.fill(0, 16_000 * 10, 16_000 * 11); // too far from the end
  samples.fill(3, 16_000 * 45, 16_000 * 45.2);
  const bytes = Buffer.from(samples.buffer);
  const at = quietestCut(bytes) / 32_000;
  assert.ok(at > 45 && at < 45.2, `${at}`);
  assert.equal(quietestCut(Buffer.alloc(100)), 100);
  const file = waveFile(bytes.subarray(0, 64));
  assert.deepEqual(
    [file.toString('latin1', 0, 4), file.readUInt32LE(4), file.readUInt32LE(24), file.readUInt32LE(40), file.length],
    ['RIFF', 100, 16_000, 64, 108],
  );
});
